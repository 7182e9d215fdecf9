"""Similarity indexes as this version makes them; see ``golden.py`` for when a new folder is written."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pyarrow as pa

from golden.golden import TEXTS
from nearkin.stages.signatures.similarity_index import METHODS, STREAMS, VARIATIONS, SimilarityIndex

MORE = [
    "Жизнь 語 ñandú — it's a well-known (old) thing, isn't it? 1787 🙂 " * 30,
    "We the People of the United States, in Order to form a more perfect Union, do ordain this Constitution. " * 9,
]


def made() -> dict[str, object]:
    """Every method, with two lengths of k-grams: its fingerprint, and the number of each text or null."""
    texts = pa.array([*TEXTS, *MORE], pa.large_string())
    pinned: dict[str, object] = {}
    for stream in STREAMS:
        for variation in VARIATIONS:
            for method in METHODS:
                if method == 13 and stream == "characters":
                    continue
                for k, w in ((4, 5), (16, 25)):
                    index = SimilarityIndex(method=method, stream=stream, variation=variation, k=k, w=w)
                    found = index.index(texts)
                    values = [int(v) if has else None for v, has in zip(found.values, found.has_value)]
                    pinned[index.spec] = {"fingerprint": found.fingerprint, "values": values}
    return pinned


if __name__ == "__main__":
    path = Path(__file__).parent / sys.argv[1] / "similarity_indexes.json"
    lines = (f" {json.dumps(name)}: {json.dumps(value)}" for name, value in made().items())
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
