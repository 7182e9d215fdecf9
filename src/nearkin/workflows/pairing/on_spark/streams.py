"""What tasks tell one another: the columns of each stream."""

from __future__ import annotations

from nearkin.engines.spark.layout import Layout

READ = Layout("read", (("files", "<u4"), ("id_kind", "|u1")))
"""What a task has read: the number of its files."""
"""Of an input."""
CHUNKS = Layout("chunks", (("n_signatures", "<i8"),))
"""How many signatures a chunk of a sorted order has, its own ones."""
CANDIDATES = Layout("candidates", (("key", "<u8"),))
"""Pairs to be verified: the left row in the upper 32 bits, the right row in the lower; some more than once."""
PAIRS = Layout("pairs", (("key", "<u8"), ("cosine", "<f8")))
"""Pairs at the threshold or above, each once."""
COSTS = Layout("costs", (("n_comparisons", "<i8"), ("n_candidates", "<i8")))
"""What it took; see `workflows.pairing.verifying.FoundPairs`. All of it meets in target 0."""
FOUND = Layout("found", (("n_pairs", "<i8"),))
"""How many pairs a meeting has so far."""


def entries_of(n_words: int) -> Layout:
    """Signatures on their way into a sorted order, with the numbers of their documents."""
    return Layout("entries", (("document", "<u4"), ("words", f"V{8 * n_words}")))
