"""Deduplication job, from top to bottom: read, sample, plan, shingle, link, verify, group, judge, write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from nearkin.errors import InputError
from nearkin.manifests.dedup import OTHER_RESULTS, REASONS
from nearkin.nouns import counted
from nearkin.options.dedup import DedupOptions
from nearkin.planning.search import BandPlan, Sample, missed
from nearkin.records import F64, U8, U32, Bool, Matches
from nearkin.runs.progress import Meter, Progress
from nearkin.runs.spool import SPOOL, Chunk, Spool
from nearkin.stages.documents.rows import IdKind
from nearkin.stages.documents.rules import ReadingRules
from nearkin.stages.features.shingles import MAX_BYTES_PER_CHARACTER
from nearkin.stages.verification.what_differs import NOTHING, UNKNOWN
from nearkin.wording import WarningMessage
from nearkin.workflows.dedup.candidates import BandSearch, SampleSearch, max_not_compared
from nearkin.workflows.dedup.corpus import NO_NODE, READABLE, THEIRS, Corpus, survey
from nearkin.workflows.dedup.outcome import (
    NEAR_DUPLICATE,
    NO_ROW,
    OVERLAP,
    WITHOUT_TEXT,
    Compare,
    GroupTable,
    Judged,
    OtherTable,
    Outcome,
    Preference,
    differences_of,
    group_texts,
    ignored_numbers,
    judge_groups,
    prefer,
    reasons,
    with_numbers,
)
from nearkin.workflows.dedup.plans import (
    Plan,
    found_probability,
    kinds_of_text,
    look,
    plan_in_words,
    plan_search,
    predicted,
)
from nearkin.workflows.dedup.reading import read_all
from nearkin.workflows.dedup.row_places import Places, check_problems, check_readable, locate
from nearkin.workflows.dedup.searching import Search, Sizes
from nearkin.workflows.dedup.tables import write_tables
from nearkin.workflows.dedup.verifying import VerifiedMatches, compare_in_store, verify_all, with_fields
from nearkin.workflows.dedup.whole_families import with_whole_families
from nearkin.workflows.reading.inputs import Input, places_in
from nearkin.workflows.resources import Resources


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Result of a run, before it is reported."""

    corpus: Corpus
    places: Places
    sizes: Sizes
    plan: Plan
    verified: VerifiedMatches
    judged: Judged
    n_skipped: int
    threshold: float
    kinds: Mapping[str, int]

    @property
    def n_not_compared(self) -> int:
        """See `candidates.max_not_compared`."""
        return max_not_compared(self.n_skipped, self.corpus, n_candidates=self.verified.n_candidates)

    @property
    def estimated_missed(self) -> float:
        """Estimated number of pairs that the search missed."""
        return missed(found_probability(self.verified.matches, self.plan, self.threshold))


def find(
    inputs: Sequence[Input],
    others: Sequence[Input] | None,
    options: DedupOptions,
    work: Path,
    *,
    rules: ReadingRules,
    resources: Resources,
    meter: Meter,
) -> Result:
    """Find the near-duplicates among documents, or between two sets."""
    corpus, places = collect(
        inputs, others, Spool(work / SPOOL), options, rules=rules, resources=resources, meter=meter
    )
    planned = plan(corpus, places, options, resources=resources, meter=meter)
    search = _search(corpus, options, planned.plan, work, resources)
    sizes = search.shingle_all(meter)
    planned = foreseen(planned, sizes, search.counts, meter.progress)
    runs = search.link_all(sizes, planned.order, meter)
    verified, store = verify_all(corpus, options, sizes, runs, work, resources=resources, meter=meter)
    compare = partial(compare_in_store, store, threads=resources.n_threads)
    with meter.stage("group", 0, "steps"):
        return judge(planned, sizes, verified, runs.n_not_compared, compare)


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """Documents, and how their near-duplicates are searched for."""

    corpus: Corpus
    places: Places
    options: DedupOptions
    sample: Sample
    plan: Plan
    kinds: Mapping[str, int]
    preference: Preference

    @property
    def order(self) -> U32:
        """Texts, first those with which the others of a skewed key are compared."""
        order = self.preference.node_order
        return others_first(self.corpus, order) if self.corpus.is_against else order


