"""Rows that share a key, by sorting or in chains that grow row by row, and groups made of the matches among them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.choosing import frozen, loops

_FEW_BYTES = 1 << 18
NO_ROW = -1
_ROW_BYTES = 16


def sort_by_key(keys: NDArray[np.uint64], rows: NDArray[np.uint32]) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
    """Sort by key; rows with the same key keep their order."""
    keys, rows = loops("linking", keys.nbytes).sort_by_key(keys, rows)
    return keys, rows


def link_runs(
    keys: NDArray[np.uint64],
    rows: NDArray[np.uint32],
    sizes: NDArray[np.uint32],
    sides: NDArray[np.uint8],
    *,
    start: int,
    min_size_ratio: float,
    max_pivots: int,
    max_pairs: int,
    pairs: NDArray[np.uint64],
) -> tuple[int, int, int]:
    """Pair the rows that share a key, from entry ``start`` on, until ``pairs`` may not hold another run.

    In a run of up to ``max_pivots`` rows, all rows are paired. In a longer run, each is paired with the first
    ``max_pivots``, or with fewer if that would make more than ``max_pairs`` pairs; omitted pairs are counted if their
    sides would have let them match. Following rows are paired with leading rows, never with one another.

    Parameters
    ----------
    keys, rows : uint64 and uint32 arrays, shape (n_entries,)
        Sorted by key; in each run, leading rows come before following ones.
    sizes : uint32 array
        Number of shingles of each row: pairs whose ratio of sizes is below ``min_size_ratio`` cannot match and are
        omitted.
    sides : uint8 array
        Bits of each row; a pair needs one row with bit 1 and the other with bit 2. A row with bit 4 is following, one
        without it leading.
    pairs : uint64 array
        Written from index 0: the lower row in the upper 32 bits, the higher in the lower.

    Returns
    -------
    n_pairs, next_start, n_not_compared : int
        ``next_start`` is ``len(keys)`` when all is done. If not even one run fits, ``n_pairs`` is 0 and
        ``next_start`` is ``start``.
    """
    n_pairs, next_start, n_not_compared = loops("linking", _work_bytes(keys)).link_many(
        *frozen(keys, rows, sizes, sides),
        start,
        float(min_size_ratio),
        max_pivots,
        max_pairs,
        pairs,
    )
    return int(n_pairs), int(next_start), int(n_not_compared)


def _work_bytes(keys: NDArray[np.uint64]) -> int:
    if keys.nbytes > _FEW_BYTES:
        return keys.nbytes
    lengths = np.diff(np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1], [True]]))) if len(keys) else keys
    return keys.nbytes + 8 * int(np.square(lengths).sum())


def prefixes(
    hashes: NDArray[np.uint64], offsets: NDArray[np.int64], counts: NDArray[np.uint32], lengths: NDArray[np.int64]
) -> NDArray[np.uint64]:
    """Return the first ``lengths[i]`` elements of each set in the order (count, hash).

    Parameters
    ----------
    counts : uint32 array, shape (2**bits,)
        Frequency of the hashes with these upper bits.
    """
    elements = np.empty(int(lengths.sum()), np.uint64)
    shift = 65 - len(counts).bit_length()
    loops("linking", hashes.nbytes).prefix_many(*frozen(hashes, offsets, counts, lengths), shift, elements)
    return elements


def mark(hashes: NDArray[np.uint64], bitmap: NDArray[np.uint8]) -> None:
    """Set the bits of some hashes.

    Parameters
    ----------
    bitmap : uint8 array, shape (a power of two,), written
        The upper bits of a hash are the number of its bit; bit ``i`` is bit ``i % 8`` of byte ``i // 8``.
    """
    loops("linking", hashes.nbytes).mark_many(*frozen(hashes), _shift(bitmap), bitmap)


def is_marked(hashes: NDArray[np.uint64], bitmap: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Whether the bit of each hash is set, shape (n_hashes,)."""
    found = np.empty(len(hashes), np.bool_)
    loops("linking", hashes.nbytes).find_marked(*frozen(hashes), _shift(bitmap), *frozen(bitmap), found)
    return found


