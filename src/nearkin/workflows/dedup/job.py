"""The job, from top to bottom: read, look, plan, shingle, link, verify, group, judge, write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nearkin.errors import DocumentError, SourceError
from nearkin.kernels.compiled.cache import is_cold
from nearkin.planning.curve import missed
from nearkin.planning.search import BandPlan, plan_bands, plan_sampling
from nearkin.records import Bool, Matches
from nearkin.runs.files import printable
from nearkin.runs.meter import Meter
from nearkin.runs.spool import Spool
from nearkin.workflows.dedup.against import judge_against, matches_across, no_groups, others_first
from nearkin.workflows.dedup.band_search import BandSearch
from nearkin.workflows.dedup.corpus import UNREADABLE, Corpus, survey
from nearkin.workflows.dedup.grouping import group_texts, prefer
from nearkin.workflows.dedup.inputs import Input
from nearkin.workflows.dedup.options import DedupOptions, OnError, Resources
from nearkin.workflows.dedup.outcome import GroupTable, Outcome, judge, row_matches, tabulate
from nearkin.workflows.dedup.plans import Plan, describe_plan, found_probability
from nearkin.workflows.dedup.reading import SPOOL, STOPPED, InputRead, read_all
from nearkin.workflows.dedup.sample_search import SampleSearch
from nearkin.workflows.dedup.sampling import look
from nearkin.workflows.dedup.searching import Search, Sizes
from nearkin.workflows.dedup.tables import (
    Places,
    locate,
    write_documents,
    write_groups,
    write_pairs,
    write_problems,
)
from nearkin.workflows.dedup.verifying import Verified, verify_all


@dataclass(frozen=True, slots=True)
class Result:
    """All that a run found, before it is told.

    Parameters
    ----------
    corpus, sizes, plan, verified, outcome, places
        What the steps gave.
    reads : tuple of InputRead
        One for each input.
    groups : GroupTable
        Empty for a run against another collection: its documents are not grouped.
    matches : Matches
        Of rows, exact copies among them.
    is_copy : bool array, shape (n_matches,)
        Which matches are exact copies.
    n_not_compared : int
        See `searching.Runs`.
    estimated_missed : float
        See `planning.curve.missed`.
    """

    corpus: Corpus
    sizes: Sizes
    plan: Plan
    verified: Verified
    outcome: Outcome
    places: Places
    reads: tuple[InputRead, ...]
    groups: GroupTable
    matches: Matches
    is_copy: Bool
    n_not_compared: int
    estimated_missed: float


def find(
    inputs: Sequence[Input],
    others: Sequence[Input] | None,
    options: DedupOptions,
    work: Path,
    *,
    on_error: OnError,
    resources: Resources,
    meter: Meter,
) -> Result:
    """Find the near-duplicates among the documents of ``inputs``, or, unless ``others`` is None, between the two."""
    threads = resources.n_threads
    everything = [*inputs, *(others or ())]
    if is_cold():
        meter.progress.say("first run on this machine: the kernels are compiled, once, which takes some ten seconds")
    spool = Spool(work / SPOOL)
    with meter.stage("read", sum(one.size_bytes for one in everything), "bytes") as progress:
        reads = read_all(everything, spool, options.normalise, on_error=on_error, threads=threads, progress=progress)
        n_inputs = sum(read.n_documents for read in reads[: len(inputs)])
    with meter.stage("exact copies", 0, "steps"):
        corpus = survey(spool.chunks(), n_inputs, is_against=others is not None)
        names = [printable(name) for one in everything for name in one.names]
        places = locate(corpus, names, has_integer_ids=bool(reads) and all(read.has_integer_ids for read in reads))
        if on_error == "stop" and places.problems:  # an earlier part of a resumed run may have skipped them
            row = min(places.problems)
            raise DocumentError(f"{places.where(row)}: {places.problems[row]}. {STOPPED}")
    if not (corpus.status != UNREADABLE).any() and len(corpus):
        spool.remove()  # nothing in it is worth going on with
        first = min(places.problems)
        raise SourceError(
            f"None of the {len(corpus):,} documents can be read. "
            f"The first: {places.where(first)}: {places.problems[first]}."
        )
    with meter.stage("plan", 0, "steps") as progress:
        plan = _plan(corpus, options)
        progress.say(describe_plan(plan, options))

    search = _search(corpus, options, plan, work, resources)
    sizes = search.shingle_all(meter)
    preference = prefer(corpus, options)
    order = others_first(corpus, preference.node_order) if corpus.is_against else preference.node_order
    runs = search.link_all(sizes, order, meter)
    verified, store = verify_all(corpus, options, sizes, runs, work, resources=resources, meter=meter)

    with meter.stage("group", 0, "steps"):
        if corpus.is_against:
            outcome = judge_against(corpus, options, sizes, verified.matches)
            matches, is_copy = matches_across(corpus, verified.matches)
            groups = no_groups()
        else:
            grouping = group_texts(verified.matches, preference.node_order, options, store, threads=threads)
            outcome = judge(corpus, options, sizes, preference, grouping)
            groups = tabulate(corpus, preference, grouping, outcome)
            matches, is_copy = row_matches(corpus, preference.best_row, verified.matches, outcome.copy_of)
    estimated_missed = missed(found_probability(verified.matches, plan))
    return Result(
        corpus,
        sizes,
        plan,
        verified,
        outcome,
        places,
        reads,
        groups,
        matches,
        is_copy,
        runs.n_not_compared,
        estimated_missed,
    )


def write(result: Result, out: Path, meter: Meter) -> None:
    """Write the tables."""
    with meter.stage("write", 0, "steps"):
        write_documents(out / "documents.parquet", result.corpus, result.sizes, result.outcome, result.places)
        write_pairs(out / "pairs.parquet", result.matches, result.places)
        write_groups(out / "groups.parquet", result.groups, result.places)
        write_problems(out / "problems.parquet", result.places)


def _plan(corpus: Corpus, options: DedupOptions) -> Plan:
    sample = look(corpus, options.shingle)
    planner = plan_bands if options.measure == "jaccard" else plan_sampling
    return planner(options.threshold, options.recall, sample)


def _search(corpus: Corpus, options: DedupOptions, plan: Plan, work: Path, resources: Resources) -> Search:
    if isinstance(plan, BandPlan):
        return BandSearch(plan, corpus, options, work, resources)
    return SampleSearch(plan, corpus, options, work, resources)