def plan(corpus: Corpus, places: Places, options: DedupOptions, *, resources: Resources, meter: Meter) -> Planned:
    """Plan the search by a sample."""
    _tell_of_long_documents(corpus, places, resources, meter.progress)
    _tell_of_missing_values(corpus, options, meter.progress)
    with meter.stage("plan", 0, "steps"):
        sample = look(corpus, options)
        chosen = plan_search(sample, options)
        kinds = kinds_of_text(corpus, options)
    return Planned(
        corpus=corpus, places=places, options=options, sample=sample, plan=chosen, kinds=kinds,
        preference=prefer(corpus, options),
    )  # fmt: skip


def foreseen(planned: Planned, sizes: Sizes, counts: U32 | None, progress: Progress) -> Planned:
    """Predict the number of comparisons; ``counts`` are those of shingles, if texts are searched by rare ones."""
    chosen = predicted(planned.plan, planned.sample, planned.corpus, sizes, planned.options, counts)
    progress.say(plan_in_words(chosen, planned.options))
    return replace(planned, plan=chosen)


def judge(planned: Planned, sizes: Sizes, verified: VerifiedMatches, n_skipped: int, compare: Compare) -> Result:
    """Group the texts and judge the documents; ``compare`` returns the similarity of pairs that are no matches."""
    corpus, options, preference = planned.corpus, planned.options, planned.preference
    verified = replace(verified, matches=with_fields(verified.matches, sizes, corpus, options))
    if corpus.is_against:
        judged = judge_across(corpus, options, sizes, verified.matches)
    else:
        grouping = group_texts(verified.matches, preference.node_order, options, compare)
        judged = judge_groups(corpus, options, sizes, preference, verified.matches, grouping)
    judged = with_numbers(judged, ignored_numbers(corpus, options))
    return Result(
        corpus=corpus, places=planned.places, sizes=sizes, plan=planned.plan, verified=verified,
        judged=with_whole_families(judged, planned.places, options), n_skipped=n_skipped,
        threshold=options.threshold, kinds=planned.kinds,
    )  # fmt: skip


def write(result: Result, out: Path, meter: Meter) -> None:
    """Write the tables."""
    with meter.stage("write", 0, "steps"):
        write_tables(out, result.corpus, result.sizes, result.judged, result.places)


def collect(
    inputs: Sequence[Input],
    others: Sequence[Input] | None,
    spool: Spool,
    options: DedupOptions,
    *,
    rules: ReadingRules,
    resources: Resources,
    meter: Meter,
) -> tuple[Corpus, Places]:
    """Read everything and find the exact copies."""
    everything = [*inputs, *(others or ())]
    with meter.stage("read", sum(part.size_bytes for part in everything), "bytes") as progress:
        reads = read_all(
            everything,
            spool,
            options,
            rules=rules,
            threads=resources.n_threads,
            progress=progress,
        )
    n_inputs = sum(read.n_documents for read in reads[: len(inputs)])
    kinds = [read.id_kind for read in reads]
    corpus, places = surveyed(spool.chunks(), n_inputs, inputs, others, kinds, rules, meter)
    try:
        check_readable(corpus, places, rules)
    except InputError:
        spool.remove()  # nothing in it is worth resuming: the corrected command runs without --resume
        raise
    return corpus, places


