"""Deduplication job, from top to bottom: read, sample, plan, shingle, link, verify, group, judge, write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from nearkin.errors import InputError
from nearkin.nouns import counted
from nearkin.options.dedup import DedupOptions
from nearkin.planning.search import BandPlan, missed
from nearkin.records import Matches
from nearkin.runs.progress import Meter, Progress
from nearkin.runs.spool import SPOOL, Spool
from nearkin.stages.documents.rules import ReadingRules
from nearkin.stages.features.shingles import MAX_BYTES_PER_CHARACTER
from nearkin.wording import WarningMessage
from nearkin.workflows.dedup.against import judge_across, others_first
from nearkin.workflows.dedup.candidates import BandSearch, SampleSearch, max_not_compared
from nearkin.workflows.dedup.corpus import Corpus, survey
from nearkin.workflows.dedup.outcome import (
    Judged,
    Preference,
    group_texts,
    ignored_numbers,
    judge_groups,
    prefer,
    with_numbers,
)
from nearkin.workflows.dedup.plans import Plan, found_probability, kinds_of_text, look, plan_in_words, plan_search
from nearkin.workflows.dedup.reading import read_all
from nearkin.workflows.dedup.row_places import Places, check_problems, check_readable, locate
from nearkin.workflows.dedup.searching import Search, Sizes
from nearkin.workflows.dedup.tables import write_tables
from nearkin.workflows.dedup.verifying import SetStore, VerifiedMatches, verify_all
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
    spool = Spool(work / SPOOL)
    corpus, places = collect(inputs, others, spool, options, rules=rules, resources=resources, meter=meter)
    tell_of_long_documents(corpus, places, resources, meter.progress)
    with meter.stage("plan", 0, "steps") as progress:
        plan = plan_search(look(corpus, options), options)
        progress.say(plan_in_words(plan, options))
        kinds = kinds_of_text(corpus, options)
    search = _search(corpus, options, plan, work, resources)
    sizes = search.shingle_all(meter)
    preference = prefer(corpus, options)
    order = others_first(corpus, preference.node_order) if corpus.is_against else preference.node_order
    runs = search.link_all(sizes, order, meter)
    verified, store = verify_all(corpus, options, sizes, runs, work, resources=resources, meter=meter)
    with meter.stage("group", 0, "steps"):
        judged = _judge(corpus, options, sizes, preference, verified.matches, store, threads=resources.n_threads)
        judged = with_numbers(judged, ignored_numbers(corpus, options))
    return Result(
        corpus=corpus, places=places, sizes=sizes, plan=plan, verified=verified, judged=judged,
        n_skipped=runs.n_not_compared, threshold=options.threshold, kinds=kinds,
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
    with meter.stage("exact copies", 0, "steps"):
        corpus = survey(spool.chunks(), n_inputs, is_against=others is not None)
        kinds = [read.id_kind for read in reads]
        places = locate(corpus, places_in(everything), kinds[: len(inputs)], kinds[len(inputs) :])
    check_problems(places, rules)
    try:
        check_readable(corpus, places, rules)
    except InputError:
        spool.remove()  # nothing in it is worth resuming: the corrected command runs without --resume
        raise
    return corpus, places


def tell_of_long_documents(corpus: Corpus, places: Places, resources: Resources, progress: Progress) -> None:
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


def _judge(
    corpus: Corpus,
    options: DedupOptions,
    sizes: Sizes,
    preference: Preference,
    matches: Matches,
    store: SetStore,
    *,
    threads: int,
) -> Judged:
    if corpus.is_against:
        return judge_across(corpus, options, sizes, matches)
    grouping = group_texts(matches, preference.node_order, options, store, threads=threads)
    return judge_groups(corpus, options, sizes, preference, matches, grouping)


def _search(corpus: Corpus, options: DedupOptions, plan: Plan, work: Path, resources: Resources) -> Search:
    if isinstance(plan, BandPlan):
        return BandSearch(plan, corpus, options, work, resources)
    return SampleSearch(plan, corpus, options, work, resources)
