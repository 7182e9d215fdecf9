"""Spool → facts about every document, and the identical texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from nearkin.errors import SourceError
from nearkin.kernels.buffers import text_buffers
from nearkin.kernels.hashing import hash_strings
from nearkin.kernels.linking import sort_by_key
from nearkin.records import F64, I64, U8, U32, U64
from nearkin.runs.spool import Chunk
from nearkin.stages.documents import normalisation

MAX_DOCUMENTS = 2**32 - 2
"""Rows are 32-bit numbers, the last of which means none."""
NO_NODE = np.uint32(0xFFFFFFFF)
READABLE, EMPTY, UNREADABLE, ONLY_NUMBERS, ONLY_IGNORED = 0, 1, 2, 3, 4
MINE, THEIRS = np.uint8(1), np.uint8(2)
"""Bits for a text's sides: among the documents to clean, in the other set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """All documents of a run.

    A *node* is a distinct text; copies share one. Nodes are numbered in order of first occurrence.

    Parameters
    ----------
    n_inputs
        Number of rows to clean; later rows are the other set of ``--against``.
    status : uint8 array, shape (n_documents,)
        READABLE, EMPTY, UNREADABLE, or ONLY_NUMBERS or ONLY_IGNORED if numbers or passages do not count.
    node : uint32 array, shape (n_documents,)
        NO_NODE for documents without a text.
    """

    chunks: tuple[Chunk, ...]
    n_inputs: int
    status: U8
    n_characters: I64
    keep_value: F64
    node: U32
    first_row: U32
    is_against: bool
    repeated_ids: tuple[tuple[int, int], ...]

    def __len__(self) -> int:
        return len(self.status)

    @property
    def n_nodes(self) -> int:
        """Number of distinct texts."""
        return len(self.first_row)

    @property
    def sides(self) -> U8:
        """MINE for nodes among the documents to clean, THEIRS for those of the other set; both if there is none."""
        if not self.is_against:
            return np.full(self.n_nodes, MINE | THEIRS, np.uint8)
        sides = np.zeros(self.n_nodes, np.uint8)
        has_node = self.node != NO_NODE
        is_input = np.arange(len(self)) < self.n_inputs
        sides[self.node[has_node & is_input]] |= MINE
        sides[self.node[has_node & ~is_input]] |= THEIRS
        return sides


def check_not_too_many(n_documents: int) -> None:
    """Refuse more documents than rows can number."""
    if n_documents > MAX_DOCUMENTS:
        raise SourceError(f"A run takes at most {MAX_DOCUMENTS:,} documents. Got {n_documents:,} instead.")


def survey(chunks: Sequence[Chunk], n_inputs: int, *, is_against: bool, has_ids: bool = True) -> Corpus:
    """Gather the facts that later stages need, and the exact copies: equal SHA-256 after normalisation."""
    n_documents = chunks[-1].end if chunks else 0
    check_not_too_many(n_documents)
    status = np.zeros(n_documents, np.uint8)
    n_characters = np.zeros(n_documents, np.int64)
    keep_value = np.full(n_documents, np.nan)
    digests = np.zeros((n_documents, 4), np.uint64)
    id_hashes = np.zeros(n_documents, np.uint64)
    for chunk in chunks:
        rows, facts = slice(chunk.start, chunk.end), facts_of(chunk)
        status[rows], n_characters[rows], keep_value[rows] = facts.status, facts.n_characters, facts.keep_value
        digests[rows] = digests_of(chunk)
        if has_ids:
            id_hashes[rows] = id_hashes_of(chunk)
    repeated = repeated_ids(chunks, id_hashes, n_inputs) if has_ids else ()
    node, first_row = _copies(digests, np.flatnonzero(status == READABLE).astype(np.uint32), n_documents)
    return Corpus(
        chunks=tuple(chunks),
        n_inputs=n_inputs,
        status=status,
        n_characters=n_characters,
        keep_value=keep_value,
        node=node,
        first_row=first_row,
        is_against=is_against,
        repeated_ids=repeated,
    )


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts about each document of a chunk; see `Corpus`."""

    status: U8
    n_characters: I64
    keep_value: F64


def facts_of(chunk: Chunk) -> Facts:
    """Return the columns of a chunk as arrays."""
    batch = chunk.batch()
    is_empty = pc.equal(pc.binary_length(batch["text"]), 0).to_numpy(zero_copy_only=False)
    is_bad = batch["problem"].is_valid().to_numpy(zero_copy_only=False)
    empty: int | U8 = EMPTY
    for name, status in ((normalisation.ONLY_NUMBERS, ONLY_NUMBERS), (normalisation.ONLY_IGNORED, ONLY_IGNORED)):
        if name in batch.schema.names:
            empty = np.where(batch[name].to_numpy(zero_copy_only=False), status, empty).astype(np.uint8)
    return Facts(
        np.where(is_bad, UNREADABLE, np.where(is_empty, empty, READABLE)).astype(np.uint8),
        batch["n_characters"].to_numpy(),
        batch["keep_value"].to_numpy(zero_copy_only=False).astype(np.float64),
    )


