"""Streams between tasks: the columns of each."""

from __future__ import annotations

from nearkin.engines.spark.layout import Layout

READ = Layout("read", (("files", "<u4"), ("id_kind", "|u1")))
"""Number of the files of a task that has read an input."""
"""Results for an input."""
CHUNKS = Layout("chunks", (("n_signatures", "<i8"),))
"""Number of a chunk's own signatures in a sorted order."""
CANDIDATES = Layout("candidates", (("key", "<u8"),))
"""Pairs to verify: the left row in the upper 32 bits, the right row in the lower; some are repeated."""
PAIRS = Layout("pairs", (("key", "<u8"), ("cosine", "<f8")))
"""Pairs at or above the threshold, each once."""
COSTS = Layout("costs", (("n_comparisons", "<i8"), ("n_candidates", "<i8")))
"""Counts of the work; see `workflows.pairing.verifying.FoundPairs`. All counts meet in target 0."""
FOUND = Layout("found", (("n_pairs", "<i8"),))
"""Number of pairs of a meeting so far."""


def entries_of(n_words: int) -> Layout:
    """Signatures sent into a sorted order, with the numbers of their documents."""
    return Layout("entries", (("document", "<u4"), ("words", f"V{8 * n_words}")))
