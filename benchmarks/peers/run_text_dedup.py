"""text-dedup: its own ``minhash`` command, whole: load, sketch, cluster, filter and save.

Defaults, except for the parameters that all tools share. ``--xxh3`` takes the faster of its two hash functions instead
of SHA-1.
"""

from __future__ import annotations

import pickle
import shutil
import sys

from answer import BANDS, PERMUTATIONS, PROCESSES, ROWS, SHINGLE_WORDS, THRESHOLD, Stopwatch, arguments, hand_over
from text_dedup import minhash


def main() -> None:
    """Run and hand over."""
    corpus, out = arguments()
    work, watch = out / "work", Stopwatch()
    shutil.rmtree(work, ignore_errors=True)
    hash_function = "xxh3" if "--xxh3" in sys.argv else "sha1"
    options = {
        "--path": "json",
        "--data_files": str(corpus),
        "--split": "train",
        "--column": "text",
        "--cache_dir": str(work / "cache"),
        "--output": str(work / "kept"),
        "--ngram": str(SHINGLE_WORDS),
        "--num_perm": str(PERMUTATIONS),
        "--threshold": str(THRESHOLD),
        "--b": str(BANDS),
        "--r": str(ROWS),
        "--hash_func": hash_function,
        "--num_proc": str(PROCESSES),
    }
    command = [word for pair in options.items() for word in pair] + ["--debug"]
    with watch.stage("its whole command"):
        minhash.main(command, standalone_mode=False)
    with (work / "kept" / "uf.pkl").open("rb") as stored:
        united = pickle.load(stored)
    with corpus.open("rb") as lines:
        n_documents = sum(1 for _ in lines)
    clusters = [united.find(row) for row in range(n_documents)]
    how = f"its command, {hash_function}, {BANDS} bands of {ROWS}, {PROCESSES} processes; clusters are not verified"
    hand_over(out, "text-dedup", n_documents, watch, how, clusters=clusters)
    shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
