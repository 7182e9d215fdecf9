"""Names of files in results: the path of a file that shares its name with another."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from nearkin.paths import STDIN, shown_path
from nearkin.stages.documents.formats import is_of_documents
from nearkin.stages.documents.source import Source

if TYPE_CHECKING:
    from nearkin.manifests.stored import InputFile


def is_loose(source: Source | InputFile) -> bool:
    """Whether a source is a file of documents, which is named by its path below a given folder."""
    return is_of_documents(source.format) and source.path != STDIN


def with_places(sources: Sequence[Source]) -> list[Source]:
    """Return the sources; those that share a name have their path as ``place``."""
    return [
        source if place == source.name else replace(source, place=place)
        for source, place in zip(sources, _places(sources), strict=True)
    ]


def places_of_files(files: Sequence[InputFile]) -> list[str]:
    """Return the place of each file of a manifest, as `with_places` gave it."""
    return _places(files)


def distinct_places(names: Sequence[str], paths: Sequence[str]) -> list[str]:
    """Return the names, but the paths of files that share a name, or whose name is the path of another file.

    Examples
    --------
    >>> distinct_places(["a.txt", "b.txt", "a.txt"], ["x/a.txt", "x/b.txt", "y/a.txt"])
    ['x/a.txt', 'b.txt', 'y/a.txt']
    >>> distinct_places(["y/a.txt", "a.txt"], ["x/y/a.txt", "y/a.txt"])
    ['x/y/a.txt', 'a.txt']
    """
    places, here = list(names), os.path.join(os.getcwd(), "")
    opened = [_from_here(path, here) for path in paths]
    n_opened = Counter(opened)
    for i, (name, path) in enumerate(zip(names, paths, strict=True)):
        if name == path:
            continue
        meant = _from_here(name, here)
        if n_opened[meant] > (meant == opened[i]):
            places[i] = path
    while True:
        n_called = Counter(places)
        shared = [i for i, place in enumerate(places) if n_called[place] > 1 and place != paths[i]]
        if not shared:
            return places
        for i in shared:
            places[i] = paths[i]


def _from_here(path: str, here: str) -> str:
    """Return a path in the one form that all paths of a file have: below the working directory, or absolute."""
    return os.path.normpath(os.path.join(here, path)).removeprefix(here)


def _places(files: Sequence[Source | InputFile]) -> list[str]:
    names = [one.name or one.path for one in files]
    paths = [
        name if not is_loose(one) else shown_path(one.path) if isinstance(one, Source) else one.path
        for one, name in zip(files, names, strict=True)
    ]
    return distinct_places(names, paths)
