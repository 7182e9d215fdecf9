"""Planted pairs of a generated corpus, looked up in a finished run: the truth where the whole of it is out of reach."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset

from corpus import Corpus, Lengths, Manifest, document, plan_layout
from judge import I64, Share, components
from sources import sentence_pool
from truth import SHINGLE_WORDS, jaccard, number_shingles, pair_keys
from words import RULES

THRESHOLD = 0.8
SAMPLE_FAMILIES = 4_000


def check_sample(manifest: Manifest, data: Path | None, run_folder: Path) -> tuple[Share, int, int]:
    """(recall of planted pairs, reported pairs checked, untrue ones among them) of a sample of families."""
    sample = Sample.draw(manifest, data)
    ids = pa.array([_id(row) for row in sample.rows.tolist()])
    reported = _where(run_folder / "pairs.parquet", ["id_a", "id_b"], ids, ["id_a", "id_b", "jaccard"])
    copies = _where(run_folder / "documents.parquet", ["id"], ids, ["id", "copy_of"])
    a, b = _rows(reported.column("id_a")), _rows(reported.column("id_b"))
    n_untrue = sample.n_untrue(a, b, reported.column("jaccard").to_numpy())
    copy_of = copies.column("copy_of").combine_chunks()
    is_copy = copy_of.is_valid().to_numpy(zero_copy_only=False)
    stands_for = components(
        manifest.documents, _rows(copies.column("id"))[is_copy], _rows(pa.chunked_array([copy_of.drop_null()]))
    )
    true_a, true_b = sample.true_pairs()
    true_a, true_b = stands_for[true_a], stands_for[true_b]
    found = np.isin(pair_keys(true_a, true_b), pair_keys(stands_for[a], stands_for[b])) | (true_a == true_b)
    return Share(int(found.sum()), len(found)), len(a), n_untrue


@dataclass(frozen=True, slots=True)
class Sample:
    """Some families of a corpus, whose texts can be made again.

    Parameters
    ----------
    corpus : Corpus
    rows : int64 array
        All documents of the families drawn, sorted.
    """

    corpus: Corpus
    rows: I64

    @classmethod
    def draw(cls, manifest: Manifest, data: Path | None) -> Sample:
        """Families of two and more, drawn by the seed of the corpus."""
        pool = sentence_pool(data)
        layout = plan_layout(manifest.documents, manifest.seed)
        corpus = Corpus(pool, layout, Lengths.of(pool, manifest.mean_bytes), manifest)
        families = np.flatnonzero(np.bincount(layout.family) > 1)
        random = np.random.Generator(np.random.PCG64([manifest.seed, manifest.documents]))
        drawn = random.choice(families, min(SAMPLE_FAMILIES, len(families)), replace=False)
        return cls(corpus, np.flatnonzero(np.isin(layout.family, drawn)).astype(np.int64))

    def jaccard(self, a: I64, b: I64) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """Exact Jaccard of pairs of rows, from texts made again."""
        rows, places = np.unique(np.concatenate([a, b]), return_inverse=True)
        layout, manifest = self.corpus.layout, self.corpus.manifest
        texts = (
            document(
                self.corpus.pool, int(layout.family[row]), int(layout.member[row]), manifest.seed, self.corpus.lengths
            )
            for row in rows.tolist()
        )
        sets = number_shingles((text for text, _, _ in texts), RULES["nearkin"], SHINGLE_WORDS)
        return jaccard(sets, places[: len(a)], places[len(a) :])

    def true_pairs(self) -> tuple[I64, I64]:
        """Pairs inside families at or above the threshold."""
        members: dict[int, list[int]] = {}
        for row in self.rows.tolist():
            members.setdefault(int(self.corpus.layout.family[row]), []).append(row)
        pairs = [(a, b) for rows in members.values() for at, a in enumerate(rows) for b in rows[at + 1 :]]
        a, b = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        similar = self.jaccard(a, b) >= THRESHOLD
        return a[similar], b[similar]

    def n_untrue(self, a: I64, b: I64, reported: np.ndarray[tuple[int], np.dtype[np.float64]]) -> int:
        """Reported pairs that are below the threshold or whose similarity is not the exact one."""
        if not len(a):
            return 0
        exact = self.jaccard(a, b)
        return int(((exact < THRESHOLD) | (np.abs(exact - reported) > 1e-12)).sum())


def _where(path: Path, keys: list[str], ids: pa.Array, columns: list[str]) -> pa.Table:
    """The rows of a Parquet file in which one of the keys is among the ids, without reading it all at once."""
    dataset = pyarrow.dataset.dataset(path)
    condition = None
    for key in keys:
        one = pc.field(key).isin(ids.cast(dataset.schema.field(key).type))
        condition = one if condition is None else condition | one
    return dataset.to_table(columns=columns, filter=condition)


def _id(row: int) -> str:
    """The id that the generator gives a row."""
    return f"d{row:08d}"


def _rows(ids: pa.ChunkedArray) -> I64:
    """Rows from ids."""
    return np.asarray(pc.cast(pc.utf8_slice_codeunits(ids.cast(pa.string()), 1), pa.int64()).to_numpy(), dtype=np.int64)