def surveyed(
    chunks: Sequence[Chunk],
    n_inputs: int,
    inputs: Sequence[Input],
    others: Sequence[Input] | None,
    kinds: Sequence[IdKind],
    rules: ReadingRules,
    meter: Meter,
) -> tuple[Corpus, Places]:
    """Return the documents of a spool, if the rules allow their problems; ``kinds`` are those of the ids of inputs."""
    with meter.stage("exact copies", 0, "steps"):
        corpus = survey(chunks, n_inputs, is_against=others is not None)
        names = places_in([*inputs, *(others or ())])
        places = locate(corpus, names, kinds[: len(inputs)], kinds[len(inputs) :])
    check_problems(places, rules)
    return corpus, places


def _tell_of_long_documents(corpus: Corpus, places: Places, resources: Resources, progress: Progress) -> None:
    """Warn of documents that may need more memory than the run was given: a document is shingled whole."""
    max_characters = resources.memory_bytes // MAX_BYTES_PER_CHARACTER
    n_long = int((corpus.n_characters > max_characters).sum())
    if n_long:
        longest = int(corpus.n_characters.argmax())
        others = f" (and {n_long - 1:,} more)" if n_long > 1 else ""
        sentence = (
            f"{places.where(longest)}{others}: a document of {counted(corpus.n_characters[longest], 'character')}, "
            f"which alone may need more than --memory: up to {MAX_BYTES_PER_CHARACTER} bytes per character, usually "
            "far less"
        )
        progress.say(WarningMessage(sentence))


def _tell_of_missing_values(corpus: Corpus, options: DedupOptions, progress: Progress) -> None:
    is_text = corpus.status[: corpus.n_inputs] == READABLE
    n_missing = int((is_text & np.isnan(corpus.keep_value[: corpus.n_inputs])).sum())
    if options.keep.column is not None and n_missing:
        of = counted(is_text.sum(), "document")
        progress.say(
            f"{options.keep.column}: no readable number or date in {n_missing:,} of {of}; they come after the others"
        )


def _search(corpus: Corpus, options: DedupOptions, plan: Plan, work: Path, resources: Resources) -> Search:
    if isinstance(plan, BandPlan):
        return BandSearch(plan, corpus, options, work, resources)
    return SampleSearch(plan, corpus, options, work, resources)


def first_in_other(corpus: Corpus) -> U32:
    """Return the first row of each text in the other set, NO_ROW if it is not there; shape (n_nodes,)."""
    first = np.full(corpus.n_nodes, NO_ROW)
    rows = np.flatnonzero(corpus.node[corpus.n_inputs :] != NO_NODE)[::-1] + corpus.n_inputs
    first[corpus.node[rows]] = rows  # backwards, so that the first row remains
    return first


def others_first(corpus: Corpus, order: U32) -> U32:
    """Put the texts of the other set first: with skewed keys, each text is compared with the first texts only."""
    is_mine = (corpus.sides[order] & THEIRS) == 0
    return order[np.argsort(is_mine, kind="stable")]


def judge_across(corpus: Corpus, options: DedupOptions, sizes: Sizes, matches: Matches) -> Judged:
    """Judge the documents to clean by the matches between the two sets; they are not grouped."""
    outcome = judge_against(corpus, options, sizes, matches)
    of_rows, is_copy = matches_across(corpus, matches)
    others = judge_others(corpus, options, sizes, of_rows, is_copy)
    return Judged(outcome, no_groups(), of_rows, is_copy, others)


