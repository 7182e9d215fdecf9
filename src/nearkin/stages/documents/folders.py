"""Classification of a folder's files: tables, texts, or files that only accompany tables.

Tables are accompanied by other files: Spark and Hive write markers and checksums beside them, a checkout from Hugging
Face has a card and a licence, `datasets.save_to_disk` describes its Arrow files in JSON. Such files are skipped by
name, and listed. Only a folder of nothing but tables is a folder of tables; in any other each file is a document.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from nearkin.errors import SourceError
from nearkin.nouns import counted, first_of
from nearkin.stages.documents.faults import RecordFault, StreamFault
from nearkin.stages.documents.foreign import is_image_list
from nearkin.stages.documents.formats import FORMAT_OF_SUFFIX, is_of_documents
from nearkin.stages.documents.readers.load_file import TextFolder, folded_file_name, has_texts, is_load_file, paths_in
from nearkin.stages.documents.source import Note, NotRead
from nearkin.wording import WarningMessage

_MARKS = re.compile(
    r"_SUCCESS|_FAILURE|_(committed|started|temporary|metadata|common_metadata)([._-].*)?|.*\.crc", re.DOTALL
)
"""Files that programs write beside any output, including texts; never documents."""
_COMPANY = re.compile(
    r"(readme|licen[cs]e|copying|notice|changelog|contributing|citation|code_of_conduct|authors)([._-].*)?"
    r"|.*\.(cff|dvc|sig|asc|sha1|sha256|sha512|md5|sha256sum|md5sum|png|jpe?g|gif|svg|webp|ico)"
    r"|(md5|sha1|sha256|sha512)sums?(\.txt)?|checksums?(\.txt)?|requirements(-.*)?\.txt|makefile|dockerfile"
    r"|dataset_infos?\.json|dataset_dict\.json|croissant\.json|datapackage\.json|dataset-metadata\.json",
    re.IGNORECASE | re.DOTALL,
)
"""Files that describe tables, or that contain no text."""
_FEW_BESIDE_TABLES = re.compile(r".*\.(md|rst|py|ipynb|sh|toml|ya?ml|ini|cfg|lock|bib)", re.IGNORECASE | re.DOTALL)
"""Cards, scripts and settings, skipped if they are few; in large numbers they are documents themselves."""
_FEW = 3
_CACHES = re.compile(r"cache-.*\.arrow|indices(-.*)?\.arrow|tmp.*\.arrow", re.DOTALL)
_STATE = "state.json"
_SHARD = re.compile(r"part[.-](r-|m-)?\d+.*|\d{6}_\d+", re.DOTALL)
_DELTA_LOG = "_delta_log"
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class FolderFiles:
    """The files of a folder to read, and notes about the others.

    Parameters
    ----------
    paths : tuple of str
    are_tables : bool
        Whether each has a format of its own; otherwise each is one text.
    notes : tuple of Note
    load_files : tuple of str
        Load files, which are read beside the others; the files that they name are in none of the two.
    """

    paths: tuple[str, ...]
    are_tables: bool
    notes: tuple[Note, ...]
    load_files: tuple[str, ...] = ()


def files_of(
    folder: str, file_format: str | None, is_table: Callable[[str], bool], without: Path | None = None
) -> FolderFiles:
    """Return the files below a folder that are documents, or contain some.

    Parameters
    ----------
    folder : str
    file_format : str or None
        Format that the user named, for all files. A format of whole documents, such as "file", accepts every file.
    is_table : callable
        Whether a file has the name of a table, or is a shard of one.
    without : Path, optional
        A folder inside to skip, because its contents will be replaced.

    Raises
    ------
    SourceError
        There are no documents; or the folder is unreadable, or a Delta table.
    """
    found = _walk(folder, without)
    notes = list[Note](_said_of_hidden(folder, found))
    if not found.paths:
        but = ", and results of Nearkin in it are not read" if found.own else ""
        links = len(found.not_read[OUTSIDE]) + len(found.not_read[LINKED])
        but += f"; {counted(links, 'link')} out of it or to folders not followed" if links else ""
        raise SourceError(f"{folder}: the folder holds no files (hidden ones are not read{but}).")
    if file_format == "document":
        load_files, others, said = listed_files(folder, found.paths, takes_textless=True)
        if load_files:
            return FolderFiles(tuple(others), False, (*notes, *said), load_files)
    if is_of_documents(file_format):
        return FolderFiles(tuple(found.paths), False, tuple(notes))
    load_files, others = (), found.paths
    if file_format in (None, "load-file"):
        load_files, others, said = listed_files(folder, found.paths)
        notes += said
        if load_files and (file_format is not None or not others):
            return FolderFiles((), False, tuple(notes), load_files)
    rest = [path for path in others if not _is_in_marks(path, folder)]
    tables = rest if file_format is not None else [path for path in rest if is_table(path)]
    if tables:
        _refuse_delta(folder, rest)
        company = _company(rest, tables, is_forced=file_format is not None)
        tables = [path for path in tables if path not in company]
        if {*rest} - {*tables} - company:
            notes.append(
                f"{folder}: {counted(len(tables), 'table')} beside other files ({_named(folder, tables)}): every file "
                "is read as one document. To read the records of a table, name it on its own"
            )
            tables = []
    read = tables or rest
    if not read and not load_files:
        raise SourceError(f"{folder}: the folder holds no documents, only marker files: {_named(folder, found.paths)}.")
    notes += left_out(folder, sorted({*others} - {*read}))
    return FolderFiles(tuple(read), bool(tables), tuple(notes), load_files)


def without_company(pattern: str, paths: Sequence[str], is_table: Callable[[str], bool]) -> tuple[list[str], list[str]]:
    """Return the files that a pattern matches, and those of them that only accompany tables."""
    named = set(Path(pattern).parts)
    rest = [path for path in paths if not any(is_mark(part) for part in Path(path).parts if part not in named)]
    tables = [path for path in rest if is_table(path)]
    read = {*rest} - (_company(rest, tables, is_forced=False) if tables else set())
    return [path for path in paths if path in read], [path for path in paths if path not in read]


def is_mark(path: str) -> bool:
    """Whether a file is a marker or a checksum that a program wrote beside its output.

    Examples
    --------
    >>> [is_mark(name) for name in ("out/_SUCCESS", "out/.part-0.parquet.crc", "out/part-0.parquet")]
    [True, True, False]
    """
    return _MARKS.fullmatch(os.path.basename(path)) is not None


def _company(paths: Sequence[str], tables: Sequence[str], *, is_forced: bool) -> set[str]:
    """Return the files that only accompany tables; none if no table would be left."""
    is_arrow = {os.path.dirname(path) for path in paths if path.endswith(".arrow")}
    known = {os.path.dirname(path) for path in paths if os.path.basename(path) == _STATE} & is_arrow
    named_as_tables = set(tables) if not is_forced else set()
    company, few = set(), set()
    for path in paths:
        name = os.path.basename(path)
        is_of_data_set = os.path.dirname(path) in known and (name == _STATE or _CACHES.fullmatch(name))
        if _COMPANY.fullmatch(name) or is_of_data_set or (name.startswith("_") and path not in named_as_tables):
            company.add(path)
        elif path not in named_as_tables and not is_forced and _is_of_few(name):
            few.add(path)
    if len(few) <= max(_FEW, len({*tables} - company)):
        company |= few
    return company if {*tables} - company else set()


def _is_of_few(name: str) -> bool:
    """Whether a few files with such a name accompany tables; one that has a format of its own is a document."""
    has_format = os.path.splitext(name.lower())[1] in FORMAT_OF_SUFFIX
    return not has_format and _FEW_BESIDE_TABLES.fullmatch(name) is not None


def is_shard(path: str) -> bool:
    """Whether a file without an informative suffix is named like the parts of tables of Spark, Hadoop and Hive.

    Examples
    --------
    >>> [is_shard(name) for name in ("out/part-00000", "t/000000_0", "notes/part one.txt")]
    [True, True, False]
    """
    return _SHARD.fullmatch(os.path.basename(path)) is not None


HIDDEN, DANGLING, OUTSIDE, LINKED, SPECIAL = (
    "hidden files and folders", "links to missing files", "links out of the folder", "links to folders",
    "named pipes, sockets or devices",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Inside:
    """The regular files below a folder, sorted; folders with results of Nearkin; what is not read, by its reason.

    ``passed`` is the skipped folder, if it exists.
    """

    paths: list[str]
    own: list[str]
    not_read: Mapping[str, list[str]]
    passed: str | None


def _walk(folder: str, without: Path | None) -> _Inside:
    """List the files below a folder.

    Links to folders are not followed, which excludes cycles; nor are those that lead out of the folder, which may come
    from somebody else.
    """

    def refuse(error: OSError) -> None:
        raise SourceError(f"Cannot read the folder {error.filename}: {error.strerror}.") from error

    place = None if without is None else os.path.realpath(without)
    paths, own, passed = list[str](), list[str](), None
    not_read: dict[str, list[str]] = {reason: [] for reason in (HIDDEN, DANGLING, OUTSIDE, LINKED, SPECIAL)}
    inside = os.path.realpath(folder)
    for where, folders, files in os.walk(folder, onerror=refuse):
        not_read[HIDDEN] += [os.path.join(where, name) for name in (*folders, *files) if name.startswith(".")]
        for name in [*folders]:
            path = os.path.join(where, name)
            is_passed = place is not None and os.path.realpath(path) == place
            passed = path if is_passed and not name.startswith(".") else passed
            if name.startswith(".") or is_passed:
                folders.remove(name)
            elif os.path.islink(path):
                not_read[LINKED].append(path)
            elif is_own(path):
                own.append(path)
                folders.remove(name)
        for path in (os.path.join(where, name) for name in files if not name.startswith(".")):
            if os.path.islink(path) and not _leads_inside(path, inside):
                not_read[OUTSIDE].append(path)
            elif os.path.isfile(path):
                paths.append(path)
            else:
                not_read[DANGLING if os.path.islink(path) and not os.path.exists(path) else SPECIAL].append(path)
    return _Inside(sorted(paths), own, {reason: sorted(some) for reason, some in not_read.items()}, passed)


def _leads_inside(path: str, folder: str) -> bool:
    """Whether a link leads to a file below a folder, or nowhere."""
    target = os.path.realpath(path)
    return target.startswith(folder.rstrip(os.sep) + os.sep) or not os.path.exists(target)


def _said_of_hidden(folder: str, found: _Inside) -> Iterable[Note]:
    if found.passed is not None:
        yield f"{found.passed}: not read; the results of this command go there"
    if found.own:
        yield said_of_own(folder, found.own)
    for reason, paths in found.not_read.items():
        if paths:
            yield _not_read(folder, reason, paths, str if reason == HIDDEN else WarningMessage)


def _not_read(folder: str, reason: str, paths: Sequence[str], message: Callable[[str], str]) -> NotRead:
    sentence = message(f"{folder}: not read: {reason} ({len(paths):,}): {_named(folder, paths)}")
    return NotRead(place=folder, reason=reason, paths=tuple(paths), sentence=sentence)


def _is_in_marks(path: str, folder: str) -> bool:
    """Whether a file is a marker, or lies in a folder of markers such as ``_temporary``."""
    return any(map(is_mark, Path(os.path.relpath(path, folder)).parts))


def _refuse_delta(folder: str, paths: Sequence[str]) -> None:
    for path in paths:
        parts = Path(os.path.relpath(path, folder)).parts
        if _DELTA_LOG in parts[:-1]:
            table = os.path.join(folder, *parts[: parts.index(_DELTA_LOG)])
            raise SourceError(
                f"{table} is a Delta Lake table, and some of its files may belong to older versions. Write its current "
                f"version as Parquet first, or read every file with '{os.path.join(table, '*.parquet')}'."
            )


def left_out(place: str, paths: Sequence[str]) -> tuple[NotRead, ...]:
    """Return the skipped files of a folder or pattern, if any."""
    if not paths:
        return ()
    what = counted(len(paths), "file that is not a document", "files that are not documents")
    folder = place if os.path.isdir(place) else "."
    sentence = f"{place}: skipped {what}: {_named(folder, paths)}"
    return (NotRead(place=place, reason="files that are not documents", paths=tuple(paths), sentence=sentence),)


def _named(folder: str, paths: Sequence[str]) -> str:
    """Return the first of some files, relative to the folder, and the number of the rest."""
    names = [Path(os.path.relpath(path, folder)).as_posix() for path in paths[:_SHOWN]]
    return first_of(names, _SHOWN, len(paths))


_COLLECTION = "nearkin.sqlite"
_MANIFESTS = ("manifest.json", "summary.json")
_UNFINISHED = os.path.join(".work", "run.json")


def is_own(folder: str) -> bool:
    """Whether a folder contains results of Nearkin, an unfinished run, or a collection."""
    if any(os.path.exists(os.path.join(folder, name)) for name in (_COLLECTION, _UNFINISHED)):
        return True
    return any(_is_manifest(os.path.join(folder, name)) for name in _MANIFESTS)


def _is_manifest(path: str) -> bool:
    """Whether a file is the manifest of a command of Nearkin."""
    if not os.path.isfile(path):  # reading a pipe would block
        return False
    try:
        with open(path, encoding="utf-8") as file:
            told = json.load(file)
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(told, dict) and "nearkin" in told


def without_own(pattern: str, paths: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the matches of a pattern that are not in folders of results, and these folders.

    Results that the pattern names explicitly are kept: a user who writes ``clean/*.parquet`` wants to read them.
    """
    named = pattern[: min((pattern.find(sign) for sign in "*?[" if sign in pattern), default=len(pattern))]
    root = os.path.dirname(named)
    known: dict[str, str | None] = {root: None}

    def own(folder: str) -> str | None:
        """Return the folder of results that contains a folder, or is it."""
        if folder not in known:
            parent = os.path.dirname(folder)
            above = own(parent) if parent != folder else None
            known[folder] = above or (folder if is_own(folder) else None)
        return known[folder]

    kept = [
        path for path in paths if own(path.rstrip(os.sep) if os.path.isdir(path) else os.path.dirname(path)) is None
    ]
    return kept, sorted({folder for folder in known.values() if folder is not None})


