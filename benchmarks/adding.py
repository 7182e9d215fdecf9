"""Processor time of a collection's `add` and `remove`, per document: new texts, known ones, known ones under other ids.

``python benchmarks/adding.py --documents 10000``. Processor time of all threads, which other programs on the machine
disturb less than seconds; the index is not made.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa

import nearkin
from nearkin.collection.opened import OpenedCollection

WORDS = 400
VOCABULARY = 20_000


def texts(n_documents: int) -> list[str]:
    """Made-up words in made-up texts, frequent and rare ones."""
    rng = np.random.default_rng(1)
    letters = np.array(list("eeettaaooiinnssrrhhldcumfpgwybvk"))
    words = ["".join(rng.choice(letters, size)) for size in rng.integers(2, 10, VOCABULARY)]
    chosen = np.minimum(rng.zipf(1.2, (n_documents, WORDS)), VOCABULARY) - 1
    return [" ".join([words[place] for place in row]) for row in chosen.tolist()]


def microseconds(work: Callable[[], object], n_documents: int) -> float:
    """Of processor time per document."""
    began = time.process_time()
    work()
    return 1e6 * (time.process_time() - began) / n_documents


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--url", help="of an empty PostgreSQL database; a directory if not given")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    n, threads = options.documents, options.threads
    made = texts(n)
    ids = [f"2024/box-{i % 97}/document-{i}.txt" for i in range(n)]
    own, others = (pa.table({"id": [f"{start}{one}" for one in ids], "text": made}) for start in ("", "copy of "))
    OpenedCollection.settle = lambda self: None  # type: ignore[method-assign]
    with (
        tempfile.TemporaryDirectory() as folder,
        nearkin.Collection.open(options.url or Path(folder) / "matter", create=True, cache=folder) as collection,
    ):
        collection.add(["the kernels are compiled first"], wave="warm", threads=threads)
        for what, work in (
            ("add new texts", lambda: collection.add(own, wave="first", threads=threads)),
            ("add them again", lambda: collection.add(own, wave="first", threads=threads)),
            ("add them under other ids", lambda: collection.add(others, wave="second", threads=threads)),
            ("remove a wave", lambda: collection.remove(wave="second")),
        ):
            print(f"{what}: {microseconds(work, n):.1f} µs of processor time per document")


if __name__ == "__main__":
    main()
