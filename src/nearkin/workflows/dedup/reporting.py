"""Result → report page."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa

from nearkin.manifests.dedup import REASONS, DedupManifest
from nearkin.manifests.stored import InputFile
from nearkin.options.dedup import DedupOptions
from nearkin.planning.search import SamplingPlan
from nearkin.records import F64, I64, U32, Bool, Matches
from nearkin.reports.dedup import DroppedRow, GroupRow, MemberRow, RecallCurve, RunNote, SamplePair, render_dedup_report
from nearkin.reports.facts.fact import Table
from nearkin.reports.pages import problems_table, short_name
from nearkin.reports.quantities import parameter_text, percent_text
from nearkin.runs.run import JobRun
from nearkin.runs.spool import Chunk, texts_of
from nearkin.stages.documents.formats import is_of_documents
from nearkin.stages.grouping import group
from nearkin.workflows.dedup.corpus import NO_NODE, UNREADABLE, Corpus
from nearkin.workflows.dedup.job import Result
from nearkin.workflows.dedup.outcome import NO_ROW, UNREADABLE_TEXT, GroupTable, Judged, Outcome, prefer
from nearkin.workflows.dedup.plans import Plan
from nearkin.workflows.dedup.row_places import Places
from nearkin.workflows.dedup.whole_families import with_families
from nearkin.workflows.reading.texts import EXCEPTIONS_FILE, ExceptionRow

_N_SAMPLES = 12
_N_CANDIDATES = 1_000
_N_LEAST_ALIKE = 6
_N_GROUPS = 20
_N_MEMBERS = 25
_N_DROPPED = 100
_N_PROBLEMS = 50
_N_PARTS = 50
_LONGEST_BEGINNING = 1_000  # characters; a page shows fewer
_BIN_EDGES = np.round(np.linspace(0.0, 1.0, 51), 2)


def render_page(
    run: JobRun,
    manifest: DedupManifest,
    options: DedupOptions,
    *,
    corpus: Corpus,
    judged: Judged,
    places: Places,
    plan: Plan,
    matches: Matches,
    searched: float,
    files: Mapping[int, InputFile],
    samples: Sequence[SamplePair] = (),
) -> str:
    """Return ``report.html`` of a run whose tables are written.

    Parameters
    ----------
    matches
        All verified matches of texts, down to the threshold ``searched``.
    """
    groups, outcome = judged.groups, judged.outcome
    similarity = options.measure.similarity(judged.matches)
    return render_dedup_report(
        manifest,
        similarity_bin_edges=_BIN_EDGES.tolist(),
        similarity_counts=np.histogram(similarity, _BIN_EDGES)[0].tolist(),
        group_size_counts=_group_sizes(groups),
        largest_groups=largest_groups(groups, outcome, places, corpus.chunks),
        samples=list(samples),
        problems=first_problems(places),
        parts=[*by_source(corpus, outcome, places, files), *by_carried(corpus, outcome, places)],
        thresholds=by_threshold(corpus, matches, options, places, searched=searched),
        run=_run_note(run, manifest),
        curve=sampling_curve(plan) if isinstance(plan, SamplingPlan) else None,
        exceptions=first_exceptions(places.exceptions),
        dropped=most_similar_dropped(outcome, places, corpus.chunks) if manifest.is_against else (),
    )


def render_new_page(run: JobRun, manifest: DedupManifest, result: Result, options: DedupOptions) -> str:
    """Return ``report.html`` of a run that has just compared its documents."""
    return render_page(
        run,
        manifest,
        options,
        corpus=result.corpus,
        judged=result.judged,
        places=result.places,
        plan=result.plan,
        matches=result.verified.matches,
        searched=options.threshold,
        files=dict(enumerate(manifest.inputs)),
        samples=_samples(result, options),
    )


def _run_note(run: JobRun, manifest: DedupManifest) -> RunNote:
    with_groups = [] if manifest.is_against else ["groups.parquet"]  # of a run against another set it is empty
    names = ["documents.parquet", "pairs.parquet", *with_groups, "against.parquet", "problems.parquet"]
    note = RunNote.now(run.results, run.meter.elapsed_s, [*names, EXCEPTIONS_FILE])
    return replace(note, files=(*note.files, *(["kept/"] if manifest.kept else []), "manifest.json"))


def other_page(out: Path, manifest: DedupManifest) -> str:
    """Return how to make the page later, if the tables have enough data."""
    if manifest.command != "dedup" or manifest.against:
        return "Run the command again with --overwrite to create the report."
    return f"To create the report without sample texts: nearkin regroup {out} --threshold {manifest.threshold}"


def _group_sizes(table: GroupTable) -> dict[int, int]:
    sizes, n = np.unique(table.size, return_counts=True)
    return dict(zip(sizes.tolist(), n.tolist(), strict=True))


def largest_groups(
    table: GroupTable, outcome: Outcome, places: Places, chunks: tuple[Chunk, ...] = ()
) -> list[GroupRow]:
    """Return the largest groups, each with some of its documents."""
    chosen = np.argsort(-table.size, kind="stable")[:_N_GROUPS]
    listed = _Listed.of(table.principal[chosen], outcome)
    names = places.names_at(table.principal[chosen])
    texts = texts_of(chunks, table.principal[chosen].astype(np.int64)) if chunks else [None] * len(names)
    return [
        GroupRow(
            group=name,
            size=int(table.size[i]),
            lowest_similarity=float(table.lowest[i]),
            n_bridges_refused=int(table.bridges_refused[i]),
            n_exact_copies=int(table.n_exact_copies[i]),
            is_lowest_exact=bool(table.is_lowest_exact[i]),
            members=_members(listed.rows_of(number)[:_N_MEMBERS], outcome, places),
            text=texts[number],
        )
        for number, (name, i) in enumerate(zip(names, chosen, strict=True))
    ]


@dataclass(frozen=True, slots=True)
class _Listed:
    """Documents of some groups: each principal, followed by its others in ascending order of similarity."""

    rows: I64
    starts: I64

    @classmethod
    def of(cls, principals: U32, outcome: Outcome) -> _Listed:
        rows = np.flatnonzero(np.isin(outcome.principal, principals))
        principal = outcome.principal[rows]
        by_row = np.argsort(principals)
        number = by_row[np.searchsorted(principals[by_row], principal)]
        similarity = np.nan_to_num(outcome.similarity[rows], nan=-1.0)
        order = np.lexsort((rows, similarity, principal != rows, number))
        return cls(rows[order], np.searchsorted(number[order], np.arange(len(principals) + 1)))

    def rows_of(self, number: int) -> I64:
        return self.rows[self.starts[number] : self.starts[number + 1]]


def _members(rows: I64, outcome: Outcome, places: Places) -> tuple[MemberRow, ...]:
    similarity, copy_of = outcome.similarity[rows], outcome.copy_of[rows]
    is_copy = copy_of != NO_ROW
    copied = iter(places.names_at(copy_of[is_copy]))
    return tuple(
        MemberRow(
            doc_id=name,
            where=places.shown_place(row),
            similarity=None if np.isnan(similarity[i]) else float(similarity[i]),
            reason=REASONS[int(outcome.reason[row])],
            is_principal=bool(outcome.principal[row] == row),
            copy_of=next(copied) if is_copy[i] else None,
        )
        for i, (name, row) in enumerate(zip(places.names_at(rows), rows.tolist(), strict=True))
    )


def most_similar_dropped(outcome: Outcome, places: Places, chunks: tuple[Chunk, ...]) -> list[DroppedRow]:
    """Return the dropped documents most similar to one of another set."""
    dropped = np.flatnonzero((outcome.principal != NO_ROW) & ~outcome.keep)
    rows = dropped[np.argsort(-outcome.similarity[dropped], kind="stable")[:_N_DROPPED]]
    matches = outcome.principal[rows].astype(np.int64)
    names, texts = places.names_at(np.concatenate([rows, matches])), _beginnings(chunks, [*rows, *matches])
    return [
        DroppedRow(
            doc_id=names[i],
            where=places.shown_place(row),
            match_id=names[len(rows) + i],
            match_where=places.shown_place(match),
            similarity=float(outcome.similarity[row]),
            reason=REASONS[int(outcome.reason[row])],
            text=texts[i],
            match_text=texts[len(rows) + i],
        )
        for i, (row, match) in enumerate(zip(rows.tolist(), matches.tolist(), strict=True))
    ]


def _beginnings(chunks: tuple[Chunk, ...], rows: Sequence[int]) -> list[str]:
    return [texts_of(chunks, [row])[0][:_LONGEST_BEGINNING] for row in rows]


def first_problems(places: Places) -> Table:
    """Tabulate the first documents that have details."""
    rows = sorted(places.problems)[:_N_PROBLEMS]
    shown = [(places.shown_place(row), places.names[row].as_py(), places.problems[row]) for row in rows]
    return problems_table(shown, len(places.problems))


def first_exceptions(exceptions: Sequence[ExceptionRow]) -> Table:
    """Tabulate the first exceptions."""
    rows = [
        (
            short_name(exception.doc_id),
            exception.kind or "–",
            exception.exception,
            "in part" if exception.is_partial else "none",
            exception.sentence,
        )
        for exception in exceptions[:_N_PROBLEMS]
    ]
    more = f"The first {len(rows):,} are listed; all of them are in {EXCEPTIONS_FILE}." * (len(rows) < len(exceptions))
    return Table(("Document", "Kind", "Exception", "Text", "Why"), rows, caption=more)


def _samples(result: Result, options: DedupOptions) -> list[SamplePair]:
    least_alike = _least_alike(result)
    near = result.judged.matches.where(~result.judged.is_copy)
    near = near.where(~_is_among(least_alike, near))
    chosen = _spread(near, options.measure.similarity(near), result, used=[a for a, _ in least_alike])
    sample = near.where(chosen)
    pairs = [*least_alike, *zip(sample.left.tolist(), sample.right.tolist(), strict=True)]
    similarity = [
        *(float(result.judged.outcome.similarity[member]) for _, member in least_alike),
        *options.measure.similarity(sample).tolist(),
    ]
    rows = np.array(pairs, np.int64).reshape(-1, 2).T.ravel()
    texts, names = texts_of(result.corpus.chunks, rows.tolist()), result.places.names_at(rows)
    principal = result.judged.outcome.principal
    return [
        SamplePair(
            id_a=names[i],
            id_b=names[len(pairs) + i],
            source_a=result.places.shown_place(a),
            source_b=result.places.shown_place(b),
            similarity=similarity[i],
            measure=options.measure.name,
            text_a=texts[i],
            text_b=texts[len(pairs) + i],
            is_least_alike=i < len(least_alike),
            is_bridge=not result.corpus.is_against and bool(principal[a] != principal[b]),
        )
        for i, (a, b) in enumerate(pairs)
    ]


def _least_alike(result: Result) -> list[tuple[int, int]]:
    outcome = result.judged.outcome
    principals = result.judged.groups.principal[np.argsort(-result.judged.groups.size, kind="stable")[:_N_GROUPS]]
    listed = _Listed.of(principals, outcome)
    pairs = []
    for number, principal in enumerate(principals.tolist()):
        others = listed.rows_of(number)[1:]
        is_other_text = (outcome.copy_of[others] == NO_ROW) & ~np.isnan(outcome.similarity[others])
        pairs += [(principal, member) for member in others[is_other_text][:1].tolist()]
    return pairs[:_N_LEAST_ALIKE]


def _is_among(pairs: list[tuple[int, int]], matches: Matches) -> Bool:
    is_among = np.zeros(len(matches), np.bool_)
    for pair in pairs:
        start, stop = np.searchsorted(matches.left, np.array([min(pair), min(pair) + 1], np.uint32))
        is_among[start:stop] |= matches.right[start:stop] == max(pair)
    return is_among


def _spread(near: Matches, similarity: F64, result: Result, used: list[int]) -> I64:
    """Return up to `_N_SAMPLES` matches from different groups, spread evenly over the range of similarities."""
    if not len(near):
        return np.zeros(0, np.int64)
    order = np.lexsort((near.right, near.left, similarity))
    rising = similarity[order]
    group = np.arange(len(result.corpus), dtype=np.uint32)
    group[: len(result.judged.outcome.principal)] = result.judged.outcome.principal
    of_left, of_right = group[near.left[order]], group[near.right[order]]
    starts = np.searchsorted(rising, np.linspace(rising[0], rising[-1], _N_SAMPLES))
    chosen, used = [], list(used)
    for start, stop in pairwise([*np.unique(np.minimum(starts, len(near) - 1)).tolist(), len(near)]):
        is_used = np.isin(of_left[start:stop], used) | np.isin(of_right[start:stop], used)
        place = start + int(np.argmin(is_used))
        chosen.append(place)
        used += [int(of_left[place]), int(of_right[place])]
    n_input = len(result.judged.outcome.principal)
    if n_input < len(result.corpus):  # one document of the other set may be the match of many
        of_left, of_right = near.left[order], near.right[order]
        used = [row for place in chosen for row in (int(of_left[place]), int(of_right[place])) if row < n_input]
    return order[_filled(chosen, used, of_left, of_right, n_input)]


def _filled(chosen: list[int], used: Sequence[int], left: U32, right: U32, n_input: int) -> list[int]:
    seen, filled = set(used), list(chosen)
    for place in np.unique(np.linspace(0, len(left) - 1, _N_CANDIDATES).astype(np.int64)).tolist():
        if len(filled) >= _N_SAMPLES:
            break
        pair = {row for row in (int(left[place]), int(right[place])) if row < n_input}
        if pair.isdisjoint(seen):
            filled.append(place)
            seen |= pair
    return filled


def sampling_curve(plan: SamplingPlan) -> RecallCurve:
    """Return the probability of finding pairs by sampled shingles, for the smallest texts searched that way."""
    similarities = np.linspace(0.0, 1.0, 101)
    n_smaller = np.full(101, plan.exact_below)
    return (similarities.tolist(), plan.found_probability(np.ceil(similarities * n_smaller - 1e-9), n_smaller).tolist())


_MAX_VALUES = 100
"""Maximum number of values of a column that the page counts by."""
THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


def by_source(corpus: Corpus, outcome: Outcome, places: Places, files: Mapping[int, InputFile]) -> Iterator[Table]:
    """Count the documents and characters of each input file, all and dropped; the most dropped first."""
    source = places.source[: corpus.n_inputs]
    names = places.source_names[: int(source.max(initial=-1)) + 1]
    files_of_inputs = [files.get(i, InputFile(path=name)) for i, name in enumerate(names)]
    kinds = [(os.path.dirname(input_file.path), is_of_documents(input_file.format)) for input_file in files_of_inputs]
    n_files, n_inside = Counter(kinds), Counter[tuple[str, bool]]()
    for kind, n in zip(kinds, np.bincount(source, minlength=len(names)).tolist(), strict=True):
        n_inside[kind] += n
    are_most_loose = len(names) > corpus.n_inputs / 2
    is_whole = {kind: are_most_loose or 1 < n > n_inside[kind] / 2 for kind, n in n_files.items()}
    shown = [kind[0] if kind[0] and is_whole[kind] else name for kind, name in zip(kinds, names, strict=True)]
    parts = list(dict.fromkeys(shown))
    numbers = {name: i for i, name in enumerate(parts)}
    part_of_file = np.array([numbers[name] for name in shown], np.int64)
    if len(parts) > 1:
        yield _by_part("source", parts, part_of_file[source], corpus, outcome)


def by_carried(corpus: Corpus, outcome: Outcome, places: Places) -> Iterator[Table]:
    """Count as `by_source` does, by the values of each carried column that has few."""
    columns = ((name, column.cast(pa.large_string()).dictionary_encode()) for name, column in places.carried.items())
    for name, values in columns:
        if len(values.dictionary) <= _MAX_VALUES:
            part = values.indices.fill_null(len(values.dictionary)).to_numpy(zero_copy_only=False).astype(np.int64)
            parts = [value or "(empty)" for value in values.dictionary.to_pylist()]
            yield _by_part(short_name(name), [*parts, "(no value)"], part, corpus, outcome)


def _by_part(header: str, parts: Sequence[str], part: I64, corpus: Corpus, outcome: Outcome) -> Table:
    n_characters = corpus.n_characters[: corpus.n_inputs]
    is_dropped = ~outcome.keep & (outcome.reason != UNREADABLE_TEXT)

    def count(chosen: Bool | slice, weights: I64 | None = None) -> I64:
        of_chosen = None if weights is None else weights[chosen]
        return np.bincount(part[chosen], of_chosen, len(parts)).astype(np.int64)

    everything = slice(None)
    columns = [count(everything), count(is_dropped), count(everything, n_characters), count(is_dropped, n_characters)]
    n_documents, n_dropped = columns[:2]
    order = np.lexsort((np.arange(len(parts)), -n_documents, -n_dropped))
    listed = [i for i in order.tolist() if n_documents[i]]
    rows = []
    for i in listed[:_N_PARTS]:
        n_all, n_less, n_long, n_cut = (int(column[i]) for column in columns)
        shares = percent_text(n_less, n_all), percent_text(n_cut, n_long)
        rows.append(
            (f"{n_all:,}", f"{n_less:,}", shares[0], f"{n_long:,}", f"{n_cut:,}", shares[1], short_name(parts[i]))
        )
    most = f": the {_N_PARTS} with the most dropped documents, of {len(listed):,}" * (len(listed) > _N_PARTS)
    columns_of_page = "Documents", "Dropped", "Share dropped", "Characters", "Dropped", "Share dropped", header
    return Table(columns_of_page, rows, 6, f"What was dropped, by {header}{most}.")


def by_threshold(
    corpus: Corpus, matches: Matches, options: DedupOptions, places: Places, *, searched: float
) -> Table | None:
    """Group the documents at other thresholds, as ``nearkin regroup`` would; None without a threshold."""
    if corpus.is_against or options.min_shared is not None:
        return None
    preference, similarity = prefer(corpus, options), options.measure.similarity(matches)
    has_text, roots, unread = corpus.node != NO_NODE, places.family_roots(), places.same_unread()
    apart = options.is_apart(matches)
    n_of_node = np.bincount(corpus.node[has_text], minlength=corpus.n_nodes)
    n_copies = int(n_of_node.sum()) - corpus.n_nodes
    n_readable = len(corpus) - int((corpus.status == UNREADABLE).sum())
    rows = []
    for threshold in sorted({*THRESHOLDS, options.threshold}):
        if threshold < searched:
            rows.append((parameter_text(threshold), *"––––", "pairs not stored"))
            continue
        chosen = similarity >= threshold
        together = chosen & ~apart
        of_node = group(matches.where(together), similarity[together], preference.node_order, rule=options.group)
        n_in_group = np.bincount(of_node.principal, n_of_node, corpus.n_nodes)
        principal = np.full(len(corpus), NO_ROW)
        principal[has_text] = preference.best_row[of_node.principal[corpus.node[has_text]]]
        keep = with_families(principal == np.arange(len(corpus)), principal, roots, unread, options, is_against=False)
        n_kept = int(keep.sum())
        n_pairs = int(chosen.sum()) + n_copies
        counts = n_pairs, int((n_in_group >= 2).sum()), n_readable - n_kept
        note = "this report" if threshold == options.threshold else ""
        share = percent_text(counts[2], len(corpus))
        rows.append((parameter_text(threshold), *(f"{n:,}" for n in counts), share, note))
    return Table(("Threshold", "Pairs", "Groups", "Dropped", "Share dropped", ""), rows, 5)