def said_of_own(where: str, folders: Iterable[str]) -> NotRead:
    """Return the folders as what is not read."""
    paths = sorted(folders)
    sentence = f"{where}: skipped results of Nearkin: {first_of(paths, _SHOWN)}. Name them explicitly to read them"
    return NotRead(place=where, reason="results of Nearkin", paths=tuple(paths), sentence=sentence)


_SUFFIXES = (".dat", ".csv")
_IMAGE_SUFFIXES = (".opt", ".lfp", ".log")
_FIRST_BYTES = 1 << 14
_MAX_NAME = 1_024


def listed_files(
    folder: str, paths: Sequence[str], *, takes_textless: bool = False
) -> tuple[tuple[str, ...], list[str], list[Note]]:
    """Return the load files, the files that are neither one nor named by one, and notes; no lists of images.

    Load files without a column of texts are skipped, or with ``takes_textless`` are other files.
    """
    images = image_lists(paths)
    found = [path for path in paths if path.lower().endswith(_SUFFIXES) and is_load_file(path)]
    loads = tuple(path for path in found if has_texts(path))
    textless = [path for path in found if path not in loads and not takes_textless]
    without = {*images, *textless}
    rest = [path for path in paths if path not in without]
    notes = list[Note](said_of_image_lists(folder, images))
    if textless:
        what = counted(len(textless), "load file without a column of texts", "load files without a column of texts")
        notes.append(
            NotRead(
                place=folder, reason="load files without a column of texts", paths=tuple(textless),
                sentence=f"{folder}: skipped {what}: {_names(folder, textless)}",
            )
        )  # fmt: skip
    if loads:
        named = {key for path in loads for key in _named_by(path, folder)}
        own = {*loads}
        kept = [one for one in rest if one not in own and _key(os.path.relpath(one, folder).split(os.sep)) not in named]
        n_named = len(rest) - len(loads) - len(kept)
        if n_named:
            belong = counted(n_named, "file belongs", "files belong")
            again = "is not read again as a file" if n_named == 1 else "are not read again as files"
            notes.append(f"{folder}: {belong} to records of {_names(folder, loads)}, and {again}")
        rest = kept
    return loads, [one for one in rest if one not in loads], notes


