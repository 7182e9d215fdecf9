"""Documents and their translations, made of sentences and theirs: as many as are wanted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

SHARE_TRANSLATED = 0.5


def write_documents(sentences: Path, columns: tuple[str, str], n: int, out: Path, seed: int = 1) -> tuple[Path, Path]:
    """Two files of documents of 6 to 14 sentences; of a half of them the translation is on the other side.

    Parameters
    ----------
    sentences : Path
        A Parquet file.
    columns : (str, str)
        With a sentence, and with its translation.
    n : int
        Documents on each side.
    out : Path
        A folder.
    seed : int
    """
    table = pq.read_table(sentences, columns=list(columns))
    sides = [table[name].to_pylist() for name in columns]
    chance = np.random.default_rng(seed)
    lengths = chance.integers(6, 15, n)
    texts: tuple[list[str], list[str]] = ([], [])
    for i in range(n):
        chosen = chance.integers(0, len(table), lengths[i])
        texts[0].append("\n".join(sides[0][j] for j in chosen))
        if i >= SHARE_TRANSLATED * n:
            chosen = chance.integers(0, len(table), lengths[i])
        texts[1].append("\n".join(sides[1][j] for j in chosen))
    order = chance.permutation(n)
    paths = out / f"left-{n}.parquet", out / f"right-{n}.parquet"
    ids = pa.array([f"d{i}" for i in range(n)])
    pq.write_table(pa.table({"id": ids, "text": texts[0]}), paths[0])
    pq.write_table(pa.table({"id": ids.take(pa.array(order)), "text": [texts[1][i] for i in order]}), paths[1])
    return paths
