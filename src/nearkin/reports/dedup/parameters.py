"""Parameters of a deduplication, as its page explains them."""

from __future__ import annotations

import json
from collections.abc import Iterator

from nearkin.manifests.dedup import DedupManifest
from nearkin.options.dedup import DECIDING, DedupOptions
from nearkin.reports.facts.fact import Fact
from nearkin.reports.quantities import parameter_text
from nearkin.stages.documents.ignoring import Ignored
from nearkin.stages.documents.normalisation import STEPS

_OF_GROUPS = ("group", "keep")
"""Parameters without effect on a run against another set, which has no groups."""


def parameter_facts(run: DedupManifest) -> Iterator[Fact]:
    """Tabulate the parameters: first, in words, those that decide the result, then the others of the manifest."""
    for name in DECIDING:
        if name in run.parameters and not (run.is_against and name in _OF_GROUPS):
            yield Fact(name, _spelt(run.parameters[name]), DedupOptions.declared()[name].help)
    if {"bands", "rows"} <= run.plan_numbers.keys():
        bands, rows = run.plan_numbers["bands"], run.plan_numbers["rows"]
        meaning = f"{_chosen_from(run)}: documents are compared if all values of a band of their sketches are equal"
        yield Fact("bands × rows", f"{bands:,.0f} × {rows:,.0f}", meaning)
    if rate := run.plan_numbers.get("rate"):
        meaning = f"the share of shingles that become keys of the search, {_chosen_from(run)}"
        yield Fact("sampling", f"{rate:.4g}", meaning)
    for name in sorted(run.parameters.keys() - set(DECIDING)):
        if run.parameters[name] is not None:
            yield Fact(name, _spelt(run.parameters[name]), "")


def _chosen_from(run: DedupManifest) -> str:
    if "min_shared" in run.parameters:
        return "chosen from the recall for pairs with exactly one shared shingle"
    of_run = f" of {parameter_text(run.found_at_threshold)} of the run" if run.found_at_threshold is not None else ""
    return f"chosen from the recall and the threshold{of_run}"


def normalisation_steps(run: DedupManifest) -> tuple[str, ...]:
    """Ignored differences, in words, in the order of normalisation."""
    steps, _, ignored = str(run.parameters.get("normalise", "")).partition(";")
    names = [name.strip() for name in steps.split(",")]
    return (*(STEPS.get(name, name) for name in names if name not in {"", "none"}), *_ignored_in_words(ignored))


def _ignored_in_words(ignored: str) -> Iterator[str]:
    found = Ignored.restored(f";{ignored}") if ignored else Ignored()
    if found.numbers:
        yield "digits do not count"
    if found.passages:
        yield f"passages of --ignore do not count: {len(found.passages):,}"


def _spelt(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
