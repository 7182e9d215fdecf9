"""A look at a few texts before the search is planned."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from nearkin import kernels
from nearkin.planning.search import Sample
from nearkin.records import U64
from nearkin.runs.spool import texts_of
from nearkin.stages.features.shingles import Shingling
from nearkin.stages.search.exhaustive import all_pairs
from nearkin.stages.verification.overlap import verify
from nearkin.workflows.dedup.corpus import Corpus

N_SAMPLED = 300


def look(corpus: Corpus, shingle: Shingling) -> Sample:
    """Compare up to `N_SAMPLED` texts with one another, exactly.

    They are the ones with the least hashes of their place in the reading order: spread evenly, and the same in every
    run.
    """
    rows = corpus.first_row[_spread(corpus.n_nodes)]
    texts = pa.array(texts_of(corpus.chunks, rows.tolist()), pa.large_string())
    sets = shingle.sets(texts)
    parts = [verify(pairs, sets.hashes, sets.offsets[:-1], sets.offsets[1:]) for pairs in all_pairs(len(sets))]
    similarity = np.concatenate([part.jaccard for part in parts]) if parts else np.zeros(0)
    n_common = np.concatenate([part.n_common for part in parts]).astype(np.int64) if parts else np.zeros(0, np.int64)
    return Sample(corpus.n_nodes, sets.sizes, similarity, n_common)


def _spread(n_nodes: int) -> U64:
    """Up to `N_SAMPLED` numbers below ``n_nodes``, in rising order."""
    if n_nodes <= N_SAMPLED:
        return np.arange(n_nodes, dtype=np.uint64)
    places = np.arange(N_SAMPLED + 1, dtype=np.uint64)
    hashes = kernels.twin("sketch", 0).round_constants(N_SAMPLED, 0)[:N_SAMPLED]
    bounds = places * np.uint64(n_nodes) // np.uint64(N_SAMPLED)  # one from each of as many equal stretches
    chosen: U64 = bounds[:-1] + hashes % (bounds[1:] - bounds[:-1])
    return chosen
