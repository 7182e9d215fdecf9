"""Texts made ready as ``nearkin dedup`` makes them, pairs of them compared exactly, tables printed as Markdown."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from nearkin.engines.local import map_ordered
from nearkin.records import F64, U32, Candidates, ShingleSets
from nearkin.stages.documents.normalisation import Normalisation
from nearkin.stages.features.shingles import Characters, Shingling, Words
from nearkin.stages.verification.overlap import verify

SHINGLES: tuple[Shingling, ...] = (
    *(Words(n) for n in (1, 2, 3, 4, 5, 7)),
    *(Characters(n) for n in (4, 5, 8, 12, 24)),
)
THRESHOLDS = tuple(round(0.5 + 0.05 * i, 2) for i in range(10))
_BLOCK_PAIRS = 100_000


def data_folder(description: str | None) -> Path:
    """The folder given with ``--data``."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--data", type=Path, required=True, help="folder with the collections")
    return Path(parser.parse_args().data)


def normalised(texts: Iterable[str]) -> pa.LargeStringArray:
    """As the default of ``--normalise`` leaves them."""
    return Normalisation().apply(pa.array(list(texts), pa.large_string()))


def column(path: Path, name: str) -> list[str]:
    """One column of a Parquet file."""
    values: list[str] = pq.read_table(path, columns=[name])[name].to_pylist()
    return values


def jaccard(sets: ShingleSets, left: U32, right: U32, *, containment: bool = False) -> F64:
    """The exact similarity of pairs of rows; fast where equal left rows follow one another."""
    left, right = left.astype(np.uint32), right.astype(np.uint32)
    blocks = [
        Candidates(left[i : i + _BLOCK_PAIRS], right[i : i + _BLOCK_PAIRS]) for i in range(0, len(left), _BLOCK_PAIRS)
    ]
    starts, ends = sets.offsets[:-1], sets.offsets[1:]
    measure = "containment" if containment else "jaccard"
    parts = map_ordered(lambda block: verify(block, sets.hashes, starts, ends).similarity(measure), blocks, threads=2)
    return np.concatenate([np.zeros(0), *parts])


def random_pairs(n_rows: int, n_pairs: int, seed: int = 0) -> tuple[U32, U32]:
    """Distinct pairs of distinct rows, sorted: at most ``n_pairs``."""
    drawn = np.random.default_rng(seed).integers(0, n_rows, (2, n_pairs))
    low, high = drawn.min(axis=0), drawn.max(axis=0)
    codes = np.unique((low * n_rows + high)[low < high])
    return (codes // n_rows).astype(np.uint32), (codes % n_rows).astype(np.uint32)


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """A Markdown table under its title; the first column is words, the others are numbers."""
    print(f"\n**{title}**\n")
    print("| " + " | ".join(columns) + " |")
    print("|---" * 1 + "|---:" * (len(columns) - 1) + "|")
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |", flush=True)