def _shift(bitmap: NDArray[np.uint8]) -> int:
    return 64 - ((8 * len(bitmap)).bit_length() - 1)


def find_in_chains(
    keys: NDArray[np.uint64],
    first: int,
    last: int,
    heads: NDArray[np.int32],
    previous: NDArray[np.int32],
    *,
    most: int,
) -> tuple[NDArray[np.int64], NDArray[np.int32], int]:
    """Find the earlier rows with a common key for each row from ``first`` to ``last`` in order, then add the row.

    Parameters
    ----------
    keys : uint64 array, shape (capacity, n_keys)
        Key ``j`` of a row matches only key ``j`` of other rows.
    heads : int32 array, shape (n_keys, size)
        The latest row for each hash slot of a key, NO_ROW if there is none. The size is a power of two greater than
        ``capacity``.
    previous : int32 array, shape (capacity, n_keys)
        The previous row with the same key.
    most
        Maximum number of rows examined in one chain, the latest first.

    Returns
    -------
    row, earlier : int64 and int32 arrays, shape (n_found,)
        Pairs, each once.
    n_cut : int
        Number of chains longer than ``most``.
    """
    kernel = loops("linking", keys[first:last].nbytes)
    keys, buffer = *frozen(keys), np.empty(most * keys.shape[1], np.int32)
    found_row, found_earlier, n_cut = [np.zeros(0, np.int64)], [np.zeros(0, np.int32)], 0
    for row in range(first, last):
        n_found, cut = kernel.find_and_add_one(keys, row, heads, previous, most, buffer)
        n_cut += int(cut)
        if n_found:
            earlier = np.unique(buffer[:n_found])
            found_row.append(np.full(len(earlier), row, np.int64))
            found_earlier.append(earlier)
    return np.concatenate(found_row), np.concatenate(found_earlier), n_cut


def rebuild_chains(
    keys: NDArray[np.uint64], n_rows: int, heads: NDArray[np.int32], previous: NDArray[np.int32]
) -> None:
    """Add the rows below ``n_rows`` to empty ``heads``."""
    loops("linking", keys[:n_rows].nbytes).add_many(*frozen(keys), n_rows, heads, previous)


def principals(
    left: NDArray[np.uint32],
    right: NDArray[np.uint32],
    similarity: NDArray[np.float64],
    order: NDArray[np.uint32],
) -> NDArray[np.uint32]:
    """Return the principal of each row: in order of preference, a row becomes one if it matches no principal.

    Each other row then belongs to the most similar principal, in a tie to the more preferred one.

    Examples
    --------
    >>> left, right = np.array([0, 1], np.uint32), np.array([1, 2], np.uint32)
    >>> principals(left, right, np.array([0.9, 0.8]), np.array([0, 1, 2], np.uint32)).tolist()  # 2 is not like 0
    [0, 0, 2]
    """
    principal = np.arange(len(order), dtype=np.uint32)
    kernel = loops("linking", _ROW_BYTES * len(order))
    kernel.assign_principals(*frozen(left, right, similarity, order), principal)
    return principal


def components(
    left: NDArray[np.uint32], right: NDArray[np.uint32], n_rows: int, *, work_bytes: int | None = None
) -> NDArray[np.uint32]:
    """Return the lowest row of each row's connected component.

    Parameters
    ----------
    work_bytes
        Basis for choosing the loops if few rows have matches: a byte is about a microsecond of the plain loops.
    """
    least = np.arange(n_rows, dtype=np.uint32)
    kernel = loops("linking", _ROW_BYTES * n_rows if work_bytes is None else work_bytes)
    kernel.unite(*frozen(left, right), least)
    return least