def digests_of(chunk: Chunk) -> U64:
    """Return the SHA-256 of each normalised text of a chunk, shape (n_documents, 4)."""
    return np.frombuffer(chunk.column("digest").buffers()[1], np.uint64).reshape(-1, 4)[: chunk.n_documents]


def id_hashes_of(chunk: Chunk) -> U64:
    """Return a hash of the id of each document."""
    data, offsets = text_buffers(chunk.column("doc_id"))
    return hash_strings(data, offsets)


def _copies(digests: U64, rows: U32, n_documents: int) -> tuple[U32, U32]:
    ordered, class_of, first_of_class = copies_of(digests[rows], rows)
    return number_by_first(ordered, class_of, first_of_class, n_documents)


def copies_of(digests: U64, rows: U32) -> tuple[U32, I64, U32]:
    """Find the classes of rows that share a digest.

    Parameters
    ----------
    rows : uint32 array, shape (n_rows,)
        Ascending.

    Returns
    -------
    ordered : uint32 array, shape (n_rows,)
        The rows, with those of a class adjacent and ascending.
    class_of : int64 array, shape (n_rows,)
        Class of each of `ordered`.

    Examples
    --------
    >>> digests = np.array([[7, 0, 0, 0], [5, 0, 0, 0], [7, 0, 0, 0]], np.uint64)
    >>> [array.tolist() for array in copies_of(digests, np.array([3, 4, 9], np.uint32))]
    [[4, 3, 9], [0, 1, 1], [4, 3]]
    """
    places = np.arange(len(rows), dtype=np.uint32)
    keys, order = sort_by_key(np.ascontiguousarray(digests[:, 0]), places)
    is_new = np.ones(len(order), np.bool_)
    is_new[1:] = (digests[order[1:]] != digests[order[:-1]]).any(axis=1)
    if (is_new[1:] & (keys[1:] == keys[:-1])).any():  # part of a digest in common: compare all four words
        order = np.lexsort(digests.T).astype(np.uint32)
        is_new[1:] = (digests[order[1:]] != digests[order[:-1]]).any(axis=1)
    ordered = rows[order]
    return ordered, np.cumsum(is_new) - 1, ordered[is_new]  # both sorts are stable, so this is the smallest row


def number_by_first(
    rows: NDArray[np.integer[Any]], class_of: I64, first_of_class: NDArray[np.integer[Any]], n_documents: int
) -> tuple[U32, U32]:
    """Number classes of rows as nodes, in order of first occurrence.

    Returns
    -------
    node : uint32 array, shape (n_documents,)
        NO_NODE for all other rows.
    """
    by_first = np.argsort(first_of_class, kind="stable")
    number = np.empty(len(by_first), np.uint32)
    number[by_first] = np.arange(len(by_first), dtype=np.uint32)
    node = np.full(n_documents, NO_NODE, np.uint32)
    node[rows] = number[class_of]
    return node, first_of_class[by_first].astype(np.uint32)


def repeated_ids(chunks: Sequence[Chunk], id_hashes: U64, n_inputs: int) -> tuple[tuple[int, int], ...]:
    """Return rows whose id an earlier row of the same side has, each with that row."""
    repeated: list[tuple[int, int]] = []
    for start, end in ((0, n_inputs), (n_inputs, len(id_hashes))):
        suspects = sharing_a_hash(id_hashes[start:end], np.arange(start, end, dtype=np.uint32))
        repeated += repeated_among(chunks, suspects)
    return tuple(repeated)


def sharing_a_hash(hashes: U64, rows: U32) -> U32:
    """Return the rows whose hash another row has too, ascending."""
    keys, rows = sort_by_key(hashes, rows)
    is_shared = np.zeros(len(keys), np.bool_)
    is_shared[1:] = keys[1:] == keys[:-1]
    is_shared[:-1] |= is_shared[1:]
    return np.sort(rows[is_shared])


def repeated_among(chunks: Sequence[Chunk], suspects: U32) -> list[tuple[int, int]]:
    """Return the ascending ``suspects`` whose id an earlier one has, each with that row."""
    repeated: list[tuple[int, int]] = []
    earlier: dict[str, int] = {}
    for row, doc_id in zip(suspects.tolist(), _ids_of(chunks, suspects), strict=True):
        if doc_id in earlier:
            repeated.append((row, earlier[doc_id]))
        else:
            earlier[doc_id] = row
    return repeated


def _ids_of(chunks: Sequence[Chunk], rows: U32) -> list[str]:
    ids: list[str] = []
    for chunk in chunks:
        low, high = np.searchsorted(rows, [chunk.start, chunk.end])
        if low < high:
            ids += chunk.column("doc_id").take(pa.array(rows[low:high] - np.uint32(chunk.start))).to_pylist()
    return ids
