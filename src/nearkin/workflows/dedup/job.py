"""Deduplication job, from top to bottom: read, sample, plan, shingle, link, verify, group, judge, write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from nearkin.errors import InputError
from nearkin.nouns import counted
from nearkin.options.dedup import DedupOptions
from nearkin.planning.search import BandPlan, Sample, missed
from nearkin.records import U32
from nearkin.runs.progress import Meter, Progress
from nearkin.runs.spool import SPOOL, Chunk, Spool
from nearkin.stages.documents.rows import IdKind
from nearkin.stages.documents.rules import ReadingRules
from nearkin.stages.features.shingles import MAX_BYTES_PER_CHARACTER
from nearkin.wording import WarningMessage
from nearkin.workflows.dedup.against import judge_across, others_first
from nearkin.workflows.dedup.candidates import BandSearch, SampleSearch, max_not_compared
from nearkin.workflows.dedup.corpus import Corpus, survey
from nearkin.workflows.dedup.outcome import (
    Compare,
    Judged,
    Preference,
    group_texts,
    ignored_numbers,
    judge_groups,
    prefer,
    with_numbers,
    with_whole_families,
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
    """Find the near-duplicates among documents, or between two sets.

    Parameters
    ----------
    others
        The other set. If given, only pairs across the two sets are found; it may be empty.
    work
        Folder for data too large for memory. Files left there by an interrupted run are reused.
    """
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
        judged=with_whole_families(judged, planned.places.family_roots(), options), n_skipped=n_skipped,
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
    with meter.stage("read", sum(one.size_bytes for one in everything), "bytes") as progress:
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
        told = (
            f"{places.where(longest)}{others}: a document of {counted(corpus.n_characters[longest], 'character')}, "
            f"which alone may need more than --memory: up to {MAX_BYTES_PER_CHARACTER} bytes per character, usually "
            "far less"
        )
        progress.say(WarningMessage(told))


def _search(corpus: Corpus, options: DedupOptions, plan: Plan, work: Path, resources: Resources) -> Search:
    if isinstance(plan, BandPlan):
        return BandSearch(plan, corpus, options, work, resources)
    return SampleSearch(plan, corpus, options, work, resources)
