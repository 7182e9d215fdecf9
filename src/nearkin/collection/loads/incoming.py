"""Preparation of documents for storage: checked, counted, signed, indexed, compressed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlalchemy import Connection, select

from nearkin.collection.counting import TextCounting
from nearkin.collection.stored import word_tables
from nearkin.collection.stored.contents import PURGED, measured, unpacked
from nearkin.collection.stored.origins import OriginValues, of_plain_file, origins_in
from nearkin.formats import zstd
from nearkin.nouns import counted
from nearkin.records import DOCUMENTS_SCHEMA, U64, Bool
from nearkin.stages.documents.encodings import kind_of_plain
from nearkin.stages.documents.members import UNKNOWN_FILE, KnownFile
from nearkin.stages.documents.normalisation import AS_IT_CAME, ORIGIN, PARENT, prepare
from nearkin.store import schema
from nearkin.store.bulk import in_slices, is_name

CONTENT_COLUMNS = tuple(column.name for column in schema.contents.columns)[1:]
"""Row of a content, without its number."""


@dataclass(frozen=True, slots=True)
class KnownTexts:
    """Digests that the store has: of whole texts, of damaged ones, which count as absent, and of purged ones."""

    whole: set[bytes] = field(default_factory=set)
    damaged: set[bytes] = field(default_factory=set)
    purged: set[bytes] = field(default_factory=set)


Known = Callable[[Sequence[bytes]], KnownTexts]


def known_texts(connection: Connection, digests: Sequence[bytes]) -> KnownTexts:
    """Look up digests, and compare each with the text stored under it."""
    contents, known = schema.contents.c, KnownTexts()
    for block in in_slices(digests):
        for digest, text in connection.execute(
            select(contents.digest, contents.text).where(contents.digest.in_(block))
        ):
            is_whole = unpacked(text, digest)[0] is not None
            # no compressed text is empty: an erased one is, even if its purge is lost
            (known.purged if text == b"" else known.whole if is_whole else known.damaged).add(bytes(digest))
    return known


def numbers_of(connection: Connection, digests: Sequence[bytes]) -> dict[bytes, int]:
    """Return the contents with these digests, whether damaged or not."""
    contents, numbers = schema.contents.c, dict[bytes, int]()
    for block in in_slices(digests):
        rows = connection.execute(select(contents.digest, contents.content).where(contents.digest.in_(block)))
        numbers |= {bytes(digest): content for digest, content in rows}
    return numbers


_LEVEL = 3
_MAX_OF_AN_ID = 2_000  # bytes: PostgreSQL's indexes allow little more
_MAX_STORED = 900_000_000  # bytes: SQLite allows a billion, PostgreSQL 1 GiB


PlainFile = tuple[str, str, int]
"""Kind of a file that is read as text, the SHA-256 of its bytes in hexadecimal, and its size in bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """A batch of documents from a reader.

    Parameters
    ----------
    file_of
        Digests the file of a document without a text; None if its file is no plain text.
    """

    batch: pa.RecordBatch
    sources: pa.LargeStringArray
    name: str | None
    file_of: Callable[[int], PlainFile | None] = lambda _: None


