"""Result → tables that only the report page has: by source, by the values of a column, by threshold."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from nearkin.manifests.inputs import InputFile
from nearkin.records import I64, Bool, Matches
from nearkin.reports.dedup.page import PartRow, ThresholdRow
from nearkin.stages.documents.formats import is_of_documents
from nearkin.stages.grouping import group
from nearkin.workflows.dedup.corpus import NO_NODE, UNREADABLE, Corpus
from nearkin.workflows.dedup.grouping import prefer
from nearkin.workflows.dedup.options import DedupOptions
from nearkin.workflows.dedup.outcome import UNREADABLE_TEXT, Outcome
from nearkin.workflows.dedup.row_places import Places

THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


def by_source(corpus: Corpus, outcome: Outcome, places: Places, files: Mapping[int, InputFile]) -> list[PartRow]:
    """Count the documents and characters of each input file, all and dropped; the most dropped first.

    A folder is counted as a whole if most of its files hold one document; tables there are judged on their own.

    Parameters
    ----------
    files : Mapping
        Number of a source to its file, as far as it is known.
    """
    source = places.source[: corpus.n_inputs]
    names = places.source_names[: int(source.max(initial=-1)) + 1]
    told = [files.get(i, InputFile(path=name)) for i, name in enumerate(names)]
    kinds = [(os.path.dirname(one.path), is_of_documents(one.format)) for one in told]
    n_files, n_inside = Counter(kinds), Counter[tuple[str, bool]]()
    for kind, n in zip(kinds, np.bincount(source, minlength=len(names)).tolist(), strict=True):
        n_inside[kind] += n
    are_most_loose = len(names) > corpus.n_inputs / 2
    is_whole = {kind: are_most_loose or 1 < n > n_inside[kind] / 2 for kind, n in n_files.items()}
    shown = [kind[0] if kind[0] and is_whole[kind] else name for kind, name in zip(kinds, names, strict=True)]
    parts = list(dict.fromkeys(shown))
    numbers = {name: i for i, name in enumerate(parts)}
    part_of_file = np.array([numbers[name] for name in shown], np.int64)
    return _by_part(parts, part_of_file[source], corpus, outcome)


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
