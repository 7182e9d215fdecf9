"""Result → tables that only the report page has: by source, by the values of a column, by threshold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from nearkin.records import I64, Bool, Matches
from nearkin.reports.dedup.page import PartRow, ThresholdRow
from nearkin.stages.grouping.principals import group
from nearkin.workflows.dedup.corpus import NO_NODE, UNREADABLE, Corpus
from nearkin.workflows.dedup.grouping import prefer
from nearkin.workflows.dedup.options import DedupOptions
from nearkin.workflows.dedup.outcome import UNREADABLE_TEXT, Outcome
from nearkin.workflows.dedup.row_places import Places

THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


def by_source(corpus: Corpus, outcome: Outcome, places: Places) -> list[PartRow]:
    """Count the documents and characters of each input file, all and dropped; the most dropped first.

    Where most files hold one document, folders are counted instead.
    """
    names = list(places.source_names[: int(places.source[: corpus.n_inputs].max(initial=-1)) + 1])
    if len(names) > corpus.n_inputs / 2:
        names = [name.rpartition("/")[0] or name for name in names]
    parts = list(dict.fromkeys(names))
    numbers = {name: i for i, name in enumerate(parts)}
    part_of_file = np.array([numbers[name] for name in names], np.int64)
    return _by_part(parts, part_of_file[places.source[: corpus.n_inputs]], corpus, outcome)


def by_value(corpus: Corpus, outcome: Outcome, values: pa.DictionaryArray) -> list[PartRow]:
    """Count as `by_source` does, by the value of each document; documents without a value have a separate row."""
    part = values.indices.fill_null(len(values.dictionary)).to_numpy(zero_copy_only=False).astype(np.int64)
    return _by_part([*values.dictionary.to_pylist(), None], part, corpus, outcome)


def _by_part(parts: Sequence[str | None], part: I64, corpus: Corpus, outcome: Outcome) -> list[PartRow]:
    """Count by the part of each document; parts without documents are omitted."""
    n_characters = corpus.n_characters[: corpus.n_inputs]
    is_dropped = ~outcome.keep & (outcome.reason != UNREADABLE_TEXT)

    def count(chosen: Bool | slice, weights: I64 | None = None) -> I64:
        of_chosen = None if weights is None else weights[chosen]
        return np.bincount(part[chosen], of_chosen, len(parts)).astype(np.int64)

    everything = slice(None)
    columns = [count(everything), count(is_dropped), count(everything, n_characters), count(is_dropped, n_characters)]
    n_documents, n_dropped = columns[:2]
    order = np.lexsort((np.arange(len(parts)), -n_documents, -n_dropped))
    return [
        PartRow(
            name=parts[i],
            n_documents=int(columns[0][i]),
            n_dropped=int(columns[1][i]),
            n_characters=int(columns[2][i]),
            n_characters_dropped=int(columns[3][i]),
        )
        for i in order.tolist()
        if n_documents[i]
    ]


def by_threshold(corpus: Corpus, matches: Matches, options: DedupOptions, *, searched: float) -> list[ThresholdRow]:
    """Group the documents at other thresholds, as ``nearkin regroup`` would.

    Parameters
    ----------
    matches : Matches
        All verified matches of texts, down to the threshold of the search.
    searched : float
        Threshold of the search; lower ones have no counts, because pairs below it were not looked for.

    Returns
    -------
    list of ThresholdRow
        Empty for a run that compares two sets or has no threshold.
    """
    if corpus.is_against or options.min_shared is not None:
        return []
    order, similarity = prefer(corpus, options).node_order, options.measure.similarity(matches)
    n_of_node = np.bincount(corpus.node[corpus.node != NO_NODE], minlength=corpus.n_nodes)
    n_copies = int(n_of_node.sum()) - corpus.n_nodes
    n_readable = len(corpus) - int((corpus.status == UNREADABLE).sum())
    rows = []
    for threshold in sorted({*THRESHOLDS, options.threshold}):
        if threshold < searched:
            rows.append(ThresholdRow(threshold))
            continue
        chosen = similarity >= threshold
        principal = group(matches.where(chosen), similarity[chosen], order, rule=options.group).principal
        n_in_group = np.bincount(principal, n_of_node, corpus.n_nodes)
        n_kept = int((n_in_group > 0).sum())  # a principal a group, the document itself where it is alone
        n_pairs = int(chosen.sum()) + n_copies
        rows.append(ThresholdRow(threshold, n_pairs, int((n_in_group >= 2).sum()), n_readable - n_kept))
    return rows
