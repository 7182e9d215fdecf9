"""Items planted in documents, whole and changed: scores of ``nearkin passages --against``, and decon's overlap.

The items are 400 questions of 60 words of news, in 1,200 other news: a fifth each as they are, with one word in 20 or
in 10 replaced, the first half only, and not at all. The overlap is computed by the definition of decon (AI2): the share
of the unique 5-grams of a question that a document has, each weighted by its inverse document frequency, without its
search for clusters, its decay for long questions and its part for answers. News repeat themselves, so some items that
were not planted stand in documents, too::

    python benchmarks/contamination.py --data FOLDER
"""

from __future__ import annotations

import argparse
import json
import math
import random
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

import pyarrow.parquet as pq

HERE = Path(__file__).resolve().parent
KINDS = ("as it is", "1 word in 20 replaced", "1 word in 10 replaced", "first half", "not planted")
N_ITEMS, N_DOCUMENTS, THRESHOLD = 400, 1_200, 0.8
Record = dict[str, str]


def planted(texts: Sequence[str], seed: int = 3) -> tuple[list[Record], list[Record]]:
    """The items, and the documents with them."""
    chance = random.Random(seed)
    words = [text.split() for text in texts]
    vocabulary = [word for some in words[:300] for word in some]
    items = [{"id": f"q{i}", "question": " ".join(some[20:80])} for i, some in enumerate(words[:N_ITEMS])]
    documents = words[N_ITEMS : N_ITEMS + N_DOCUMENTS]
    for i, item in enumerate(items):
        kind, question = KINDS[i % len(KINDS)], item["question"].split()
        if kind == "not planted":
            continue
        if kind == "first half":
            question = question[:30]
        elif kind != "as it is":
            every = int(kind.split()[3])
            question = [
                chance.choice(vocabulary) if j % every == every // 2 else word for j, word in enumerate(question)
            ]
        documents[3 * i % N_DOCUMENTS][60:60] = question
    return items, [{"id": f"t{i}", "text": " ".join(some)} for i, some in enumerate(documents)]


def overlaps(items: list[Record], documents: list[Record]) -> list[float]:
    """The best overlap of each item."""
    grams = [_grams(item["question"]) for item in items]
    frequency = Counter(gram for some in grams for gram in some)
    holders = defaultdict(list)
    for i, some in enumerate(grams):
        for gram in some:
            holders[gram].append(i)
    best = [0.0] * len(items)
    weight = {gram: math.log(len(items) / n) for gram, n in frequency.items()}
    whole = [sum(weight[gram] for gram in some) for some in grams]
    for document in documents:
        found = defaultdict(float)
        for gram in _grams(document["text"]):
            for i in holders.get(gram, ()):
                found[i] += weight[gram]
        for i, value in found.items():
            best[i] = max(best[i], value / whole[i])
    return best


def _grams(text: str, n: int = 5) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.lower())
    return {tuple(words[i : i + n]) for i in range(len(words) - n + 1)}


def scores(out: Path, nearkin: Path, n_items: int, min_words: int) -> list[float]:
    """The best score of each item."""
    command = [
        str(nearkin),
        "passages",
        str(out / "train.jsonl"),
        "--against",
        str(out / "eval.jsonl"),
        "--against-text",
    ]
    command += [
        "question",
        "--min-words",
        str(min_words),
        "--out",
        str(out / "run"),
        "--overwrite",
        "-q",
        "--no-report",
    ]
    subprocess.run(command, check=True)
    best = dict.fromkeys((f"q{i}" for i in range(n_items)), 0.0)
    for row in pq.read_table(out / "run" / "contamination.parquet").to_pylist():
        best[row["item"]] = max(best[row["item"]], row["score"])
    return list(best.values())


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="a folder with reuters21578.parquet")
    parser.add_argument("--out", type=Path, default=HERE / "out" / "contamination")
    parser.add_argument("--nearkin", type=Path, default=Path(sys.executable).with_name("nearkin"), help="its command")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    texts = pq.read_table(options.data / "reuters21578.parquet", columns=["text"])["text"].to_pylist()
    long_ones = [text for text in texts if text and len(text.split()) > 150]
    items, documents = planted(long_ones)
    for name, records in (("train", documents), ("eval", items)):
        (options.out / f"{name}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    ways = {"decon's overlap": overlaps(items, documents)}
    ways |= {f"min-words {n}": scores(options.out, options.nearkin, len(items), n) for n in (13, 8, 5)}
    for name, best in ways.items():
        for k, kind in enumerate(KINDS):
            some = best[k :: len(KINDS)]
            n_called, mean = sum(value >= THRESHOLD for value in some), sum(some) / len(some)
            print(f"{name:16} {kind:22} {n_called:3} of {len(some)} at {THRESHOLD} or above, mean {mean:.2f}")


if __name__ == "__main__":
    main()
