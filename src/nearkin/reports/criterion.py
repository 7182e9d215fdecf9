"""Criterion of a near-duplicate, in words."""

from __future__ import annotations

from collections.abc import Mapping

from nearkin.errors import is_int
from nearkin.manifests.dedup import DedupManifest
from nearkin.nouns import counted
from nearkin.reports.quantities import parameter_text
from nearkin.stages.verification.measures import MEASURES

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


def shingles_of(manifest: DedupManifest) -> str:
    """Name the shingles of a run: ``word 5-grams``; "" if the manifest does not say."""
    shingle = manifest.parameters.get("shingle")
    unit, _, length = shingle.partition(":") if isinstance(shingle, str) else ("", "", "")
    return f"{_UNITS.get(unit, unit)} {length}-grams" if length else unit


def criterion_of(manifest: DedupManifest) -> str:
    """Return the criterion of a run: ``Jaccard ≥ 0.80 on word 5-grams``."""
    shingles, n = shingles_of(manifest), manifest.parameters.get("min_shared")
    if is_int(n) and n >= 0:
        return f"at least {counted(n, 'shared shingle')} ({shingles})"
    least, threshold = "", manifest.threshold
    if threshold is not None:
        least = f"\N{NO-BREAK SPACE}≥\N{NO-BREAK SPACE}{parameter_text(threshold)}"
    return f"{measure_of(manifest)}{least}{f' on {shingles}' if shingles else ''}"


def criterion_text(parameters: Mapping[str, object]) -> str:
    """Return the criterion from the parameters of a run, in the words of the command line.

    Examples
    --------
    >>> criterion_text({"measure": "jaccard", "threshold": 0.8, "shingle": "words:5"})
    'jaccard ≥ 0.8 on words:5'
    >>> criterion_text({"min_shared": 1, "shingle": "words:13"})
    'at least 1 shared shingle (words:13)'
    """
    n, shingle = parameters.get("min_shared"), parameters["shingle"]
    if n is not None:
        return f"at least {n} shared shingle{'' if n == 1 else 's'} ({shingle})"
    return f"{parameters['measure']} ≥ {parameters['threshold']} on {shingle}"
