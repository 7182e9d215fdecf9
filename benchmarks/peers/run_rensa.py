"""rensa, full set: word 5-grams made in Python, R-MinHash, LSH, then candidates at or above the estimated threshold.

The README's way (token sets in, sketches out) with the batch calls. ``--c-minhash`` takes the other full-set sketch and
the deduplicator that indexes it; ``--rho`` the path that samples tokens, from which its headline figures come.
"""

from __future__ import annotations

import sys
from pathlib import Path

from answer import BANDS, PERMUTATIONS, THRESHOLD, Stopwatch, arguments, hand_over, read_texts, shingles
from rensa import CMinHash, CMinHashDeduplicator, RMinHash, RMinHashLSH

SEED = 42
RHO_BANDS = 8


def r_minhash(token_sets: list[list[str]], watch: Stopwatch, out: Path) -> None:
    """Pairs by R-MinHash and its LSH."""
    with watch.stage("sketch"):
        sketches = RMinHash.from_token_sets(token_sets, num_perm=PERMUTATIONS, seed=SEED)
    with watch.stage("lsh"):
        index = RMinHashLSH(threshold=THRESHOLD, num_perm=PERMUTATIONS, num_bands=BANDS)
        index.insert_many(sketches)
        found = enumerate(index.query_all(sketches))
        candidates = [(row, other) for row, others in found for other in others if other > row]
        pairs = [(a, b) for a, b in candidates if sketches[a].jaccard(sketches[b]) >= THRESHOLD]
    how = f"R-MinHash, {BANDS} bands of {PERMUTATIONS // BANDS}, candidates kept by estimated similarity"
    hand_over(out, "rensa", len(token_sets), watch, how, pairs=pairs, candidates=candidates)


def c_minhash(token_sets: list[list[str]], watch: Stopwatch, out: Path) -> None:
    """Clusters by C-MinHash: each document asks the deduplicator, which takes it in unless it has a duplicate."""
    with watch.stage("sketch"):
        sketches = CMinHash.from_token_sets(token_sets, num_perm=PERMUTATIONS, seed=SEED)
    with watch.stage("lsh"):
        index = CMinHashDeduplicator(threshold=THRESHOLD, num_perm=PERMUTATIONS, seed=SEED)
        clusters = list(range(len(sketches)))
        for row, sketch in enumerate(sketches):
            duplicates = index.get_duplicates(sketch)
            if duplicates:
                clusters[row] = min(map(int, duplicates))
            else:
                index.add(str(row), sketch)
    how = "C-MinHash and its deduplicator: a document joins the first kept one that it resembles by estimate"
    hand_over(out, "rensa", len(token_sets), watch, how, clusters=clusters)


def rho(token_sets: list[list[str]], watch: Stopwatch, out: Path) -> None:
    """Flags by the sketch that samples shingles: the path of its headline figures."""
    with watch.stage("sketch"):
        matrix = RMinHash.digest_matrix_from_token_sets_rho(token_sets, num_perm=PERMUTATIONS, seed=SEED)
    with watch.stage("lsh"):
        index = RMinHashLSH(threshold=THRESHOLD, num_perm=PERMUTATIONS, num_bands=RHO_BANDS)
        flags = index.query_duplicate_flags_matrix_one_shot(matrix)
    how = f"its sampling (rho) path, {RHO_BANDS} bands as in its own benchmark: says which documents, not of what"
    hand_over(out, "rensa", len(token_sets), watch, how, flags=flags)


def main() -> None:
    """Run and hand over."""
    corpus, out = arguments()
    watch = Stopwatch()
    with watch.stage("read"):
        texts = read_texts(corpus)
    with watch.stage("shingles in Python"):
        token_sets = [shingles(text) for text in texts]
    run = c_minhash if "--c-minhash" in sys.argv else rho if "--rho" in sys.argv else r_minhash
    run(token_sets, watch, out)


if __name__ == "__main__":
    main()
