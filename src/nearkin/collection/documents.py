"""What the store has of documents, looked up."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import zstandard
from sqlalchemy import Connection, Select, func, select

from nearkin.collection.counting import Counting
from nearkin.collection.results import StoredDocument
from nearkin.errors import CollectionError, ParameterError, UnknownDocumentError
from nearkin.kernels.buffers import strings
from nearkin.nouns import counted
from nearkin.records import U8, U32
from nearkin.store.bulk import is_storable, named
from nearkin.store.schema import contents, documents, loads, waves

_NOT_STORED = -1
_MOST_OF_A_NAME = 200
_MOST_OF_A_HINT = 200


@dataclass(frozen=True, slots=True)
class Content:
    """A text and what was worked out of it.

    Parameters
    ----------
    number : int
        -1: it is not in the store.
    digest : bytes
        SHA-256.
    counts : uint32 array, shape (n_dimensions,)
    is_counted : bool
    signature : uint8 array, shape (n_bytes,), or None
    text : str
    """

    number: int
    digest: bytes
    counts: U32
    is_counted: bool
    signature: U8 | None
    text: str


def with_documents() -> Select[Any]:
    """A query for the columns of `StoredDocument`, for conditions to be added to."""
    columns = [
        documents.c.doc_id, documents.c.version, waves.c.name, documents.c.source, documents.c.line,
        contents.c.n_characters, contents.c.n_letters, contents.c.is_counted, documents.c.is_current,
        documents.c.content,
    ]  # fmt: skip
    joined = documents.join(contents, documents.c.content == contents.c.content)
    joined = joined.join(loads, documents.c.load == loads.c.load).join(waves, loads.c.wave == waves.c.wave)
    return select(*columns).select_from(joined)


def current_documents(connection: Connection, numbers: Sequence[int], limit: int) -> tuple[list[StoredDocument], int]:
    """The current documents that have these contents: the first ``limit``, in the order of the contents; and how many.

    Documents that share a content are in the order in which they came.
    """
    found: list[StoredDocument] = []
    n_found = 0
    for some in named(numbers):
        is_wanted = documents.c.content.in_(some) & documents.c.is_current
        if len(found) < limit:
            places = {number: place for place, number in enumerate(some)}
            rows = connection.execute(with_documents().where(is_wanted).order_by(documents.c.row)).all()
            records = sorted((StoredDocument(*row) for row in rows), key=lambda one: places[one.content])
            found += records[: limit - len(found)]
            n_found += len(records)
        else:
            n_found += connection.execute(select(func.count()).select_from(documents).where(is_wanted)).scalar_one()
    return found, n_found


def document(connection: Connection, doc_id: str, version: int | None = None) -> StoredDocument:
    """One document; its current version, or the one that is named.

    Raises
    ------
    UnknownDocumentError
        There is none; the message names ids that look like it.
    ParameterError
        The id is no str, or the version no int that a version can have.
    """
    check_id(doc_id)
    is_int = isinstance(version, int) and not isinstance(version, bool)
    if version is not None and not (is_int and 0 < version < 2**31):
        raise ParameterError.of("version", "Collection", "an int from 1 to 2**31 - 1", version)
    is_wanted = documents.c.doc_id == doc_id
    is_wanted &= documents.c.is_current if version is None else documents.c.version == version
    row = connection.execute(with_documents().where(is_wanted)).first() if is_storable(doc_id) else None
    if row is not None:
        return StoredDocument(*row)
    raise UnknownDocumentError(_unknown(connection, doc_id, version))


def check_id(doc_id: object) -> None:
    """Refuse what is no id, before a database makes something of it."""
    if not isinstance(doc_id, str):
        raise ParameterError.of("doc_id", "Collection", "a str; ids that came as numbers are their digits", doc_id)


def checked_wave(wave: object) -> str:
    """The name of a wave, without white space around it.

    Raises
    ------
    ParameterError
        It is no str, blank, too long, or nothing that a database can store.
    """
    if not isinstance(wave, str) or not wave.strip() or len(wave) > _MOST_OF_A_NAME or not is_storable(wave):
        rule = f"a name of 1 to {_MOST_OF_A_NAME} characters, not blank, that UTF-8 can hold"
        raise ParameterError.of("wave", "Collection", rule, wave)
    return wave.strip()


def _unknown(connection: Connection, doc_id: str, version: int | None) -> str:
    """Why a document is not there, and what may have been meant."""
    if not is_storable(doc_id):
        return f"There is no document {doc_id!r}."
    stored = connection.execute(
        select(documents.c.version, documents.c.removed_at)
        .where(documents.c.doc_id == doc_id)
        .order_by(documents.c.version)
    ).all()
    if stored and version is not None:
        return f"The document {doc_id!r} has no version {version}; it has {', '.join(str(row[0]) for row in stored)}."
    if stored:
        return f"The document {doc_id!r} was removed at {stored[-1][1]}. Its versions are kept: {len(stored)}."
    if len(doc_id) > _MOST_OF_A_HINT:
        return f"There is no document {doc_id[:_MOST_OF_A_HINT]!r}…, an id of {counted(len(doc_id), 'character')}."
    pattern = f"%{doc_id.replace(chr(92), chr(92) * 2).replace('%', chr(92) + '%').replace('_', chr(92) + '_')}%"
    is_like = documents.c.is_current & documents.c.doc_id.like(pattern, escape="\\")
    alike = connection.execute(select(documents.c.doc_id).where(is_like).limit(3)).scalars().all()
    hint = f" Did you mean {' or '.join(repr(one) for one in alike)}?" if alike else ""
    return f"There is no document {doc_id!r}.{hint}"


def contents_of(connection: Connection, numbers: Sequence[int]) -> dict[int, Content]:
    """Contents by their numbers, texts included."""
    found: dict[int, Content] = {}
    columns = (
        contents.c.content, contents.c.digest, contents.c.counts, contents.c.is_counted, contents.c.signature,
        contents.c.n_bytes, contents.c.text,
    )  # fmt: skip
    for some in named(numbers):
        for number, digest, counts, is_counted, signature, n_bytes, text in connection.execute(
            select(*columns).where(contents.c.content.in_(some))
        ):
            found[number] = Content(
                number,
                bytes(digest),
                np.frombuffer(counts, "<u4"),
                is_counted,
                None if signature is None else np.frombuffer(signature, np.uint8),
                _text_of_documents(connection, number, text, n_bytes, bytes(digest)),
            )
    return found


def content_of(connection: Connection, counting: Counting, text: str) -> Content:
    """A text that was given, counted and signed; with its number if the store has it.

    Raises
    ------
    ParameterError
    """
    if not isinstance(text, str):
        raise ParameterError.of("text", "similar", "a str", text)
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ParameterError.of("text", "similar", "text that UTF-8 can hold", text[error.start]) from error
    texts = strings([text])
    vectors, signed = counting.count(texts), counting.sign(texts)
    digest = hashlib.sha256(data).digest()
    number = connection.execute(select(contents.c.content).where(contents.c.digest == digest)).scalar()
    signature: U8 | None = signed.packed[0] if signed.has_features[0] else None
    own = _NOT_STORED if number is None else int(number)
    return Content(own, digest, vectors.counts[0], bool(vectors.is_counted[0]), signature, text)


def _text_of_documents(connection: Connection, number: int, stored: bytes, n_bytes: int, digest: bytes) -> str:
    """See `text_of`; the error names the documents."""
    try:
        return text_of(number, stored, n_bytes, digest)
    except CollectionError as error:
        has_it = documents.c.content == number
        names = connection.execute(select(documents.c.doc_id).where(has_it).limit(3)).scalars().all()
        raise CollectionError(f"{error} It is the text of {', '.join(map(repr, names))}.") from error


def text_of(number: int, stored: bytes, n_bytes: int, digest: bytes) -> str:
    """A text as it came.

    Raises
    ------
    CollectionError
        The store is damaged.
    """
    reason = "its SHA-256 is another"
    try:
        data = zstandard.ZstdDecompressor().decompress(stored, max_output_size=max(1, int(n_bytes)))
        if hashlib.sha256(data).digest() == digest:
            return data.decode("utf-8")
    except (zstandard.ZstdError, TypeError, ValueError, MemoryError) as error:
        reason = str(error)
    raise CollectionError(
        f"The text of content {number} is damaged in the store ({reason}). Run nearkin verify COLLECTION for all that "
        "is; put the store back from a copy."
    )
