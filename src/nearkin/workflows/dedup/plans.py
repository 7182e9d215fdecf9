"""Plan of a run: its description, its stored form, and the probability that it found a match."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

import numpy as np

from nearkin.errors import RunError
from nearkin.nouns import agreeing, counted
from nearkin.planning.search import KEYS_OF_A_LEAD, PLANNERS, BandPlan, Sample, SamplingPlan
from nearkin.records import F64, Matches
from nearkin.reports.criterion import measure_name
from nearkin.reports.quantities import parameter_text, share_percent_text
from nearkin.reports.sentences.rough_quantities import many_text, rough_share_text
from nearkin.stages.search.prefixes import Prefixes
from nearkin.workflows.dedup.band_search import BandKeys
from nearkin.workflows.dedup.options import DedupOptions

Plan = BandPlan | SamplingPlan


def plan_search(sample: Sample, options: DedupOptions) -> Plan:
    """Choose the search by a sample of texts."""
    return PLANNERS[options.measure.search](options.threshold, options.recall, sample)


def keys_a_text(sample: Sample, plan: Plan, options: DedupOptions) -> tuple[float, float]:
    """Return the mean numbers of band keys and of other keys per text, over a sample."""
    sizes = sample.sizes
    if not isinstance(plan, BandPlan):
        is_small = sizes < plan.exact_below
        n_leading = Prefixes(options.threshold).lengths(sizes[is_small]).sum()
        n_keys = plan.rate * float(sizes[~is_small].sum()) + KEYS_OF_A_LEAD * int(n_leading)
        return 0.0, n_keys / max(len(sizes), 1)
    keys = BandKeys(plan, options)
    n_other = keys.prefixes.lengths(sizes[sizes <= keys.max_for_prefix]).sum()
    n = max(len(sizes), 1)
    return plan.bands * int((sizes >= plan.exact_below).sum()) / n, int(n_other) / n


def found_probability(matches: Matches, plan: Plan, threshold: float) -> F64:
    """Return the probability with which a search at a threshold finds each match."""
    if isinstance(plan, SamplingPlan):
        return plan.found_probability(matches.n_common, np.minimum(matches.n_left, matches.n_right))
    return plan.found_probability(matches.n_common, matches.n_left, matches.n_right, threshold)


def describe_plan(
    plan: Plan, options: DedupOptions, *, share_by_bands: float = 1, has_predicted_cost: bool = True
) -> str:
    """Return the plan in one sentence; bands and what they find only if some share of the texts is searched by them."""
    few = counted(plan.exact_below, "shingle")
    if isinstance(plan, BandPlan) and not share_by_bands:
        return (
            f"search: rare shingles only. Texts of fewer than {few} are searched by their rare shingles, and all texts "
            "of the sample are that short: every match is found, unless very many texts share even the rarest shingles "
            "of a text"
        )
    rest = f", texts of fewer than {few} exhaustively" * (plan.exact_below > 1)
    search = (
        f"MinHash with {counted(plan.bands, 'band')} of {counted(plan.rows, 'row')}{' each' * (plan.bands > 1)}"
        if isinstance(plan, BandPlan)
        else f"{plan.rate:.2%} of shingles sampled{rest}"
    )
    found = (
        f"search: {search}; predicted recall {share_percent_text(plan.recall_at_threshold)} at "
        f"{measure_name(str(options.measure))} {parameter_text(options.threshold)}"
    )
    if not has_predicted_cost:
        return found
    n_unrelated = round(plan.expected_candidates)
    return (
        f"{found}; cost: about {many_text(n_unrelated)} unrelated {agreeing(n_unrelated, 'pair', 'pairs')} compared "
        "(similarity below the threshold)"
    )


def plan_as_stored(plan: Plan) -> dict[str, object]:
    """Return the plan as the manifest stores it."""
    if isinstance(plan, BandPlan):
        return {"kind": "bands", **asdict(plan), "size": plan.size}
    return {"kind": "sampling", **asdict(plan)}


def plan_from_stored(stored: Mapping[str, object]) -> Plan:
    """Read the result of `plan_as_stored`.

    Raises
    ------
    RunError
        A field has the wrong type.
    """
    kind = BandPlan if stored["kind"] == "bands" else SamplingPlan
    names = list(kind.__dataclass_fields__)
    for name in names:
        if not isinstance(stored[name], int | float):
            raise RunError(f"The run is damaged: its plan has {stored[name]!r} for {name!r}. Run nearkin dedup again.")
    return kind(**{name: stored[name] for name in names})  # type: ignore[arg-type]


def plan_in_words(plan: Plan, options: DedupOptions) -> str:
    """Return the plan in one sentence."""
    if options.min_shared is None or isinstance(plan, BandPlan):
        return describe_plan(plan, options)
    if plan.rate == 1:
        return "search: all shingles are looked up, so a pair that shares even one is found"
    share = rough_share_text(plan.rate)
    return f"search: {share} of shingles are looked up, so a pair that shares only one is found with this probability"
