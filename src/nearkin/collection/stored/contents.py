"""Stored texts, with their counts and signatures."""

from __future__ import annotations

import hashlib
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlalchemy import Connection, Select, exists, select

from nearkin.collection.counting import TextCounting
from nearkin.errors import CollectionError, ParameterError, UnknownDocumentError
from nearkin.formats import zstd
from nearkin.kernels.buffers import strings
from nearkin.kernels.text import N_BUCKETS, N_LATIN
from nearkin.records import I64, U8, U32
from nearkin.runs.progress import Progress
from nearkin.store import schema
from nearkin.store.bulk import among, in_slices
from nearkin.store.damage import damaged_collection
from nearkin.store.schema import contents, documents, purges

PURGED = "its text was purged"
"""Problem of a document with an erased text, which is not stored again."""
BLANK: dict[str, object] = {
    "n_bytes": 0,
    "n_characters": 0,
    "n_letters": 0,
    "n_other_letters": 0,
    "is_counted": False,
    "counts": b"",
    "signature": None,
    "similarity_index": None,
    "text": b"",
}
"""Columns of an erased content; its number and its digest stay, by which the other texts of its load are proven."""


def purged_contents(connection: Connection, numbers: Iterable[int] | None = None) -> dict[int, int]:
    """Return those contents that were erased, with the number of the activity."""
    if numbers is None:
        return dict(connection.execute(select(purges)).all())
    purged = dict[int, int]()
    for block in in_slices(list(numbers)):
        purged |= dict(connection.execute(select(purges).where(purges.c.content.in_(block))).all())
    return purged


def faults_of_purges(connection: Connection) -> list[str]:
    """Return the erased texts of which something is stored, or that a current document has."""
    is_blank = contents.c.text == b""
    is_held = exists().where(documents.c.content == contents.c.content, documents.c.is_current)
    query = select(contents.c.content, is_held.label("is_held")).select_from(contents.join(purges))
    return [
        f"text {content} was erased, but {'a current document has it' if is_held else 'something of it is stored'}"
        for content, is_held in connection.execute(query.where(~is_blank | is_held))
    ]


MEASURED = tuple(column.name for column in contents.columns)[2:-1]
"""Columns that are derived from the text."""


def measured(texts: pa.LargeStringArray, counting: TextCounting) -> list[tuple[Any, ...]]:
    """Compute the columns `MEASURED` for each text."""
    vectors, signed, indexed = counting.count(texts), counting.sign(texts), counting.index(texts)
    columns = [
        pc.binary_length(texts).to_pylist(),
        pc.utf8_length(texts).to_pylist(),
        vectors.n_counted.tolist(),
        vectors.n_others.tolist(),
        vectors.is_counted.tolist(),
        [np.trim_zeros(row, "b").tobytes() for row in np.ascontiguousarray(vectors.counts, "<u4")],
        [row.tobytes() if has else None for row, has in zip(signed.packed, signed.has_features)],
        [index if has else None for index, has in zip(indexed.values.tolist(), indexed.has_value)],
    ]
    return list(zip(*columns, strict=True))


_INDEXES = select(contents.c.content, contents.c.similarity_index).where(among(contents.c.content))


def similarity_indexes(connection: Connection, numbers: Sequence[int]) -> dict[int, int | None]:
    """Return the similarity indexes of stored contents, by number."""
    rows = (row for block in in_slices(numbers) for row in connection.execute(_INDEXES, {"values": block}))
    return {row.content: row.similarity_index for row in rows}


