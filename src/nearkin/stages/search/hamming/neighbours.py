"""Exact search for signatures within a Hamming distance: pairs of one corpus, or neighbours of queries.

Documents with the same signature are grouped first and searched once. Then ``plan`` chooses between
tables and brute force; both find the same pairs, each once, with any number of threads.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nearkin.arguments import checking_arguments, checking_types
from nearkin.errors import FingerprintError, ParameterError, check_int, is_int
from nearkin.records import U32, U64, BitSignatures
from nearkin.stages.search.hamming.jobs import HammingSearch, Watcher
from nearkin.stages.search.hamming.pairs import U16, EqualSignatures, HammingPairs, sort_together
from nearkin.stages.search.hamming.plan import HammingPlan, Method, plan_hamming

MAX_PAIRS = 1 << 27
"""Default maximum number of pairs of distinct signatures: about 3 GiB at the end of the search."""


@dataclass(frozen=True, slots=True)
class Nearest:
    """Neighbours of queries, sorted by query, distance and row.

    Parameters
    ----------
    query, row : uint32 arrays, shape (n_found,)
        Rows of the queries, and of the signatures.
    distance : uint16 array, shape (n_found,)
        Number of differing bits.
    plan : HammingPlan
        Plan of the search.
    """

    query: U32
    row: U32
    distance: U16
    plan: HammingPlan

    def __len__(self) -> int:
        return len(self.query)


@checking_arguments
@checking_types
def neighbour_pairs(
    signatures: BitSignatures,
    distance: int,
    *,
    threads: int = 1,
    method: Method | None = None,
    max_pairs: int = MAX_PAIRS,
    progress: Watcher | None = None,
) -> HammingPairs:
    """Find all pairs of documents whose signatures differ in at most ``distance`` bits. No pair is missed or repeated.

    Parameters
    ----------
    signatures : BitSignatures
        Signatures of the documents. Documents without features are never neighbours.
    distance : int
        Maximum number of different bits, from 0 to one less than the length of a signature.
    threads : int
        Worker threads, at least 1; the result does not depend on it.
    method : {"tables", "brute force"}, optional
        Search method; by default the cheaper one. Both give the same result.
    max_pairs : int
        Maximum number of pairs of distinct signatures, which limits memory.
    progress : Watcher, optional
        Receives the plan as a sentence, and every step.

    Raises
    ------
    ParameterError
        A parameter is invalid, or there are more than ``max_pairs`` pairs of distinct signatures.

    Notes
    -----
    Source: Gurmeet Singh Manku, Arvind Jain, Anish Das Sarma, "Detecting near-duplicates for web crawling", 2007;
    Mohammad Norouzi, Ali Punjani, David J. Fleet, "Fast search in Hamming space with multi-index hashing", 2012.

    Examples
    --------
    >>> packed = np.array([[0b1111, 0], [0b1110, 0], [0b1111, 0], [0, 0b1111]], np.uint8)
    >>> found = neighbour_pairs(BitSignatures(packed, np.ones(4, bool), "topsig;bits=16"), distance=3)
    >>> found.left.tolist(), found.right.tolist(), found.distance.tolist(), found.n_document_pairs
    ([0], [1], [1], 3)
    """
    _check(signatures, distance, threads, method, max_pairs)
    classes = EqualSignatures.of(signatures)
    words = signatures.words[classes.firsts]
    if distance == 0:  # distinct signatures are never equal, so the groups are the result
        words = words[:0]
    plan = plan_hamming(words, None, n_bits=signatures.n_bits, distance=distance, method=method)
    search = HammingSearch.of(plan, words, None, max_pairs)
    left, right, distances = search.run(threads, progress)
    sort_together(left, right, distances)
    return HammingPairs(
        left=left, right=right, distance=distances, classes=classes, plan=plan, fingerprint=signatures.fingerprint
    )


@checking_arguments
@checking_types
def nearest(
    queries: BitSignatures,
    signatures: BitSignatures,
    distance: int,
    *,
    threads: int = 1,
    method: Method | None = None,
    max_pairs: int = MAX_PAIRS,
    progress: Watcher | None = None,
) -> Nearest:
    """Find all signatures within a distance of each query, with their rows and distances. None is missed.

    Parameters
    ----------
    queries, signatures : BitSignatures
        Signatures made by the same method. Documents without features are never neighbours.
    distance, threads, method, max_pairs, progress
        See `neighbour_pairs`. Documents with equal signatures are all returned.

    Raises
    ------
    FingerprintError
        The queries and the signatures were made by different methods.
    ParameterError
        A parameter is invalid, or there are more than ``max_pairs`` neighbours.

    Examples
    --------
    >>> packed = np.array([[0b1111], [0b1110], [0b1111], [0b1111_0000]], np.uint8)
    >>> many = BitSignatures(packed, np.ones(4, bool), "topsig;bits=8")
    >>> one = BitSignatures(packed[1:2], np.ones(1, bool), "topsig;bits=8")
    >>> found = nearest(one, many, distance=2)
    >>> found.row.tolist(), found.distance.tolist()
    ([1, 0, 2], [0, 1, 1])
    """
    if (queries.fingerprint, queries.n_bits) != (signatures.fingerprint, signatures.n_bits):
        both = [(name, f"{one.fingerprint};bits={one.n_bits}") for name, one in
                (("queries", queries), ("signatures", signatures))]  # fmt: skip
        raise FingerprintError.of("Signatures", "be compared", *both)
    _check(signatures, distance, threads, method, max_pairs)
    asked, words = _words_with_features(queries), _words_with_features(signatures)
    plan = plan_hamming(words, asked, n_bits=signatures.n_bits, distance=distance, method=method)
    query, row, distances = HammingSearch.of(plan, words, asked, max_pairs).run(threads, progress)
    query, row = _rows_with_features(queries, query), _rows_with_features(signatures, row)
    sort_together(query, distances, row)
    return Nearest(query, row, distances, plan)


def _words_with_features(signatures: BitSignatures) -> U64:
    """Return the signatures of documents that have features."""
    return signatures.words if signatures.has_features.all() else signatures.words[signatures.has_features]


def _rows_with_features(signatures: BitSignatures, places: U32) -> U32:
    """Return the rows of documents, from their positions among those that have features."""
    if signatures.has_features.all():
        return places
    return np.flatnonzero(signatures.has_features)[places].astype(np.uint32)


def _check(signatures: BitSignatures, distance: int, threads: int, method: str | None, max_pairs: int) -> None:
    """Refuse invalid parameters."""
    if not is_int(distance) or not 0 <= distance < signatures.n_bits:
        rule = f"an int from 0 to {signatures.n_bits - 1}, one less than the bits of a signature"
        raise ParameterError.of("distance", rule, distance)
    check_int("threads", threads, 1)
    if method not in (None, "tables", "brute force"):
        raise ParameterError.of("method", "'tables', 'brute force' or None", method)
    check_int("max_pairs", max_pairs, 1)
