"""Origins that a load writes, and texts of other extractors, which it keeps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import Connection, select

from nearkin.collection.stored.origins import (
    IS_PLAIN_FILE,
    IS_UNREAD,
    NAMES,
    OriginValues,
    forget_rows,
    own_values,
    remove_unread,
    with_origins,
)
from nearkin.stages.documents.extraction.kinds import is_ocr
from nearkin.store.bulk import in_slices, insert_rows, is_storable, number_after_last
from nearkin.store.schema import origins

_PARENT, _SHA256, _EXTRACTOR, _EXCEPTION, _IS_PARTIAL = (
    NAMES.index(name) for name in ("parent", "sha256", "extractor", "exception", "is_partial")
)


@dataclass(slots=True)
class ExtractionFigures:
    """Counts of the documents of a load that were extracted from files, and of its exceptions."""

    n_no_text: int = 0
    n_partial: int = 0
    n_extracted: int = 0
    n_members: int = 0
    n_in_part: int = 0
    n_not_read: int = 0
    n_other_extractor: int = 0
    n_by_ocr: int = 0


@dataclass(frozen=True, slots=True)
class _StoredOrigin:
    """A stored origin; ``number`` is None until it is written."""

    number: int | None
    values: OriginValues


@dataclass(frozen=True, slots=True)
class _UnreadFile:
    """A file without a text; ``number`` is None until its row is written."""

    number: int | None
    sha256: str | None
    exception: str | None


@dataclass(slots=True, kw_only=True)
class LoadOrigins:
    """Origins of the documents of a load.

    Attributes
    ----------
    connection : Connection
    load : int
    added_at : str
        When the load began.
    re_extract : bool
        Whether texts and origins of other extractors are replaced.
    n_written : int
        Number of origins that were stored.
    """

    connection: Connection
    load: int
    added_at: str
    re_extract: bool = False
    figures: ExtractionFigures = field(default_factory=ExtractionFigures)
    n_written: int = 0
    _known: dict[int, _StoredOrigin] = field(default_factory=dict)
    _unread: dict[str, _UnreadFile] = field(default_factory=dict)
    _plain: dict[str, str | None] = field(default_factory=dict)
    _new: list[tuple[Any, ...]] = field(default_factory=list)
    _replaced: list[_StoredOrigin] = field(default_factory=list)
    _read_since: list[int] = field(default_factory=list)

    def copy(self) -> LoadOrigins:
        """Copy the state; see `Load.copy`."""
        return replace(
            self,
            figures=replace(self.figures),
            _known=dict(self._known),
            _unread=dict(self._unread),
            _plain=dict(self._plain),
            _new=list(self._new),
            _replaced=list(self._replaced),
            _read_since=list(self._read_since),
        )

    def look_up(self, rows: Sequence[int], doc_ids: Iterable[str]) -> None:
        """Look up what is stored: origins of the current versions of documents, and of ids that gave no text."""
        self._known, self._unread, self._plain = {}, {}, {}
        for some in in_slices(rows):
            for row in self.connection.execute(with_origins().where(origins.c.row.in_(some))):
                self._known[row.row] = _StoredOrigin(row.number, own_values(row))
        columns = origins.c.doc_id, origins.c.number, origins.c.sha256, origins.c.exception
        for some in in_slices(sorted({one for one in doc_ids if is_storable(one)})):
            rows_of_ids = self.connection.execute(select(*columns).where(IS_UNREAD & origins.c.doc_id.in_(some)))
            self._unread |= {doc_id: _UnreadFile(*rest) for doc_id, *rest in rows_of_ids}
            is_plain = IS_PLAIN_FILE & origins.c.row.is_(None) & origins.c.doc_id.in_(some)
            plain = select(origins.c.doc_id, origins.c.sha256).where(is_plain).order_by(origins.c.number)
            self._plain |= dict(self.connection.execute(plain).all())

    def values_of(self, row: int) -> OriginValues | None:
        """Return the origin of the version in a row that was looked up."""
        known = self._known.get(row)
        return None if known is None else known.values

    def is_of_same_file(self, row: int, origin: OriginValues) -> bool:
        """Whether the version in a row was made of the same bytes by another extractor."""
        known = self._known.get(row)
        if known is None or origin[_SHA256] is None:
            return False
        own, other = known.values, origin
        if own[_EXTRACTOR] is None:
            return False
        return bool(own[_SHA256] == other[_SHA256] and own[_EXTRACTOR] != other[_EXTRACTOR])

    def take(self, row: int, doc_id: str, origin: OriginValues) -> None:
        """Store the origin of a new version."""
        self._new.append((row, doc_id, *origin))
        self._known[row] = _StoredOrigin(None, origin)

    def complete(self, row: int, doc_id: str, origin: OriginValues) -> None:
        """Store the origin of an unchanged text that has none; replace it if that was asked for."""
        known = self._known.get(row)
        if known is None:
            self.take(row, doc_id, origin)
        elif known.number is not None and known.values != origin and self._is_newer(known, origin):
            self._replaced.append(known)
            self.take(row, doc_id, origin)

    def _is_newer(self, known: _StoredOrigin, origin: OriginValues) -> bool:
        """Whether an origin of the same text replaces the stored one: that of other bytes always does."""
        return self.re_extract or known.values[_SHA256] != origin[_SHA256]

    def take_unread(self, doc_id: str, origin: OriginValues, row: int | None) -> bool:
        """Store the origin of a document without a text, unless it is known; ``row``: of the current version.

        Return whether the document is now listed as an exception of this load.
        """
        known = None if row is None else self._known.get(row)
        now = _UnreadFile(None, origin[_SHA256], origin[_EXCEPTION])
        if origin[_EXTRACTOR] is None:
            self.take_plain(doc_id, origin)
            return False
        if now.exception is None or self._is_unread_already(doc_id, now):
            return False
        if known is not None and known.values[_SHA256] == origin[_SHA256]:
            return False  # the same bytes gave a text before
        self._close(doc_id)
        self._unread[doc_id] = now
        self._new.append((None, doc_id, *origin))
        return True

    def take_plain(self, doc_id: str, origin: OriginValues) -> None:
        """Store what is known of a file that was read as text, unless it is stored: its problem is stored apart."""
        if origin[_SHA256] is not None and self._plain.get(doc_id) != origin[_SHA256]:
            self._plain[doc_id] = origin[_SHA256]
            self._new.append((None, doc_id, *origin))

    def _is_unread_already(self, doc_id: str, now: _UnreadFile) -> bool:
        was = self._unread.get(doc_id)
        return was is not None and (was.sha256, was.exception) == (now.sha256, now.exception)

    def _close(self, doc_id: str) -> None:
        """End what was said of an earlier file with this id that gave no text."""
        was = self._unread.pop(doc_id, None)
        if was is not None and was.number is not None:
            self._read_since.append(was.number)
        elif was is not None:
            self._new = [row for row in self._new if row[:2] != (None, doc_id)]

    def count(self, doc_ids: Set[str], origin: OriginValues, *, is_read: bool) -> None:
        """Count a document; one that is read now is no exception any more, under any of its ids."""
        for doc_id in doc_ids if is_read else ():
            self._close(doc_id)
        if origin[_EXTRACTOR] is None:
            return
        self.figures.n_extracted += 1
        self.figures.n_members += origin[_PARENT] is not None
        self.figures.n_not_read += not is_read
        self.figures.n_in_part += is_read and bool(origin[_IS_PARTIAL])
        self.figures.n_by_ocr += is_read and is_ocr(str(origin[_EXTRACTOR]))

    def count_exception(self, origin: OriginValues | None, *, has_text: bool) -> None:
        """Count a document as `listing.exceptions` lists it."""
        self.figures.n_no_text += not has_text
        self.figures.n_partial += has_text and origin is not None and origin[_EXCEPTION] is not None

    def uncount_exception(self, origin: OriginValues | None, *, has_text: bool) -> None:
        """Take back what `count_exception` counted of a document that is not stored after all."""
        self.figures.n_no_text -= not has_text
        self.figures.n_partial -= has_text and origin is not None and origin[_EXCEPTION] is not None

    def write(self) -> None:
        """Write what was taken, after the documents."""
        if self._replaced:
            forget_rows(self.connection, [one.number for one in self._replaced if one.number is not None])
            self._replaced = []
        for some in in_slices(self._read_since):
            self.n_written += remove_unread(self.connection, origins.c.number.in_(some), self.added_at)
        self._read_since = []
        if not self._new:
            return
        first = number_after_last(self.connection, origins.c.number)
        rows = [(first + i, self.load, *one, None) for i, one in enumerate(self._new)]
        insert_rows(self.connection, origins, list(zip(*rows, strict=True)))
        self.n_written += len(rows)
        self._new = []
