"""Groups of a collection for review tools: overlays keyed on the control number, a row for each current document."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO, cast

import pyarrow as pa
import pyarrow.compute as pc
from sqlalchemy import Connection

from nearkin.collection.collection import Collection
from nearkin.collection.listing.exceptions import ExceptionFilter, problems_of, stored_exceptions, textless_contents
from nearkin.collection.stored.documents import contents_of_current
from nearkin.collection.stored.origins import ids_in_families
from nearkin.errors import OutputExistsError, ParameterError, SourceError
from nearkin.formats.delimited import safe
from nearkin.nouns import agreeing, counted, first_of
from nearkin.paths import printable, why
from nearkin.runs.files import published, writing
from nearkin.stages.documents.finding import by_suffix
from nearkin.stages.documents.formats.load_file import NAME, LoadFile
from nearkin.stages.documents.head import head_of_stream
from nearkin.stages.documents.load_files.dialect import Dialect, names_in
from nearkin.stages.documents.load_files.vendors import VENDORS, OverlayRow, Vendor, outside_sentence
from nearkin.stages.documents.load_files.writing import Controls, LoadFileWriter, controls_of
from nearkin.stages.documents.members import SENT
from nearkin.stages.documents.source import Source
from nearkin.stages.documents.streams import ByteStream, StreamFault
from nearkin.wording import WarningMessage

KEY = "DOCID"
_SHOWN = 3
_DIALECTS = {
    ".dat": Dialect(has_mark=True),
    ".csv": Dialect(separator=",", qualifier='"', newline="", quotes_all=False),
}
"""Dialects of overlays in another format than the load files, or for documents without an existing load file."""


def check_overlay(out: Path | None, *, is_since: bool) -> None:
    """Refuse an overlay without a file for it.

    Raises
    ------
    ParameterError
    """
    if out is None or out.suffix.lower() not in _DIALECTS:
        raise ParameterError("--overlay needs --out FILE, a file that ends in .dat or .csv.")
    if is_since:
        raise ParameterError("--overlay writes the groups, and --since lists changes. Omit one of them.")


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenOverlay:
    """An overlay that was written.

    Parameters
    ----------
    path : Path
    dialect : Dialect
    key : str
        Name of the column with the control numbers.
    load_files : tuple of str
        Load files whose documents it has; none if it has documents of no such file.
    n_documents : int
    warning : str or None
        That groups are named after documents that are in no load file.
    without_control : tuple of str
        Load files with documents of which no control number is known, if it has these.
    missing_tables : tuple of str
        Missing CSV files that may have been load files, if it has documents of these.
    """

    path: Path
    dialect: Dialect
    key: str
    load_files: tuple[str, ...]
    n_documents: int
    warning: str | None = None
    without_control: tuple[str, ...] = ()
    missing_tables: tuple[str, ...] = ()

    def sentences(self) -> Iterator[str]:
        """Return the sentences about its documents, and warnings."""
        of_files = "that came from no load file"
        if self.load_files:
            of_files = f"of {first_of(self.load_files, _SHOWN)}"
        elif self.without_control:
            of_files = f"without a control number, such as those of {first_of(self.without_control, _SHOWN)}"
        elif self.missing_tables:
            of_files = f"without a known load file, such as those of {first_of(self.missing_tables, _SHOWN)}"
        rows = f"{counted(self.n_documents, 'row')}, for documents {of_files}"
        yield f"overlay {self.path}: {rows}; key {self.key}, {self.dialect.in_words()}"
        if self.warning is not None:
            yield self.warning

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON types."""
        words = {"path": str(self.path), "key": self.key, "load_files": list(self.load_files)}
        warning = {} if self.warning is None else {"warning": self.warning}
        return words | {"n_documents": self.n_documents, "dialect": self.dialect.in_words()} | warning


@dataclass(slots=True)
class _Keyed:
    """Documents of one overlay: those of load files with one dialect and one name of the control numbers."""

    dialect: Dialect
    key: str
    is_own: bool = False
    load_files: list[str] = field(default_factory=list)
    doc_ids: list[str] = field(default_factory=list)
    without_control: set[str] = field(default_factory=set)
    missing_tables: set[str] = field(default_factory=set)


