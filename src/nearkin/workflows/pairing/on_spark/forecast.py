"""Cluster resources of a search for pairs, by its plan."""

from __future__ import annotations

from nearkin.planning.cluster_needs import DRIVER_BYTES, PYTHON_BYTES, ClusterNeeds, Shuffle
from nearkin.planning.pairs.search import PairSearch, Prediction, Question
from nearkin.workflows.pairing.on_spark.searching import PART, n_chunks_of, orders_a_round
from nearkin.workflows.pairing.on_spark.vector_files import CANDIDATES, PAIRS, Parts, entries_of

_ENTRY_BYTES = 8
"""Bytes of a term of a vector, and its weight."""


def cluster_needs(question: Question, search: PairSearch, prediction: Prediction) -> ClusterNeeds:
    """Return the resources of `search_all`."""
    parts = Parts(question.n_left, question.n_right, PART)
    n, words = question.n_documents, -(-search.bits // 64)
    vectors = _ENTRY_BYTES * (question.n_left * question.left_terms + question.n_right * question.right_terms + n)
    found = prediction.n_pairs * PAIRS.row_bytes
    folder = vectors + 8 * words * n + found
    n_left, n_right = min(PART, question.n_left), min(PART, question.n_right)
    part_terms = n_left * question.left_terms + n_right * question.right_terms
    of_part = PYTHON_BYTES + 3 * (_ENTRY_BYTES * part_terms + 8 * words * (n_left + n_right))
    if search.method != "window":
        n_tasks, core, sent = parts.n_left_parts * parts.n_right_parts, of_part, _of_tiles(found)
    else:
        entry = entries_of(words).row_bytes
        n_orders = min(search.permutations, orders_a_round(n, entry))
        n_chunks = n_chunks_of(n, search.window, entry)
        n_tasks, sent = n_chunks * n_orders, _of_orders(n, search, prediction, entry)
        core = max(of_part, PYTHON_BYTES + 4 * entry * (n // n_chunks + search.window))
        folder += n_orders * n * entry
    driver = PYTHON_BYTES + DRIVER_BYTES * n + 2 * found
    return ClusterNeeds(
        shuffles=Shuffle.of_all(sent),
        n_tasks=n_tasks,
        core_bytes=int(core),
        driver_bytes=int(driver),
        folder_bytes=int(folder),
        pair_bytes=0,
    )


_Sent = tuple[tuple[str, str, float], ...]


def _of_tiles(found: float) -> _Sent:
    return (("pairs", "pairs, brought together by document", found),)


def _of_orders(n: int, search: PairSearch, prediction: Prediction, entry: int) -> _Sent:
    n_rounds = -(-search.permutations // orders_a_round(n, entry))
    return (
        ("sort", "signatures, into each order", n * search.permutations * entry),
        ("pairs", "candidates, as often as they are found", prediction.n_hits * CANDIDATES.row_bytes),
        ("pairs", "pairs that earlier rounds found", prediction.n_pairs * PAIRS.row_bytes * (n_rounds - 1) / 2),
    )