def incoming_of(
    doc_ids: Sequence[str], texts: Sequence[str], lines: Sequence[int], source: str, file: KnownFile = UNKNOWN_FILE
) -> Incoming:
    """Make a batch of documents from one source."""
    n, origin = len(texts), file.origin
    columns: dict[str, Sequence[object]] = {
        "doc_id": doc_ids,
        "text": [text.encode("utf-8") for text in texts],
        "line": lines,
        PARENT: [file.parent] * n,
        ORIGIN: [None if origin is None else origin.as_row()] * n,
    }
    arrays = [pa.array(columns.get(column.name, [None] * n), column.type) for column in DOCUMENTS_SCHEMA]
    batch = pa.RecordBatch.from_arrays(arrays, schema=DOCUMENTS_SCHEMA)
    return Incoming(batch=batch, sources=pa.array([source] * n, pa.large_string()), name=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """The same documents, ready to be stored: columns of Python objects for a database's driver.

    Parameters
    ----------
    origins
        By the place of each document that was extracted, is inside of another, or is a plain text without a text.
    """

    doc_ids: list[str]
    sources: list[str]
    lines: list[int]
    problems: list[str | None]
    digests: list[bytes]
    contents: dict[bytes, tuple[Any, ...]]
    words: dict[bytes, list[str]]
    damaged: set[bytes]
    origins: dict[int, OriginValues] = field(default_factory=dict)
    blank: frozenset[int] = frozenset()
    are_unnamed: Bool | None = None

    def at(self, place: int) -> Examined:
        """Return one of the documents as a batch."""
        digest = self.digests[place]
        of_text = {digest} & self.contents.keys()
        return Examined(
            doc_ids=[self.doc_ids[place]],
            sources=[self.sources[place]],
            lines=[self.lines[place]],
            problems=[self.problems[place]],
            digests=[digest],
            contents={content: self.contents[content] for content in of_text},
            words={content: self.words[content] for content in of_text},
            damaged={digest} & self.damaged,
            origins={0: self.origins[place]} if place in self.origins else {},
            blank=frozenset({0} if place in self.blank else ()),
        )


def examine(incoming: Incoming, counting: TextCounting, known: Known, wave: str, dialect: str) -> Examined:
    """Check and digest the documents; count, sign, index and compress contents that are not stored yet."""
    prepared = prepare(incoming.batch, AS_IT_CAME, source_name=wave if incoming.name is None else incoming.name)
    doc_ids, digests = prepared["doc_id"].to_pylist(), prepared["digest"].to_pylist()
    problems = [problem or _bad_id(doc_id) for problem, doc_id in zip(prepared["problem"].to_pylist(), doc_ids)]
    firsts: dict[bytes, int] = {}
    for row, (digest, problem) in enumerate(zip(digests, problems)):
        if problem is None:
            firsts.setdefault(digest, row)
    stored = known(list(firsts))
    for digest in (*stored.whole, *stored.purged):
        del firsts[digest]
    if stored.purged:
        problems = [problem or (PURGED if key in stored.purged else None) for key, problem in zip(digests, problems)]
    unknown = prepared.take(pa.array(firsts.values(), pa.int64()))
    contents = _contents(unknown, counting)
    words = dict(zip(firsts, word_tables.prepared(unknown["text"].to_pylist(), dialect), strict=True))
    for digest, content in contents.items():
        if len(content[-1]) > _MAX_STORED:
            problems = [
                f"too long to be stored: {counted(len(content[-1]), 'byte')} when compressed"
                if key == digest
                else problem
                for key, problem in zip(digests, problems)
            ]
    sources, lines = incoming.sources.to_pylist(), prepared["line"].to_pylist()
    blank = _blank(prepared["text"])
    return Examined(
        doc_ids=doc_ids,
        sources=sources,
        lines=lines,
        problems=problems,
        digests=digests,
        contents=contents,
        words=words,
        damaged=stored.damaged,
        origins=_origins(prepared, doc_ids, problems) | _plain_files(incoming, doc_ids, problems, blank),
        blank=blank,
        are_unnamed=_unnamed(incoming),
    )


def _unnamed(incoming: Incoming) -> Bool | None:
    ids = incoming.batch["doc_id"]
    if incoming.name is not None or not ids.null_count:
        return None
    is_null: Bool = ids.is_null().to_numpy(zero_copy_only=False)
    return is_null


def _blank(texts: pa.LargeStringArray) -> frozenset[int]:
    is_one = pc.or_(pc.equal(pc.binary_length(texts), 0), pc.utf8_is_space(texts))
    return frozenset(pc.indices_nonzero(is_one).to_pylist())


def _origins(
    prepared: pa.RecordBatch, doc_ids: Sequence[str], problems: Sequence[str | None]
) -> dict[int, OriginValues]:
    return {
        place: origin for place, origin in origins_in(prepared).items() if _is_storable(doc_ids[place], problems[place])
    }


def _plain_files(
    incoming: Incoming, doc_ids: Sequence[str], problems: Sequence[str | None], blank: Set[int]
) -> dict[int, OriginValues]:
    by_place = {}
    for place in sorted(blank | {place for place, problem in enumerate(problems) if problem is not None}):
        is_extracted = incoming.batch[ORIGIN][place].is_valid
        if is_extracted or not _is_storable(doc_ids[place], problems[place]):
            continue
        if (file := incoming.file_of(place)) is not None:
            by_place[place] = of_plain_file(kind_of_plain(file[0], problems[place]), *file[1:])
    return by_place


def _is_storable(doc_id: str, problem: str | None) -> bool:
    return problem is None or (problem != PURGED and not _bad_id(doc_id))


def _contents(prepared: pa.RecordBatch, counting: TextCounting) -> dict[bytes, tuple[Any, ...]]:
    if not prepared.num_rows:
        return {}
    texts, digests = prepared["text"], prepared["digest"].to_pylist()
    packed = [zstd.compress(text, _LEVEL) for text in texts.view(pa.large_binary()).to_pylist()]
    columns = zip(digests, measured(texts, counting), packed, strict=True)
    return {digest: (digest, *row, text) for digest, row, text in columns}


def _bad_id(doc_id: str) -> str | None:
    if not is_name(doc_id):
        return "the id contains a control character"
    if len(doc_id) > _MAX_OF_AN_ID or len(doc_id.encode()) > _MAX_OF_AN_ID:
        return f"the id is longer than {_MAX_OF_AN_ID:,} bytes"
    return None


class SeenIds:
    """Ids seen in a load, in eight bytes each.

    Below one in a hundred thousand for ten million ids, two have one hash: the later then counts as a repeated id.

    Examples
    --------
    >>> seen = SeenIds()
    >>> seen.mark(["a", "b", "a"]).tolist(), seen.mark(["b", "c"]).tolist()
    ([False, False, True], [True, False])
    """

    def __init__(self) -> None:
        self._parts: list[U64] = []

    def mark(self, doc_ids: Sequence[str]) -> Bool:
        """Return whether each id occurred before, in this call or an earlier one."""
        if not doc_ids:
            return np.zeros(0, np.bool_)
        hashes = _hashes(doc_ids)
        is_seen = np.ones(len(hashes), np.bool_)
        distinct, firsts = np.unique(hashes, return_index=True)
        is_seen[firsts] = False
        is_seen |= self._are_in_parts(hashes)
        self._parts.append(distinct)
        while len(self._parts) > 1 and len(self._parts[-2]) < 2 * len(self._parts[-1]):  # few parts, each sorted
            last = self._parts.pop()
            self._parts[-1] = np.sort(np.concatenate([self._parts[-1], last]))
        return is_seen

    def has(self, doc_ids: Sequence[str]) -> Bool:
        """Return whether each id was marked."""
        return self._are_in_parts(_hashes(doc_ids))

    def _are_in_parts(self, hashes: U64) -> Bool:
        is_in = np.zeros(len(hashes), np.bool_)
        for part in self._parts:
            places = np.minimum(np.searchsorted(part, hashes), len(part) - 1)
            is_in |= part[places] == hashes
        return is_in


def _hashes(doc_ids: Sequence[str]) -> U64:
    joined = b"".join(hashlib.blake2b(doc_id.encode(), digest_size=8).digest() for doc_id in doc_ids)
    return np.frombuffer(joined, np.uint64)
