"""datasketch: MinHash over word 5-grams made in Python, MinHashLSH, candidates kept by estimated similarity."""

from __future__ import annotations

from answer import BANDS, PERMUTATIONS, ROWS, THRESHOLD, Stopwatch, arguments, hand_over, read_texts, shingles
from datasketch import MinHash, MinHashLSH


def main() -> None:
    """Run and hand over."""
    corpus, out = arguments()
    watch = Stopwatch()
    with watch.stage("read"):
        texts = read_texts(corpus)
    with watch.stage("shingles in Python"):
        token_sets = [[shingle.encode() for shingle in set(shingles(text))] for text in texts]
    with watch.stage("sketch"):
        sketches = MinHash.bulk(token_sets, num_perm=PERMUTATIONS)
    with watch.stage("lsh"):
        index = MinHashLSH(num_perm=PERMUTATIONS, params=(BANDS, ROWS))
        candidates = []
        for row, sketch in enumerate(sketches):
            candidates += [(other, row) for other in index.query(sketch)]
            index.insert(row, sketch)
        pairs = [(a, b) for a, b in candidates if sketches[a].jaccard(sketches[b]) >= THRESHOLD]
    how = f"MinHash.bulk, MinHashLSH {BANDS} bands of {ROWS}, candidates kept by estimated similarity"
    hand_over(out, "datasketch", len(texts), watch, how, pairs=pairs, candidates=candidates)


if __name__ == "__main__":
    main()