def judge_against(corpus: Corpus, options: DedupOptions, sizes: Sizes, matches: Matches) -> Outcome:
    """Drop what the other set already has; a document's principal is the most similar document there."""
    n = corpus.n_inputs
    nodes = corpus.node[:n]
    has_node = nodes != NO_NODE
    mine = nodes[has_node]
    first = first_in_other(corpus)
    best = _most_similar(matches, options, first)
    rows = np.arange(n, dtype=np.uint32)
    principal, copy_of, similarity = np.full(n, NO_ROW), np.full(n, NO_ROW), np.full(n, np.nan)
    copy_of[has_node] = first[mine]
    row_in_other = np.where(first[mine] != NO_ROW, first[mine], best.row[mine])
    principal[has_node] = np.where(row_in_other != NO_ROW, row_in_other, rows[has_node])
    similarity[has_node] = np.where((row_in_other == NO_ROW) | (first[mine] != NO_ROW), 1.0, best.likeness[mine])
    is_free = principal == rows
    reason = reasons(corpus, options, sizes, is_principal=is_free, is_alone=is_free, copy_of=copy_of)
    is_overlap = np.zeros(n, np.bool_)
    is_overlap[has_node] = best.is_overlap[mine]
    reason[is_overlap & (reason == NEAR_DUPLICATE)] = OVERLAP
    differs = np.full(n, UNKNOWN)
    differs[has_node] = np.where(first[mine] != NO_ROW, NOTHING, best.differs[mine])
    return Outcome(principal, similarity, differs, copy_of, reason, is_free)


def matches_across(corpus: Corpus, matches: Matches) -> tuple[Matches, Bool]:
    """Return the matches of rows, one to clean with one of the other set, and which are exact copies."""
    n = corpus.n_inputs
    first = first_in_other(corpus)
    rows = np.flatnonzero(corpus.node[:n] != NO_NODE).astype(np.uint32)
    by_node = rows[np.argsort(corpus.node[rows], kind="stable")]
    starts = np.searchsorted(corpus.node[by_node], np.arange(corpus.n_nodes + 1))

    def across(mine: U32, theirs: U32, *columns: U32 | U8) -> list[U32 | U8]:
        is_there = first[theirs] != NO_ROW
        n_rows = np.where(is_there, starts[mine + 1] - starts[mine], 0)
        place = np.arange(n_rows.sum()) - np.repeat(np.cumsum(n_rows) - n_rows, n_rows)
        left = by_node[np.repeat(starts[mine], n_rows) + place]
        return [left, *(np.repeat(column, n_rows) for column in (first[theirs], *columns))]

    ones = np.ones(corpus.n_nodes, np.uint32)
    everywhere = np.arange(corpus.n_nodes, dtype=np.uint32)
    both = _from_both_sides(matches)
    parts = [
        across(both.left, both.right, both.n_common, both.n_left, both.n_right, differences_of(both)),
        across(everywhere, everywhere, ones, ones, ones, np.full(corpus.n_nodes, NOTHING)),
    ]
    left, right, *counts, differs = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.lexsort((right, left))
    is_copy = np.arange(len(order)) >= len(order) - len(parts[1][0])
    return Matches(left, right, counts[0], counts[1], counts[2], differs).where(order), is_copy[order]


def judge_others(corpus: Corpus, options: DedupOptions, sizes: Sizes, matches: Matches, is_copy: Bool) -> OtherTable:
    """Return which documents of the other set caused documents to be dropped."""
    n = len(corpus) - corpus.n_inputs
    likeness, drops = judge_pairs(matches, options)
    drops |= is_copy
    left, place, likeness = (
        matches.left[drops],
        matches.right[drops].astype(np.int64) - corpus.n_inputs,
        likeness[drops],
    )
    best_last = np.lexsort((-left.astype(np.int64), likeness))
    document, similarity = np.full(n, NO_ROW), np.full(n, np.nan)
    document[place[best_last]], similarity[place[best_last]] = left[best_last], likeness[best_last]
    n_documents = np.bincount(place, minlength=n).astype(np.int64)
    nodes = corpus.node[corpus.n_inputs :]
    has_node = nodes != NO_NODE
    # only the first copy of a text is in the matches: its result holds for all copies
    stands_for = np.arange(n)
    stands_for[has_node] = first_in_other(corpus)[nodes[has_node]].astype(np.int64) - corpus.n_inputs
    document, similarity, n_documents = document[stands_for], similarity[stands_for], n_documents[stands_for]
    status = corpus.status[corpus.n_inputs :]
    is_match, is_short = has_node & (document != NO_ROW), _cannot_be_found(nodes, corpus, options, sizes)
    conditions = [*(status == status_without_text for status_without_text in WITHOUT_TEXT), is_match, is_short]
    names = [*(REASONS[status_without_text] for status_without_text in WITHOUT_TEXT.values()), "match", "too short"]
    choices = [OTHER_RESULTS.index(name) for name in names]
    result = np.select(conditions, choices, OTHER_RESULTS.index("no match")).astype(np.uint8)
    return OtherTable(result, n_documents, document, similarity, int((is_match & is_short).sum()))


