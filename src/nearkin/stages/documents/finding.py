"""Files that the arguments of a command name, and what is not read among them."""

from __future__ import annotations

import glob
import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from nearkin.errors import SourceError
from nearkin.nouns import counted, first_of
from nearkin.paths import STDIN, check_input, printable
from nearkin.stages.documents.formats import FORMAT_OF_SUFFIX, is_of_documents, table_begun_by
from nearkin.stages.documents.rules import StreamFault
from nearkin.stages.documents.source import Note, NotRead
from nearkin.stages.documents.streams import COMPRESSION_OF_SUFFIX, MAGIC_BYTES, ByteStream, Compression, compression_of
from nearkin.wording import WarningMessage

_FIRST_BYTES = 1 << 14
_SHOWN, _LISTED = 3, 20
_MARKS = re.compile(
    r"_SUCCESS|_FAILURE|_(committed|started|temporary|metadata|common_metadata)([._-].*)?|.*\.crc", re.DOTALL
)
"""Files that programs write beside any output, including texts; never documents."""
_COMPANY = re.compile(
    r"(readme|licen[cs]e|copying|notice|changelog|contributing|citation|code_of_conduct|authors)([._-].*)?"
    r"|.*\.(cff|dvc|sig|asc|sha1|sha256|sha512|md5|sha256sum|md5sum|png|jpe?g|gif|svg|webp|ico)"
    r"|(md5|sha1|sha256|sha512)sums?(\.txt)?|checksums?(\.txt)?|requirements(-.*)?\.txt|makefile|dockerfile"
    r"|dataset_infos?\.json|dataset_dict\.json|croissant\.json|datapackage\.json|dataset-metadata\.json"
    r"|state\.json|(cache-|indices|tmp).*\.arrow",
    re.IGNORECASE | re.DOTALL,
)
"""Files that describe tables, or that contain no text."""
_FEW_BESIDE_TABLES = re.compile(r".*\.(md|rst|py|ipynb|sh|toml|ya?ml|ini|cfg|lock|bib)", re.IGNORECASE | re.DOTALL)
"""Cards, scripts and settings, skipped if they are few; in large numbers they are documents themselves."""
_FEW = 3
_SHARD = re.compile(r"part[.-](r-|m-)?\d+.*|\d{6}_\d+", re.DOTALL)
_DELTA_LOG = "_delta_log"
_NO_DOCUMENTS, _OWN = "files that are not documents", "results of Nearkin"
HIDDEN, LINKS, SPECIAL = (
    "hidden files and folders", "links to folders, out of the folder or to missing files",
    "named pipes, sockets or devices",
)  # fmt: skip


class FoundFile(NamedTuple):
    """A file before its format is known; ``format`` is set if the place where it was found determines it."""

    path: str
    name: str
    format: str | None = None


def identity(path: str) -> str:
    """Return a string that is equal for two names of one file."""
    return path if path == STDIN else os.path.realpath(path)


def find(
    arguments: Sequence[str], file_format: str | None, notes: list[Note], without: Path | None = None
) -> Iterator[FoundFile]:
    """Yield the files that arguments name, without those of ``without`` inside a folder.

    Parameters
    ----------
    file_format
        Format that the user named, for all files. A format of whole documents, such as "file", accepts every file.
    """
    for argument in arguments:
        check_input(argument)
        if argument == STDIN:
            yield FoundFile(STDIN, STDIN)
        elif os.path.isdir(argument):
            yield from _in_folder(argument, file_format, notes, without)
        elif os.path.lexists(argument) or not glob.has_magic(argument):
            yield FoundFile(argument, argument)
        else:
            yield from _by_pattern(argument, file_format, notes, without)


