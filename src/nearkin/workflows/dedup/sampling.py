"""Sample of texts, taken before the search is planned."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from nearkin.kernels.sketch import round_constants
from nearkin.planning.search import Sample
from nearkin.records import I64, U64, Bool, Matches
from nearkin.runs.spool import texts_of
from nearkin.stages.search.exhaustive import common_counts
from nearkin.workflows.dedup.corpus import Corpus
from nearkin.workflows.dedup.options import DedupOptions

_LEAST, _MOST = 300, 2_000
_MAX_CHARACTERS = 32 << 20


def look(corpus: Corpus, options: DedupOptions) -> Sample:
    """Compare a sample of texts with one another, exactly.

    The sample is spread evenly over the reading order, and is the same in every run. A larger collection has more
    unrelated pairs, so its sample is larger. Two collections share the sample, and pairs go across only.
    """
    n_mine = int(np.searchsorted(corpus.first_row, corpus.n_inputs))  # texts are numbered in reading order
    nodes = chosen_nodes(n_mine, corpus.n_nodes - n_mine)
    nodes = compared(nodes, corpus.n_characters[corpus.first_row[nodes]])
    texts = texts_of(corpus.chunks, corpus.first_row[nodes].tolist())
    return sample_of(texts, nodes < n_mine, n_mine, corpus.n_nodes, options, is_against=corpus.is_against)


def look_ahead(corpus: Corpus, n_texts: int, options: DedupOptions) -> Sample:
    """Return the sample that `look` would take from a similar collection of ``n_texts``, at least as many as here."""
    nodes = _spread(corpus.n_nodes, n_texts)
    nodes = compared(nodes, corpus.n_characters[corpus.first_row[nodes]])
    texts = texts_of(corpus.chunks, corpus.first_row[nodes].tolist())
    return sample_of(texts, np.ones(len(nodes), np.bool_), n_texts, n_texts, options, is_against=False)


def chosen_nodes(n_mine: int, n_others: int) -> U64:
    """Return the texts of the sample, in ascending order."""
    mine, others = _spread(n_mine, n_mine), _spread(n_others, n_others)
    return np.concatenate([mine, others + np.uint64(n_mine)])


def compared(nodes: U64, n_characters: I64) -> U64:
    """Return the chosen texts that are compared: fewer are enough if documents are long."""
    return nodes[:: 1 + int(n_characters.sum()) // _MAX_CHARACTERS]


def sample_of(
    texts: Sequence[str], is_mine: Bool, n_mine: int, n_nodes: int, options: DedupOptions, *, is_against: bool
) -> Sample:
    """Compare the chosen texts of a collection.

    Parameters
    ----------
    texts : sequence of str
        Distinct texts, in reading order.
    is_mine : bool array, shape (n_texts,)
        Whether each text is to be cleaned, rather than of the other set.
    n_mine, n_nodes : int
        Numbers of texts to clean, and of all texts.
    options : DedupOptions
    is_against : bool
        Whether pairs go across only.
    """
    sets = options.shingle.sets(pa.array(texts, pa.large_string()))
    a, b = np.triu_indices(len(sets), 1)
    if is_against:
        crosses = is_mine[a] & ~is_mine[b]
        a, b = a[crosses], b[crosses]
    n_common = common_counts(sets)[a, b]
    union = sets.sizes[a] + sets.sizes[b] - n_common
    n_shingles = np.maximum(sets.sizes, 1)
    columns = (a, b, n_common, n_shingles[a], n_shingles[b])
    return Sample(
        n_documents=n_nodes,
        n_pairs=n_mine * (n_nodes - n_mine) if is_against else n_mine * (n_mine - 1) / 2,
        sizes=sets.sizes,
        similarity=n_common / np.maximum(union, 1),
        n_common=n_common,
        is_match=options.is_match(Matches(*(column.astype(np.uint32) for column in columns))),
    )


def _spread(n_nodes: int, n_texts: int) -> U64:
    """Return numbers below ``n_nodes``, ascending, one from each of equal stretches; for ``n_texts``."""
    n = min(max(_LEAST, math.isqrt(n_texts)), _MOST)
    if n_nodes <= n:
        return np.arange(n_nodes, dtype=np.uint64)
    bounds = np.arange(n + 1, dtype=np.uint64) * np.uint64(n_nodes) // np.uint64(n)
    hashes = round_constants(n, 0)[:n]
    return bounds[:-1] + hashes % (bounds[1:] - bounds[:-1])
