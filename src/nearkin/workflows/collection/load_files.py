"""Load files of the documents of a collection, found again: their control numbers and their dialects."""

from __future__ import annotations

import os
from collections.abc import Iterable, Set
from contextlib import suppress
from dataclasses import dataclass
from typing import BinaryIO, cast

from nearkin.errors import SourceError
from nearkin.nouns import agreeing, counted, first_of
from nearkin.paths import printable, why
from nearkin.stages.documents.finding import by_suffix
from nearkin.stages.documents.formats.load_file import NAME, LoadFile
from nearkin.stages.documents.head import head_of_stream
from nearkin.stages.documents.load_files.controls import Controls, controls_of
from nearkin.stages.documents.members import SENT
from nearkin.stages.documents.source import Source
from nearkin.stages.documents.streams import ByteStream, StreamFault
from nearkin.wording import WarningMessage

FIRST_RECORD = 2
"""Line of the first record that a load file can have: the header is above it."""
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class FoundLoadFile:
    """A load file that still exists, with its control numbers."""

    controls: Controls
    ids: frozenset[str]


@dataclass(frozen=True, slots=True)
class LoadFilesAgain:
    """Sources of documents, by what is known of them now.

    Parameters
    ----------
    found : dict
        Load files with control numbers, by their paths.
    uncontrolled : frozenset of str
        Load files without control numbers, and files at the place of a load file that are none now.
    missing_tables : frozenset of str
        CSV files that no longer exist, and may have been load files.
    """

    found: dict[str, FoundLoadFile]
    uncontrolled: frozenset[str]
    missing_tables: frozenset[str]


def load_files_again(sources: Iterable[str], of_families: Set[str]) -> LoadFilesAgain:
    """Read the control numbers of the load files among the sources of records.

    Parameters
    ----------
    sources : iterable of str
        Sources of documents at or after line `FIRST_RECORD`.
    of_families : set of str
        Those with families, which only load files have.

    Raises
    ------
    SourceError
        A load file no longer exists, or cannot be opened.
    """
    found, uncontrolled, missing, tables = dict[str, FoundLoadFile](), set[str](), list[str](), set[str]()
    for path in sources:
        if path.startswith(SENT):
            continue
        kind, _ = by_suffix(path)
        is_certain = kind == NAME or path in of_families
        if not os.path.isfile(path):
            if is_certain:
                missing.append(path)
            elif kind == "csv":
                tables.add(path)
            continue
        try:
            is_certain = is_certain or _is_load_file(path)
            again = _found(path) if is_certain else None
        except OSError as error:
            raise SourceError(
                f"{printable(path)}: {why(error)}. The overlay needs the control numbers of this load file."
            ) from error
        if again is not None:
            found[path] = again
        elif is_certain:
            uncontrolled.add(path)
    if missing:
        raise _missing_load_files(sorted(missing))
    return LoadFilesAgain(found, frozenset(uncontrolled), frozenset(tables))


def missing_tables_sentence(paths: Iterable[str]) -> WarningMessage:
    """Warn about CSV files that no longer exist, and may have been load files.

    Examples
    --------
    >>> missing_tables_sentence(["prod/a.csv"])[:90]
    'Warning: prod/a.csv is missing. If it was a load file, the rows of its documents have neit'
    """
    names = sorted(paths)
    n = len(names)
    was = agreeing(n, "it was a load file", "they were load files")
    its = agreeing(n, "its", "their")
    return WarningMessage(
        f"{first_of([*map(printable, names)], _SHOWN)} {agreeing(n, 'is', 'are')} missing. If {was}, the rows "
        f"of {its} documents have neither {its} key nor {its} encoding and delimiters: {_restore(names)}"
    )


def _missing_load_files(paths: list[str]) -> SourceError:
    n, names = len(paths), first_of([*map(printable, paths)], _SHOWN)
    subject = f"Load file {names} is missing" if n == 1 else f"{counted(n, 'load file')} are missing: {names}"
    its = agreeing(n, "its", "their")
    return SourceError(
        f"{subject}. The overlay needs {its} control numbers, encoding and delimiters: {_restore(paths)}"
    )


def _restore(paths: list[str]) -> str:
    it = agreeing(len(paths), "it", "them")
    if all(map(os.path.isabs, paths)):
        return f"restore {it}."
    was = agreeing(len(paths), "it was", "they were")
    relative = agreeing(len(paths), "the path is relative", "the paths are relative")
    return f"restore {it}, or run Nearkin in the directory in which {was} added ({relative})."


def _is_load_file(path: str) -> bool:
    """Whether a file has the header of a load file."""
    form, (_, compression) = LoadFile(), by_suffix(path)
    with open(path, "rb", buffering=0) as raw, suppress(StreamFault):
        head = head_of_stream(ByteStream(cast(BinaryIO, raw), compression), compression)
        return form.settled(head, None) == form.name
    return False


def _found(path: str) -> FoundLoadFile | None:
    """Return the control numbers of a load file; None if it has none."""
    _, compression = by_suffix(path)
    source = Source(path=path, name=path, format=NAME, compression=compression)
    with open(path, "rb", buffering=0) as raw, suppress(SourceError, StreamFault):
        controls = controls_of(cast(BinaryIO, raw), source, "utf-8")
        return FoundLoadFile(controls, frozenset(one for one in controls if one is not None))
    return None