def _by_pattern(pattern: str, file_format: str | None, notes: list[Note], without: Path | None) -> Iterator[FoundFile]:
    matches = sorted(glob.iglob(pattern, recursive=True))
    # results that the pattern names are kept: a user who writes clean/*.parquet wants to read them
    root = os.path.dirname(pattern[: min(pattern.find(sign) for sign in "*?[" if sign in pattern)])
    is_own = cache(_is_own)
    result_of = {match: _own_above(match, root, is_own) for match in matches}
    notes += _not_read(_OWN, sorted({folder for folder in result_of.values() if folder is not None}), pattern)
    matches = [match for match in matches if result_of[match] is None]
    files = [match for match in matches if not os.path.isdir(match)]
    # "corpus/*" matching only folders means their contents; if it matches files too, "**" would list all twice
    if not files:
        for match in matches:
            yield from _in_folder(match, file_format, notes, without)
    if not matches:
        brackets = " If a name contains [, escape it as [[]." if "[" in pattern else ""
        raise SourceError(
            f"{pattern}: no file matches. Check the pattern, and quote it if the shell changes it.{brackets}"
        )
    if not is_of_documents(file_format):
        named = set(Path(pattern).parts)
        rest = [
            path for path in files if not any(_MARKS.fullmatch(part) for part in Path(path).parts if part not in named)
        ]
        company = _company(rest, {path for path in rest if _is_table(path)})
        kept = [path for path in rest if path not in company]
        notes += _not_read(_NO_DOCUMENTS, sorted({*files} - {*kept}), pattern)
        files = kept
    for match in files:
        yield FoundFile(match, match)


def _in_folder(folder: str, file_format: str | None, notes: list[Note], without: Path | None) -> Iterator[FoundFile]:
    paths = _walk(folder, without, notes)
    if is_of_documents(file_format):
        for path in paths:
            yield FoundFile(path, _below(path, folder), file_format)
        return
    rest = [path for path in paths if not any(map(_MARKS.fullmatch, Path(_below(path, folder)).parts))]
    by_name = {path for path in rest if _is_table(path)}
    tables = {*rest} if file_format is not None else by_name
    if tables:
        _refuse_delta(folder, rest)
        company = _company(rest, tables, by_name=by_name if file_format is not None else tables)
        tables -= company
        if {*rest} - tables - company:
            notes.append(
                f"{folder}: {counted(len(tables), 'table')} beside other files ({_named(folder, sorted(tables))}): "
                "every file is read as one document. To read the records of a table, name it on its own"
            )
            tables = set()
    read = sorted(tables) or rest
    if not read:
        raise SourceError(f"{folder}: the folder holds no documents, only marker files: {_named(folder, paths)}.")
    notes += _not_read(_NO_DOCUMENTS, sorted({*paths} - {*read}), folder)
    for path in read:
        if tables:
            yield FoundFile(path, path)
        else:
            named = file_format or by_suffix(path)[0]
            yield FoundFile(path, _below(path, folder), named if is_of_documents(named) else "file")


def _below(path: str, folder: str) -> str:
    return Path(os.path.relpath(path, folder)).as_posix()


def _is_table(path: str) -> bool:
    named = by_suffix(path)[0]
    if named is not None:
        return not is_of_documents(named) and named != "load-file"  # a .dat file may be anything
    if _SHARD.fullmatch(os.path.basename(path)) is None:
        return False
    try:
        with open(path, "rb", buffering=0) as raw:
            compression = compression_of(raw.read(MAGIC_BYTES))
            raw.seek(0)
            first = ByteStream(raw, compression).read(_FIRST_BYTES)
    except (OSError, StreamFault):
        return False  # reported when it is read
    return table_begun_by(first) is not None or first.lstrip().startswith(b'{"')


def by_suffix(path: str) -> tuple[str | None, Compression]:
    """Return the format and the compression implied by a file's name."""
    stem, suffix = os.path.splitext(path.lower())
    compression = COMPRESSION_OF_SUFFIX.get(suffix, "none")
    if compression != "none":
        suffix = os.path.splitext(stem)[1]
    return FORMAT_OF_SUFFIX.get(suffix), compression


def _company(paths: Sequence[str], tables: set[str], by_name: set[str] | None = None) -> set[str]:
    """Return the files that only accompany tables, if any table is left."""
    company, few = set[str](), set[str]()
    for path in paths:
        name, is_table = os.path.basename(path), path in (tables if by_name is None else by_name)
        if _COMPANY.fullmatch(name) or (name.startswith("_") and not is_table):
            company.add(path)
        elif path not in tables and _FEW_BESIDE_TABLES.fullmatch(name):
            few.add(path)
    n_tables = len(tables - company)
    company |= few if len(few) <= max(_FEW, n_tables) else set()
    return company if n_tables else set()