def write_group_overlays(
    collection: Collection,
    members: pa.Table,
    vendor: Vendor,
    out: Path,
    *,
    overwrite: bool,
    left_out: Sequence[str] = (),
) -> list[WrittenOverlay]:
    """Write an overlay for each dialect and key of the load files that the documents came from, and say which.

    A load file must still exist, and counts if it has the id of the document as a control number. If no such file has
    the format that the name ``out`` asks for, there is one overlay for each key, in Nearkin's own dialect.

    Parameters
    ----------
    collection : Collection
    members : Table
        Of `CollectionGroups`.
    vendor : Vendor
    out : Path
        File of the first overlay; the others get its name with a number: ``out-2.dat``, ``out-3.csv``, ….
    overwrite : bool
        Whether files may be replaced, and former overlays removed.
    left_out : sequence of str
        Documents that get no row, because their groups are not known.

    Raises
    ------
    OutputError
        An id cannot be written in the dialect.
    SourceError
        A load file no longer exists, or cannot be opened. Nothing is written.
    OutputExistsError
        One of the other files exists, or one that an earlier call wrote and this one would not. Nothing is written.
    """
    with collection.opened.store.reading() as connection:
        texts = contents_of_current(connection)
        textless = textless_contents(connection, collection.opened.counting.normalise)
        unread = _unread(connection, texts)
        families = ids_in_families(connection)
    listed = collection.documents().table
    if left_out:
        listed = listed.filter(
            pc.invert(pc.is_in(listed["doc_id"], value_set=pa.array(left_out, listed["doc_id"].type)))
        )
    parts = _parts(listed, unread, families, out.suffix.lower())
    paths = [_numbered(out, number, one) for number, one in enumerate(parts, 1)]
    former = [path for path in _former(out) if path not in paths]
    if not overwrite and (there := [path for path in (*paths[1:], *former) if path.exists()]):
        raise OutputExistsError(f"{there[0]} already exists. Choose another --out, or add --overwrite to replace it.")
    rows = _rows(members, texts, textless) | dict.fromkeys(unread, OverlayRow(reason="unreadable"))
    for path, one in zip(paths, parts, strict=True):
        _write(path, one, vendor, rows)
    _remove(former)  # they have the numbers of documents that are written to fewer files now
    outside = {doc_id for one in parts if not one.load_files for doc_id in one.doc_ids}
    return [
        WrittenOverlay(
            path=path,
            dialect=one.dialect,
            key=one.key,
            load_files=tuple(one.load_files),
            n_documents=len(one.doc_ids),
            warning=_warning(one, rows, outside),
            without_control=tuple(sorted(one.without_control)),
            missing_tables=tuple(sorted(one.missing_tables)),
        )
        for path, one in zip(paths, parts, strict=True)
    ]


def _write(out: Path, part: _Keyed, vendor: Vendor, rows: Mapping[str, OverlayRow]) -> None:
    with published(out) as aside, open(aside, "wb") as file:
        writer = LoadFileWriter(file, part.dialect)
        writer.write([part.key, *vendor.fields])
        for doc_id in part.doc_ids:
            values = [doc_id, *vendor.values(rows.get(doc_id, OverlayRow(reason="unique")))]
            # a spreadsheet may open a CSV of ours; what came from a load file goes back as it came
            writer.write([safe(one) for one in values] if part.is_own and part.dialect.is_csv else values)


def _warning(part: _Keyed, rows: Mapping[str, OverlayRow], outside: set[str]) -> str | None:
    if part.missing_tables:
        return missing_tables_sentence(part.missing_tables)
    groups = (rows[doc_id].group for doc_id in part.doc_ids if doc_id in rows)
    found = Counter(group for group in groups if group in outside)
    return outside_sentence(first_of(part.load_files, _SHOWN), found) if part.load_files and found else None


def _unread(connection: Connection, current: Container[str]) -> dict[str, tuple[str, int]]:
    """Return the documents that could not be read, as `nearkin exceptions` lists them, with their source and line."""
    listed = stored_exceptions(connection, ExceptionFilter(which="no text")).exceptions
    without = {one.doc_id for one in listed if one.exception != "not stored"}
    places = {one.doc_id: (one.source, one.line) for one in problems_of(connection)}
    return {doc_id: place for doc_id, place in places.items() if doc_id in without and doc_id not in current}


def _numbered(out: Path, number: int, part: _Keyed) -> Path:
    """Return the file of an overlay, with the suffix of its format."""
    if number == 1:
        return out
    suffix = ".csv" if part.dialect.is_csv else ".dat"
    return out.with_name(f"{out.stem}-{number}{suffix}")


@contextmanager
def replacing_overlay(out: Path) -> Iterator[None]:
    """Remove the numbered overlays of an earlier overlay after the block has replaced that with another file."""
    former = _former(out) if _is_overlay(out) else []
    yield
    _remove(former)


def _remove(paths: Iterable[Path]) -> None:
    for path in paths:
        with writing(path):
            path.unlink(missing_ok=True)


def _former(out: Path) -> list[Path]:
    """Return the numbered overlays of an earlier call with the same ``out``, recognised by their names and fields."""
    name = re.compile(rf"{re.escape(out.stem)}-([2-9]|[1-9]\d+)\.(dat|csv)")
    siblings = sorted(out.parent.iterdir()) if out.parent.is_dir() else []
    return [path for path in siblings if name.fullmatch(path.name) and _is_overlay(path)]


