"""The plan of a run: how it is told, stored, read back, and how likely it found what it found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

import numpy as np

from nearkin.kernels.chances import found_by_sample
from nearkin.nouns import counted
from nearkin.planning.search import BandPlan, Sample, SamplingPlan, plan_bands, plan_sampling
from nearkin.records import F64, Matches
from nearkin.workflows.dedup.band_search import BandKeys
from nearkin.workflows.dedup.options import DedupOptions

Plan = BandPlan | SamplingPlan


def plan_search(sample: Sample, options: DedupOptions) -> Plan:
    """Choose the search by what a look at some texts told."""
    planner = plan_bands if options.measure == "jaccard" else plan_sampling
    return planner(options.threshold, options.recall, sample)


def keys_a_text(sample: Sample, plan: Plan, options: DedupOptions) -> tuple[float, float]:
    """Keys of bands, and other ones, that a text is found by: means over a sample."""
    if not isinstance(plan, BandPlan):
        return 0.0, plan.rate * sample.mean_size
    keys, sizes = BandKeys(plan, options), sample.sizes
    n_other = keys.prefixes.lengths(sizes[sizes <= keys.most_for_prefix]).sum()
    n = max(len(sizes), 1)
    return plan.bands * int((sizes >= plan.exact_below).sum()) / n, int(n_other) / n


def found_probability(matches: Matches, plan: Plan) -> F64:
    """How likely each match was to be found, given how it was searched."""
    if isinstance(plan, SamplingPlan):
        return found_by_sample(matches.n_common, plan.rate)
    is_exact = np.minimum(matches.n_left, matches.n_right) < plan.exact_below
    return np.where(is_exact, 1.0, plan.found_probability(matches.jaccard))


def describe_plan(plan: Plan, options: DedupOptions) -> str:
    """The plan in a sentence."""
    expected = f"{plan.recall_at_threshold:.2%} of pairs at {options.measure} {options.threshold} found, "
    expected += f"about {counted(round(plan.expected_candidates), 'pair')} of strangers compared"
    if isinstance(plan, BandPlan):
        exactly = (
            f"texts of fewer than {plan.exact_below} shingles are searched exactly, unless very many share a rare one"
        )
        return f"{plan.bands} bands of {plan.rows} rows: {expected}; {exactly}"
    return f"{plan.rate:.2%} of shingles sampled: {expected}"


def plan_as_stored(plan: Plan) -> dict[str, object]:
    """As the manifest has it."""
    if isinstance(plan, BandPlan):
        return {"kind": "bands", **asdict(plan), "size": plan.size}
    return {"kind": "sampling", **asdict(plan)}


def plan_from_stored(stored: Mapping[str, object]) -> Plan:
    """What `plan_as_stored` gave."""
    kind = BandPlan if stored["kind"] == "bands" else SamplingPlan
    return kind(**{name: stored[name] for name in kind.__dataclass_fields__})  # type: ignore[arg-type]  # as stored
