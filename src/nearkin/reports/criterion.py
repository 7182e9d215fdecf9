"""Criterion of a near-duplicate, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from nearkin.errors import is_int
from nearkin.nouns import counted
from nearkin.reports.quantities import parameter_text
from nearkin.stages.verification.measures import MEASURES

if TYPE_CHECKING:
    from nearkin.manifests.dedup import DedupManifest

_UNITS = {"words": "word", "chars": "character"}


def measure_name(measure: str) -> str:
    """Write the name of a measure for use in a sentence.

    Examples
    --------
    >>> measure_name("jaccard")
    'Jaccard'
    """
    return MEASURES[measure].title if measure in MEASURES else measure


def measure_of(manifest: DedupManifest) -> str:
    """Write the name of a run's measure for use in a sentence."""
    measure = manifest.parameters.get("measure")
    return measure_name(measure if isinstance(measure, str) and measure else "jaccard")


def grams_text(shingle: object) -> str:
    """Name shingles: ``word 5-grams``; "" if they are not known.

    Examples
    --------
    >>> grams_text("words:5"), grams_text("chars:9"), grams_text(None)
    ('word 5-grams', 'character 9-grams', '')
    """
    unit, _, length = shingle.partition(":") if isinstance(shingle, str) else ("", "", "")
    return f"{_UNITS.get(unit, unit)} {length}-grams" if length else unit


def criterion_of(manifest: DedupManifest) -> str:
    """Return the criterion of a run, as `criterion_text` writes it, for a page: no line ends inside the comparison."""
    return criterion_text(manifest.parameters).replace(" ≥ ", "\N{NO-BREAK SPACE}≥\N{NO-BREAK SPACE}")


def criterion_text(parameters: Mapping[str, object]) -> str:
    """Return the criterion from the parameters of a run.

    Examples
    --------
    >>> criterion_text({"measure": "jaccard", "threshold": 0.8, "shingle": "words:5"})
    'Jaccard ≥ 0.80 on word 5-grams'
    >>> criterion_text({"min_shared": 1, "shingle": "words:13"})
    'at least 1 shared shingle (word 13-grams)'
    """
    shingles, n, threshold = (
        grams_text(parameters.get("shingle")),
        parameters.get("min_shared"),
        parameters.get("threshold"),
    )
    if is_int(n) and n >= 0:
        return f"at least {counted(n, 'shared shingle')} ({shingles})"
    measure = parameters.get("measure")
    least = f" ≥ {parameter_text(threshold)}" if isinstance(threshold, int | float) else ""
    name = measure_name(measure if isinstance(measure, str) and measure else "jaccard")
    return f"{name}{least}{f' on {shingles}' if shingles else ''}"
