"""Numbers, and the criterion of a near-duplicate, in a form for people."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import ROUND_FLOOR, Decimal
from typing import TYPE_CHECKING

from nearkin.errors import is_int
from nearkin.nouns import counted
from nearkin.stages.verification.measures import MEASURES

if TYPE_CHECKING:
    from nearkin.manifests.dedup import DedupManifest


def parameter_text(value: float) -> str:
    """Write a threshold as it was given, with at least two decimals.

    Examples
    --------
    >>> parameter_text(0.8), parameter_text(0.825), parameter_text(1)
    ('0.80', '0.825', '1.00')
    """
    return f"{value:.2f}" if round(value, 2) == value else f"{value:.10g}"


def share_percent_text(value: float, digits: int = 2) -> str:
    """Write a share in per cent, never rounded up: only 1, or a value within 1e-12 of it, is 100%.

    Examples
    --------
    >>> share_percent_text(0.99999), share_percent_text(1), share_percent_text(0.5), share_percent_text(1 - 0.1 - 0.1)
    ('99.99%', '100%', '50.00%', '80.00%')
    """
    exact = Decimal(repr(round(float(value), 12))) * 100  # sums of shares are off by some 1e-16
    return "100%" if exact == 100 else f"{exact.quantize(Decimal(1).scaleb(-digits), ROUND_FLOOR)}%"


def recall_at_text(recall: float, threshold: float, *, at: str = "") -> str:
    """Write the expected recall at a threshold, and that it is higher above, unless all is found.

    Examples
    --------
    >>> recall_at_text(0.9935, 0.7, at="Jaccard "), recall_at_text(1.0, 0.99)
    ('99.3% at Jaccard 0.7, higher above', '100% at 0.99')
    """
    above = ", higher above" if round(recall, 12) < 1 else ""
    return f"{share_percent_text(recall, 1)} at {at}{threshold:g}{above}"


def first_difference_text(n_differences: int, n_moves: int) -> str:
    """Say that the difference shown is the first of several, or a moved passage; empty if it is the only difference."""
    if n_differences + n_moves <= 1:
        return "moved passage" if n_moves else ""
    numbers = [counted(n, noun) for n, noun in ((n_differences, "difference"), (n_moves, "moved passage")) if n]
    return f"first of {' and '.join(numbers)}"


def word_changes_text(n_removed: int, n_added: int, n_moved: int, n_differences: int) -> str:
    """Count the words that a change removed, added and moved, if it has other differences than moved passages."""
    if n_moved and not n_differences:
        return f"{counted(n_moved, 'word')} moved"
    moved = f", {n_moved:,} moved" if n_moved else ""
    return f"−{n_removed:,} +{counted(n_added, 'word')}{moved}"


def recall_text(low: float, high: float) -> str:
    """Write an expected recall, or the range from its lowest to its highest value.

    Examples
    --------
    >>> recall_text(0.9712, 0.98333), recall_text(1, 1)
    ('97.12% to 98.33%', '100%')
    """
    return " to ".join(dict.fromkeys(map(share_percent_text, (low, high))))


def percent_text(part: float, whole: float = 1, digits: int = 1) -> str:
    """Write a share in per cent, rounded to the nearest: only all is 100%, only none 0%; 0 of 0 is 0%.

    Examples
    --------
    >>> percent_text(935, 12345), percent_text(1, 100_000), percent_text(99_999, 100_000), percent_text(0.98766, 1, 2)
    ('7.6%', '< 0.1%', '99.9%', '98.77%')
    """
    if not part or part == whole:
        return "100%" if part else "0%"
    percent, least = 100 * part / whole, 10**-digits
    if percent < least / 2:
        return f"< {least:g}%"
    return f"{min(percent, 100 - least) if percent < 100 else percent:,.{digits}f}%"


def size_text(size_bytes: int) -> str:
    """Write a size in binary units.

    Examples
    --------
    >>> size_text(17), size_text(1_572_864)
    ('17 B', '1.5 MiB')
    """
    if size_bytes < 1024:
        return f"{size_bytes} B"
    size = float(size_bytes)
    for unit in ("KiB", "MiB", "GiB"):
        size /= 1024
        if size < 1024:
            return f"{size:.1f} {unit}"
    return f"{size / 1024:,.1f} TiB"


def about_text(n: float) -> str:
    """Write an estimated count with the two digits that are known of it.

    Examples
    --------
    >>> [about_text(n) for n in (0, 0.02, 1.26, 15_129, 901_408, 383_667_000, 5.0568e12)]
    ['0', 'under 0.1', '1.3', '15,000', '900,000', '380 million', '5.1 trillion']
    """
    if 0 < n < 0.1:
        return "under 0.1"
    known = float(f"{n:.2g}")
    for least, name in ((1e12, " trillion"), (1e9, " billion"), (1e6, " million"), (1, "")):
        if known >= least:
            return f"{known / least:,.10g}{name}"
    return f"{known:g}"


def minute(time: str) -> str:
    """Return a stored time to the minute.

    Examples
    --------
    >>> minute("2026-03-01T12:34:56+00:00")
    '2026-03-01 12:34'
    """
    return time.replace("T", " ")[:16]


def time_text(seconds: float) -> str:
    """Write an approximate time."""
    if seconds < 0.01:
        return "under 0.01 s"
    if seconds < 59.5:
        return f"{seconds:.2g} s" if seconds < 9.95 else f"{seconds:.0f} s"
    if seconds < 3600:
        minutes, rest = divmod(round(seconds), 60)
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    for unit, size, most in (("h", 3600, 48), ("days", 86_400, 1000)):
        if seconds / size < most:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds / 86_400 / 365.25:,.0f} years"


_UNITS = {"words": "word", "chars": "character", "code": "code-token"}


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
    """Return the criterion from the parameters of a run."""
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