def _walk(folder: str, without: Path | None, notes: list[Note]) -> list[str]:
    def refuse(error: OSError) -> None:
        raise SourceError(f"Cannot read the folder {error.filename}: {error.strerror}.") from error

    place = None if without is None else os.path.realpath(without)
    paths = list[str]()
    not_read: dict[str, list[str]] = {reason: [] for reason in (_OWN, HIDDEN, LINKS, SPECIAL)}
    inside = identity(folder).rstrip(os.sep) + os.sep
    for where, folders, files in os.walk(folder, onerror=refuse):
        not_read[HIDDEN] += [os.path.join(where, name) for name in (*folders, *files) if name.startswith(".")]
        for name in [*folders]:
            path = os.path.join(where, name)
            is_passed = place is not None and os.path.realpath(path) == place
            if is_passed and not name.startswith("."):
                notes.append(f"{path}: not read; the results of this command go there")
            if name.startswith(".") or is_passed:
                folders.remove(name)
            elif os.path.islink(path):
                not_read[LINKS].append(path)
            elif _is_own(path):
                not_read[_OWN].append(path)
                folders.remove(name)
        for path in (os.path.join(where, name) for name in files if not name.startswith(".")):
            if os.path.islink(path) and not (os.path.exists(path) and identity(path).startswith(inside)):
                not_read[LINKS].append(path)
            else:
                (paths if os.path.isfile(path) else not_read[SPECIAL]).append(path)
    for reason, places in not_read.items():
        notes += _not_read(reason, sorted(places), folder)
    if not paths:
        unread = [f"{reason} ({len(places):,})" for reason, places in not_read.items() if places]
        but = f", but {', '.join(unread)}, which are not read" if unread else ""
        raise SourceError(f"{folder}: the folder holds no files{but}.")
    return sorted(paths)


def _not_read(reason: str, paths: Sequence[str], place: str) -> Iterator[Note]:
    if paths:
        message = WarningMessage if reason in (LINKS, SPECIAL) else str
        names = _named(place if os.path.isdir(place) else ".", paths)
        yield message(f"{place}: not read: {reason} ({len(paths):,}): {names}")
        first = tuple(map(printable, paths[:_LISTED]))
        yield NotRead(place=printable(place), reason=reason, n=len(paths), paths=first)


def _named(folder: str, paths: Sequence[str]) -> str:
    return first_of([_below(path, folder) for path in paths[:_SHOWN]], _SHOWN, len(paths))


def _refuse_delta(folder: str, paths: Sequence[str]) -> None:
    for path in paths:
        table, log, _ = f"/{_below(path, folder)}".partition(f"/{_DELTA_LOG}/")
        if log:
            table = folder + table
            raise SourceError(
                f"{table} is a Delta Lake table, and some of its files may belong to older versions. Write its current "
                f"version as Parquet first, or read every file with '{os.path.join(table, '*.parquet')}'."
            )


def _is_manifest(path: str) -> bool:
    if not os.path.isfile(path):  # reading a pipe would block
        return False
    try:
        with open(path, encoding="utf-8") as file:
            stored = json.load(file)
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(stored, dict) and "nearkin" in stored


def _is_own(folder: str) -> bool:
    if any(
        os.path.exists(os.path.join(folder, name)) for name in ("nearkin.sqlite", os.path.join(".work", "run.json"))
    ):
        return True
    return any(_is_manifest(os.path.join(folder, name)) for name in ("manifest.json", "summary.json"))


def _own_above(path: str, root: str, is_own: Callable[[str], bool]) -> str | None:
    parts = Path(os.path.relpath(path, root or ".")).parts
    above = (os.path.join(root, *parts[:n]) for n in range(1, len(parts) + 1))
    return next((folder for folder in above if os.path.isdir(folder) and is_own(folder)), None)