def _is_overlay(path: Path) -> bool:
    """Whether a file has a control number and the fields of a review tool, and nothing else."""
    try:
        with open(path, "rb", buffering=0) as raw:
            names = names_in(head_of_stream(ByteStream(cast(BinaryIO, raw), "none")).data)
    except (OSError, StreamFault):
        return False
    return tuple(names[1:]) in {vendor.fields for vendor in VENDORS.values()}


def _parts(
    listed: pa.Table, unread: Mapping[str, tuple[str, int]], families: Container[str], suffix: str
) -> list[_Keyed]:
    """Divide the documents among overlays: that of the first load file with the suffix first, other files' last."""
    columns = (listed[name].to_pylist() for name in ("source", "line", "doc_id"))
    stored = [*zip(*columns, strict=True), *((*place, doc_id) for doc_id, place in unread.items())]
    records = dict.fromkeys(path for path, line, _ in stored if line >= FIRST_RECORD)
    again = load_files_again(records, {path for path, _, doc_id in stored if doc_id in families})
    controls = {path: one.controls for path, one in again.found.items()}
    is_own = not any(_is_in_format(path, suffix) for path in controls)
    if is_own:
        for one in controls.values():
            one.dialect = _DIALECTS[suffix]
    parts = dict[tuple[Dialect, str] | None, _Keyed]()
    for path in sorted(controls, key=lambda path: (not _is_in_format(path, suffix), path)):
        one = controls[path]
        parts.setdefault((one.dialect, one.column), _Keyed(one.dialect, one.column, is_own)).load_files.append(path)
    others = _Keyed(_DIALECTS[suffix], KEY, is_own=True)
    for path, _, doc_id in stored:
        if path in controls and doc_id in again.found[path].ids:
            one = controls[path]
            parts[one.dialect, one.column].doc_ids.append(doc_id)
        elif path not in controls or doc_id not in unread:  # of a damaged record the control number may be unknown
            others.doc_ids.append(doc_id)
            if path in controls or path in again.uncontrolled:
                others.without_control.add(path)
            elif path in again.missing_tables:
                others.missing_tables.add(path)
    filled = [part for part in parts.values() if part.doc_ids]
    return [*filled, others] if others.doc_ids or not filled else filled


def _is_in_format(path: str, suffix: str) -> bool:
    """Whether a load file, perhaps compressed, has a suffix."""
    return suffix in Path(path.lower()).suffixes[-2:]


def _rows(members: pa.Table, texts: Mapping[str, int], textless: Mapping[int, str]) -> dict[str, OverlayRow]:
    """Return the fields of each document that is in a group, has no text, or has the same text as another document."""
    principals: dict[int, str] = {}
    rows: dict[str, OverlayRow] = {}
    n_documents, copy_numbers = Counter(texts.values()), dict[int, int]()
    for text in texts.values():
        if n_documents[text] > 1 and text not in textless:
            copy_numbers.setdefault(text, len(copy_numbers) + 1)
    columns = ("group", "doc_id", "is_principal", "jaccard")
    for group, doc_id, is_principal, jaccard in zip(*(members[name].to_pylist() for name in columns), strict=True):
        principal = principals.setdefault(group, doc_id)
        reason = "exact copy" if texts[doc_id] == texts[principal] else "near-duplicate"
        rows[doc_id] = OverlayRow(
            group=principal,
            group_number=group,
            is_principal=is_principal,
            similarity=jaccard,
            copy_number=copy_numbers.get(texts[doc_id], 0),
            reason="unique" if is_principal else reason,
            measure="jaccard words:5",
        )
    seen = set[int]()
    for doc_id, text in texts.items():
        if text in textless:  # no copy of another one, and in a group only by decision
            rows[doc_id] = replace(rows.get(doc_id, OverlayRow()), reason=textless[text])
        elif doc_id not in rows and text in copy_numbers:
            rows[doc_id] = OverlayRow(copy_number=copy_numbers[text], reason="exact copy" if text in seen else "unique")
        seen.add(text)
    return rows


FIRST_RECORD = 2
"""Line of the first record that a load file can have: the header is above it."""
_SHOWN_RECORDS = 3


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
        f"{first_of([*map(printable, names)], _SHOWN_RECORDS)} {agreeing(n, 'is', 'are')} missing. If {was}, the rows "
        f"of {its} documents have neither {its} key nor {its} encoding and delimiters: {_restore(names)}"
    )


def _missing_load_files(paths: list[str]) -> SourceError:
    n, names = len(paths), first_of([*map(printable, paths)], _SHOWN_RECORDS)
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
