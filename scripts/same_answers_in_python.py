"""The functions of `nearkin` with documents in memory; prints a line of JSON for each: run by `same_answers.py`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import nearkin


def said(name: str, value: Any) -> None:
    print(json.dumps({"job": name, "value": value}, default=str))


folder, matter = Path(sys.argv[1]), sys.argv[2]
documents = [json.loads(line) for line in (folder / "contracts.jsonl").read_text().splitlines()]
texts = [(document["id"], document["text"]) for document in documents]

result = nearkin.dedup(texts, threshold=0.8)
said(
    "dedup",
    [
        result.documents.to_pylist(),
        result.pairs.to_pylist(),
        result.groups.to_pylist(),
        [one[0] for one in result.kept],
    ],
)
said(
    "dedup dictionaries", [kept["id"] for kept in nearkin.dedup(documents, measure="containment", keep="shortest").kept]
)
said("dedup against", nearkin.dedup(texts[:80], against=texts[80:], threshold=0.6).documents.to_pylist())
families = nearkin.families(texts, threshold=0.5)
said("families", families.members.to_pylist() if hasattr(families, "members") else repr(families))
signed = nearkin.sign(texts, method="minhash", bits=256)
said("neighbours", nearkin.neighbours(signed, distance=60, verify="jaccard:0.8").pairs.to_pylist())
said("nearest", signed.nearest(texts[0][0], distance=90).to_pylist())
said("pairs", nearkin.pairs(texts[:60], texts[60:], min_occurrences=1, top=2).pairs.to_pylist())
for fetch in (None, dict(texts).__getitem__):
    stream = nearkin.StreamDeduplicator(threshold=0.7, fetch=fetch)
    matches = [
        [(m.doc_id, m.jaccard, m.is_verified, m.is_exact_copy) for m in found] for found in stream.add_many(texts)
    ]
    said("stream", matches)
stream.save("saved.stream")
again = nearkin.StreamDeduplicator.open("saved.stream", fetch=lambda name: dict(texts)[name.removeprefix("new ")])
said(
    "stream, opened again",
    [[(m.doc_id, m.jaccard) for m in again.add(f"new {name}", text)] for name, text in texts[:20]],
)
compared = nearkin.compare(texts[0][1], texts[1][1])
said(
    "compare",
    [getattr(compared, name, None) for name in ("n_words_removed", "n_words_added", "n_words_moved", "jaccard")],
)
