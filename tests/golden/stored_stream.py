"""A stream as this version saves it; a new version of the form gets a file of its own beside the older ones.

In ``tests``: ``python -m golden.stored_stream 1`` writes one.
"""

from __future__ import annotations

import sys
from pathlib import Path

from golden.collection import DOCUMENTS
from nearkin import StreamDeduplicator

STREAMS = Path(__file__).parent / "streams"


def made() -> StreamDeduplicator:
    """Some documents, the first of them forgotten."""
    stream = StreamDeduplicator(threshold=0.5, shingle="words:3", size=32, recall=0.9, max_age=8)
    list(stream.add_many((i if i % 2 else f"d{i}", text) for i, text in enumerate(DOCUMENTS[:12])))
    return stream


def answers(stream: StreamDeduplicator) -> list[list[tuple[object, float, bool]]]:
    """What the same documents, under new ids, are like."""
    found = stream.add_many((f"again {i}", text) for i, text in enumerate(DOCUMENTS[:12]))
    return [[(one.doc_id, one.jaccard, one.is_exact_copy) for one in matches] for matches in found]


if __name__ == "__main__":
    STREAMS.mkdir(exist_ok=True)
    made().save(STREAMS / f"version-{sys.argv[1]}")
