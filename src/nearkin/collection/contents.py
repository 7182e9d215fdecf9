"""Texts as the store has them, and what was worked out of them."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import zstandard
from sqlalchemy import Connection, select

from nearkin.collection.counting import SIGNATURE, TextCounting
from nearkin.collection.documents import VERIFY
from nearkin.errors import CollectionError, ParameterError
from nearkin.kernels.buffers import strings
from nearkin.nouns import counted
from nearkin.records import U8, U32
from nearkin.store.bulk import named
from nearkin.store.schema import contents, documents

_NOT_STORED = -1
_MAX_OF_A_BYTE = 1 << 17
"""Bytes that one byte of Zstandard can stand for: a block of 128 KiB takes three or more."""


class _OfThread(threading.local):
    """A decompressor serves one thread; making one takes longer than it takes to unpack a page of text."""

    def __init__(self) -> None:
        self.decompressor = zstandard.ZstdDecompressor()


_OWN = _OfThread()


@dataclass(frozen=True, slots=True, kw_only=True)
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


@dataclass(frozen=True, slots=True)
class DamagedText:
    """A content whose stored text is not what its digest says.

    Parameters
    ----------
    number : int
    digests : tuple of bytes
        The one that is stored, and that of the bytes that are stored, if they can be unpacked: one of the two is
        damaged.
    reason : str
    """

    number: int
    digests: tuple[bytes, ...]
    reason: str


def contents_of(connection: Connection, numbers: Sequence[int]) -> dict[int, Content]:
    """Contents by their numbers, texts included.

    Raises
    ------
    CollectionError
        One of them is damaged, or missing.
    """
    found, damaged = whole_contents_of(connection, numbers)
    if damaged:
        raise _damaged_text_of(connection, damaged[0].number, damaged[0].reason)
    return found


def stored_text(connection: Connection, number: int) -> str:
    """One text, whatever became of what was worked out of it.

    Raises
    ------
    CollectionError
        It is damaged, or missing.
    """
    is_it = contents.c.content == number
    row = connection.execute(select(contents.c.text, contents.c.digest).where(is_it)).first()
    if row is None:
        raise _missing(number)
    text, reason = _text(row.text, row.digest)
    if text is None:
        raise _damaged_text_of(connection, number, _damaged(number, reason))
    return text


def _damaged_text_of(connection: Connection, number: int, reason: str) -> CollectionError:
    has_it = documents.c.content == number
    names = connection.execute(select(documents.c.doc_id).where(has_it).limit(3)).scalars().all()
    return CollectionError(f"{reason} It is the text of {', '.join(map(repr, names))}.")


def _missing(number: int) -> CollectionError:
    return CollectionError(f"The text of content {number} is missing from the store. {VERIFY}")


def whole_contents_of(connection: Connection, numbers: Sequence[int]) -> tuple[dict[int, Content], list[DamagedText]]:
    """Contents by their numbers, and apart from these the ones whose text is damaged.

    Raises
    ------
    CollectionError
        One of them is missing, or what was counted in its text is damaged.
    """
    found, damaged = dict[int, Content](), list[DamagedText]()
    columns = (
        contents.c.content, contents.c.digest, contents.c.counts, contents.c.is_counted, contents.c.signature,
        contents.c.n_letters, contents.c.text,
    )  # fmt: skip
    for some in named(numbers):
        for row in connection.execute(select(*columns).where(contents.c.content.in_(some))):
            text, reason = _text(row.text, row.digest)
            if text is not None:
                found[row.content] = _content(row, text)
                continue
            digests = tuple(one for one in (row.digest, digest_of(row.text)) if isinstance(one, bytes))
            damaged.append(DamagedText(row.content, digests, _damaged(row.content, reason)))
    known = {one.number for one in damaged} | found.keys()
    missing = [number for number in numbers if number not in known]
    if missing:
        raise _missing(missing[0])
    return found, damaged


def _content(row: Any, text: str) -> Content:
    if not _are_vectors(row.counts, row.n_letters, row.signature):
        raise CollectionError(f"The letter counts or the signature of content {row.content} are damaged. {VERIFY}")
    signature = None if row.signature is None else np.frombuffer(row.signature, np.uint8)
    counts = np.frombuffer(row.counts, "<u4")
    return Content(
        number=row.content, digest=row.digest, counts=counts, is_counted=row.is_counted, signature=signature, text=text
    )


def _are_vectors(counts: object, n_letters: object, signature: object) -> bool:
    """SQLite stores anything in any column; every letter that is counted is in one of the counts."""
    if not isinstance(counts, bytes) or not counts or len(counts) % 4:
        return False
    if int(np.frombuffer(counts, "<u4").sum(dtype=np.uint64)) != n_letters:
        return False
    return signature is None or (isinstance(signature, bytes) and 8 * len(signature) == SIGNATURE.bits)


def content_of(connection: Connection, counting: TextCounting, text: str) -> Content:
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
    return Content(
        number=own,
        digest=digest,
        counts=vectors.counts[0],
        is_counted=bool(vectors.is_counted[0]),
        signature=signature,
        text=text,
    )


def text_of(number: int, stored: object, digest: object) -> str:
    """A text as it came.

    Raises
    ------
    CollectionError
        The store is damaged.
    """
    text, reason = _text(stored, digest)
    if text is None:
        raise CollectionError(_damaged(number, reason))
    return text


def _text(stored: object, digest: object) -> tuple[str | None, str]:
    """A text; or None, and why it cannot be read."""
    try:
        data = _unpacked(stored)
        if hashlib.sha256(data).digest() == digest:
            return data.decode("utf-8"), ""
    except (zstandard.ZstdError, TypeError, ValueError, MemoryError) as error:
        return None, str(error)
    return None, "its SHA-256 is another"


def _damaged(number: int, reason: str) -> str:
    return (
        f"The text of content {number} is damaged in the store ({reason}). Run nearkin verify COLLECTION for all that "
        "is. Add the document again to repair its text, or restore the database from a backup."
    )


def digest_of(stored: object) -> bytes | None:
    """The SHA-256 of a text as it is stored now; None if it cannot be unpacked."""
    try:
        return hashlib.sha256(_unpacked(stored)).digest()
    except (zstandard.ZstdError, TypeError, ValueError, MemoryError):
        return None


def _unpacked(stored: Any) -> bytes:
    """The bytes of a text; how many there are is said in the frame itself."""
    size = zstandard.frame_content_size(stored)
    if size > _MAX_OF_A_BYTE * len(stored) + _MAX_OF_A_BYTE:
        reason = f"{counted(size, 'byte')} cannot have been packed into {len(stored):,}"
        raise zstandard.ZstdError(reason)  # before memory is taken for them
    return _OWN.decompressor.decompress(stored)