def image_lists(paths: Sequence[str]) -> list[str]:
    """Return the files that list images: Opticon and LFP."""
    return [path for path in paths if path.lower().endswith(_IMAGE_SUFFIXES) and _is_image_list(path)]


def said_of_image_lists(place: str, paths: Sequence[str]) -> Iterator[NotRead]:
    """Yield the skipped lists of images, if any."""
    if paths:
        what = counted(len(paths), "list of images (Opticon or LFP)", "lists of images (Opticon or LFP)")
        sentence = f"{place}: skipped {what}, which hold no text: {_names(place, paths)}"
        yield NotRead(
            place=place, reason="lists of images (Opticon or LFP)", paths=tuple(sorted(paths)), sentence=sentence
        )


def _is_image_list(path: str) -> bool:
    if not os.path.isfile(path):  # reading a pipe would block
        return False
    with suppress(OSError), open(path, "rb") as file:
        return is_image_list(file.read(_FIRST_BYTES))
    return False


def _named_by(path: str, folder: str) -> Iterator[str]:
    """Yield a key of each file in a folder that a load file names as a text or an original."""
    beside = os.path.dirname(os.path.abspath(path))
    texts, from_folder = TextFolder(folder, beside), os.path.relpath(beside, os.path.abspath(folder))
    above = [] if from_folder == os.curdir else from_folder.split(os.sep)
    with suppress(StreamFault):
        for named in paths_in(path):
            if named.strip() and len(named) <= _MAX_NAME:
                with suppress(RecordFault):
                    parts = texts.parts(named)
                    yield _key(parts)
                    yield _key([*above, *parts])


def _key(parts: Sequence[str]) -> str:
    return "/".join(map(folded_file_name, parts))


def _names(folder: str, paths: Sequence[str]) -> str:
    names = [os.path.relpath(path, folder) if os.path.isdir(folder) else path for path in paths[:_SHOWN]]
    return first_of(names, _SHOWN, len(paths))