def _cannot_be_found(nodes: U32, corpus: Corpus, options: DedupOptions, sizes: Sizes) -> Bool:
    at = np.minimum(nodes, np.uint32(corpus.n_nodes))
    n_units, n_shingles = (np.append(counted, np.uint32(0))[at] for counted in (sizes.n_units, sizes.n_shingles))
    return np.less(n_units, options.shingle.length) | np.less(n_shingles, options.min_shared or 1)


def no_groups() -> GroupTable:
    """Return an empty table."""
    none = np.zeros(0, np.int64)
    return GroupTable(
        principal=none.astype(np.uint32),
        size=none,
        lowest=none.astype(np.float64),
        is_lowest_exact=none.astype(np.bool_),
        bridges_refused=none,
        n_exact_copies=none,
        n_bridges=0,
    )


@dataclass(frozen=True, slots=True)
class _MostSimilar:
    """Row in the other set for which each node is dropped, the first of the most similar; NO_ROW if none is."""

    row: U32
    likeness: F64
    is_overlap: Bool
    differs: U8


def _most_similar(matches: Matches, options: DedupOptions, first_other: U32) -> _MostSimilar:
    across = _from_both_sides(matches)
    theirs = first_other[across.right]
    likeness, drops = judge_pairs(across, options)
    drops &= theirs != NO_ROW
    across, theirs, likeness = across.where(drops), theirs[drops], likeness[drops]
    best_last = np.lexsort((-theirs.astype(np.int64), likeness))
    mine = across.left[best_last]
    twin, best = np.full(len(first_other), NO_ROW), np.full(len(first_other), np.nan)
    is_overlap = np.zeros(len(first_other), np.bool_)
    twin[mine], best[mine] = theirs[best_last], likeness[best_last]
    is_overlap[mine] = ~_lies_inside(across, options)[best_last]
    differs = np.full(len(first_other), UNKNOWN)
    differs[mine] = differences_of(across)[best_last]
    return _MostSimilar(twin, best, is_overlap, differs)


def judge_pairs(across: Matches, options: DedupOptions) -> tuple[F64, Bool]:
    """Return the similarity of documents to clean (left) to the other set's, and whether they are dropped."""
    in_theirs, in_mine = options.measure.directions(across)
    if options.min_shared is not None or options.drop == "containing":
        likeness = in_mine
    elif options.drop == "either":
        likeness = options.measure.similarity(across)
    else:
        likeness = in_theirs
    drops = options.is_match(across) if options.min_shared is not None else likeness >= options.threshold
    return likeness, drops & ~options.is_apart(across)


def _lies_inside(across: Matches, options: DedupOptions) -> Bool:
    if options.drop in (None, "contained") and options.min_shared is None:
        return np.ones(len(across), np.bool_)
    if options.drop == "either":
        return np.greater_equal(options.measure.directions(across)[0], options.threshold)
    return np.zeros(len(across), np.bool_)


def _from_both_sides(matches: Matches) -> Matches:
    there = (matches.left, matches.right, matches.n_common, matches.n_left, matches.n_right)
    back = (matches.right, matches.left, matches.n_common, matches.n_right, matches.n_left)
    left, right, n_common, n_left, n_right = (np.concatenate(pair) for pair in zip(there, back, strict=True))
    return Matches(left, right, n_common, n_left, n_right, np.tile(differences_of(matches), 2))
