"""Files of one command that share a name, such as two files ``mail/1.txt`` of two folders: so they share an id."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from nearkin.paths import printable
from nearkin.workflows.reading.places import is_loose
from nearkin.workflows.reading.texts import Texts


@dataclass(frozen=True, slots=True)
class SharedNames:
    """Files that share a name with another file.

    Parameters
    ----------
    paths : mapping of int to str
        Path of each, below ``folder``, by the number of the source. So it is the same in whatever way it was given.
    folder : str or None
        Folder above all of them, relative if they were given so; None if no folder gives them different names.
    """

    paths: Mapping[int, str] = field(default_factory=dict)
    folder: str | None = None


def files_with_shared_names(texts: Texts) -> SharedNames:
    """Find the files whose name, as ids have it, is also that of another file."""
    loose = [number for number, source in enumerate(texts.sources) if is_loose(source)]
    names = texts.names
    n_called = Counter(names[number] for number in loose)
    given = {number: texts.sources[number].path for number in loose if n_called[names[number]] > 1}
    if not given:
        return SharedNames()
    full = {number: os.path.abspath(path) for number, path in given.items()}
    above = os.path.commonpath([os.path.dirname(path) for path in full.values()])
    paths = {number: printable(os.path.relpath(path, above)) for number, path in full.items()}
    if len({(names[number], path) for number, path in paths.items()}) < len(paths):
        return SharedNames(paths)  # names that differ only in bytes
    if above == os.path.dirname(above):
        return SharedNames(paths)  # nobody adds all files of a machine
    is_relative = not any(os.path.isabs(path) for path in given.values())
    return SharedNames(paths, printable(os.path.relpath(above) if is_relative else above))