_NOT_STORED = -1
_BYTES_OF_COUNTS = 4 * (N_LATIN + N_BUCKETS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """A text with its counts, signature and SHA-256; number -1: not in the store."""

    number: int
    digest: bytes
    counts: U32
    is_counted: bool
    signature: U8 | None
    text: str


_TEXTS = select(contents.c.content, contents.c.text, contents.c.digest).where(among(contents.c.content))
_CONTENTS = _TEXTS.add_columns(contents.c.counts, contents.c.is_counted, contents.c.signature)


def contents_of(connection: Connection, numbers: Sequence[int]) -> dict[int, Content]:
    """Return contents by number; CollectionError if one is damaged or missing."""
    return {row.content: _content(row, text) for row, text in _with_texts(connection, _CONTENTS, numbers)}


def stored_text(connection: Connection, number: int) -> str:
    """Return a text; see `texts_of`."""
    return texts_of(connection, [number])[number]


def texts_of(connection: Connection, numbers: Sequence[int]) -> dict[int, str]:
    """Return texts by number, even if their counts are damaged; CollectionError if one is itself."""
    return {row.content: text for row, text in _with_texts(connection, _TEXTS, numbers)}


def _with_texts(connection: Connection, query: Select[Any], numbers: Sequence[int]) -> Iterator[tuple[Any, str]]:
    stored = set[int]()
    for block in in_slices(numbers):
        for row in connection.execute(query, {"values": block}):
            text, reason = unpacked(row.text, row.digest)
            if text is None:
                raise _damaged_text_of(connection, row.content, reason)
            stored.add(row.content)
            yield row, text
    if missing := [number for number in numbers if number not in stored]:
        raise damaged_collection(f"the stored text number {missing[0]} is missing")


def _damaged_text_of(connection: Connection, number: int, reason: str) -> CollectionError:
    has_it = documents.c.content == number
    names = connection.execute(select(documents.c.doc_id).where(has_it).limit(3)).scalars().all()
    if activity := purged_contents(connection, [number]).get(number):
        return UnknownDocumentError(f"The text of {', '.join(map(repr, names))} was purged (activity {activity}).")
    return CollectionError(_damaged(f"{', '.join(map(repr, names))}: the stored text", reason))


def _content(row: Any, text: str) -> Content:
    signature = None if row.signature is None else np.frombuffer(row.signature, np.uint8)
    counts = np.frombuffer(row.counts.ljust(_BYTES_OF_COUNTS, b"\0"), "<u4")
    return Content(
        number=row.content, digest=row.digest, counts=counts, is_counted=row.is_counted, signature=signature, text=text
    )


def digest_of_text(text: object) -> bytes:
    """Return the SHA-256 of a given text."""
    if not isinstance(text, str):
        raise ParameterError.of("text", "a str", text)
    try:
        return hashlib.sha256(text.encode("utf-8")).digest()
    except UnicodeEncodeError as error:
        raise ParameterError.of("text", "text that can be encoded as UTF-8", text[error.start]) from error


def content_of(connection: Connection, counting: TextCounting, text: str) -> Content:
    """Count and sign a given text; the result has its number if it is stored."""
    digest, texts = digest_of_text(text), strings([text])
    vectors, signed = counting.count(texts), counting.sign(texts)
    number = connection.execute(select(contents.c.content).where(contents.c.digest == digest)).scalar()
    signature: U8 | None = signed.packed[0] if signed.has_features[0] else None
    content = _NOT_STORED if number is None else int(number)
    return Content(
        number=content,
        digest=digest,
        counts=np.pad(vectors.counts[0], (0, N_LATIN + N_BUCKETS - len(vectors.counts[0]))),
        is_counted=bool(vectors.is_counted[0]),
        signature=signature,
        text=text,
    )


def text_of(number: int, stored: Any, digest: object) -> str:
    """Return a text unchanged; CollectionError if it is damaged."""
    text, reason = unpacked(stored, digest)
    if text is None:
        raise CollectionError(_damaged(f"The stored text number {number}", reason))
    return text


def unpacked(stored: Any, digest: object) -> tuple[str | None, str]:
    """Return a text; or None, and the reason why it cannot be read."""
    try:
        data = zstd.decompress(stored)
        if hashlib.sha256(data).digest() == digest:
            return data.decode("utf-8"), ""
    except (zstd.ZstdError, TypeError, ValueError, MemoryError):
        return None, "it cannot be unpacked"
    return None, "its SHA-256 does not match"


def _damaged(text: str, reason: str) -> str:
    return (
        f"{text} is damaged ({reason}). Run nearkin fsck COLLECTION to list all damage. Add the document again to "
        "repair its text, or restore the database from a backup."
    )


_TEXT_BYTES_AT_A_TIME, _TEXTS_AT_A_TIME = 1 << 23, 1 << 12


def texts_from(
    connection: Connection, first: int, progress: Progress, end: int = 2**63 - 1, *, stage: str = "keys"
) -> Iterator[tuple[I64, list[str], list[int]]]:
    """Yield the contents from a number on with their texts, in lots that fit in memory, and the damaged ones."""
    contents = schema.contents.c
    is_wanted = (contents.content >= first) & (contents.content < end)
    sizes = connection.execute(
        select(contents.content, contents.n_bytes).where(is_wanted).order_by(contents.content)
    ).all()
    if not sizes:
        return
    progress.start(stage, len(sizes), "documents")
    erased, start = purged_contents(connection), 0
    try:
        while start < len(sizes):
            stop, n_bytes = start, 0
            while stop < len(sizes) and stop - start < _TEXTS_AT_A_TIME and n_bytes < _TEXT_BYTES_AT_A_TIME:
                n_bytes += sizes[stop].n_bytes
                stop += 1
            yield _texts_between(connection, sizes[start].content, sizes[stop - 1].content, erased)
            progress.advance(stop - start)
            start = stop
    finally:
        progress.finish()


def _texts_between(
    connection: Connection, first: int, last: int, erased: Container[int]
) -> tuple[I64, list[str], list[int]]:
    contents = schema.contents.c
    columns = contents.content, contents.text, contents.digest
    query = select(*columns).where(contents.content.between(first, last)).order_by(contents.content)
    numbers, texts, lost = list[int](), list[str](), list[int]()
    for content, stored, digest in connection.execute(query):
        if content in erased:
            continue
        try:
            texts.append(text_of(content, stored, digest))
            numbers.append(content)
        except CollectionError:  # reported by nearkin fsck, and by any query that shows the text
            lost.append(content)
    return np.array(numbers, np.int64), texts, lost
