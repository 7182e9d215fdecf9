"""The report of a deduplication: one page of HTML that needs neither a network nor a script."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from nearkin.errors import MissingExtraError
from nearkin.reports import wording
from nearkin.reports.facts import RunFacts, measure_name
from nearkin.reports.hidden_characters import reveal
from nearkin.reports.quantities import counted, parameter_text, share_text, size_text

if TYPE_CHECKING:
    import jinja2

DocId = str | int

_WIDE, _NARROW = 684, 262  # pixels of a figure's plot: beside a margin of text, and on a telephone
_LONGEST_NAME = 96  # characters of an id or a path that are shown before it is shortened in the middle
_CONTEXT_WORDS, _COMPARED_WORDS, _LONGEST_RUN = 14, 4_000, 60
_OPEN_SAMPLES = 3


@dataclass(frozen=True, slots=True)
class SamplePair:
    """A verified pair to be shown with its differences.

    Parameters
    ----------
    id_a, id_b : str or int
    source_a, source_b : str
        Where each stands: ``mail/1.txt:1``.
    similarity : float
        In [0, 1].
    measure : str
        The similarity's name: ``jaccard`` or ``containment``.
    text_a, text_b : str
        As they were compared: normalised.
    """

    id_a: DocId
    id_b: DocId
    source_a: str
    source_b: str
    similarity: float
    measure: str
    text_a: str
    text_b: str


@dataclass(frozen=True, slots=True)
class GroupRow:
    """A group of two documents or more, as ``groups.parquet`` has it."""

    group: DocId
    size: int
    lowest_similarity: float
    n_bridges_refused: int
    n_exact_copies: int
    is_lowest_exact: bool = True


@dataclass(frozen=True, slots=True)
class ProblemRow:
    """A document that could not be read, as ``problems.parquet`` has it."""

    source: str
    line: int
    doc_id: DocId | None
    problem: str


@dataclass(frozen=True, slots=True)
class RecallCurve:
    """The chance that a search without bands finds a pair, by the pair's similarity."""

    similarities: Sequence[float]
    probabilities: Sequence[float]


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure at two widths, its caption, and its numbers as a table."""

    wide: str
    narrow: str
    caption: str
    columns: tuple[str, str] = ("", "")
    rows: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class ShownSegment:
    """A segment of a comparison, its leading space apart so that no mark begins with it."""

    kind: str
    space: str
    text: str


@dataclass(frozen=True, slots=True)
class ShownPair:
    """A sample as the page shows it."""

    pair: SamplePair
    measure: str
    segments: tuple[ShownSegment, ...]
    is_open: bool


def render_dedup_report(
    manifest: Mapping[str, object],
    *,
    similarity_bin_edges: Sequence[float],
    similarity_counts: Sequence[int],
    group_size_counts: Mapping[int, int],
    largest_groups: Sequence[GroupRow],
    samples: Sequence[SamplePair],
    problems: Sequence[ProblemRow],
    n_problems: int,
    curve: RecallCurve | None = None,
) -> str:
    """The page ``report.html`` of a finished run; the same bytes for the same arguments.

    Parameters
    ----------
    manifest : Mapping
        As ``manifest.json`` has it. What it lacks is left out of the page: a run whose groups were cut anew has no
        plan.
    similarity_bin_edges : sequence of float, shape (n_bins + 1,)
        Rising.
    similarity_counts : sequence of int, shape (n_bins,)
        Verified pairs in each bin.
    group_size_counts : Mapping
        Size of a group to the number of groups of that size.
    largest_groups : sequence of GroupRow
        In the order in which they are to be shown.
    samples : sequence of SamplePair
        Shown from the most to the least similar; equals in the order given.
    problems : sequence of ProblemRow
        The first of them.
    n_problems : int
        All of them.
    curve : RecallCurve, optional
        For a search that has no bands; with bands the curve follows from the manifest's plan.

    Raises
    ------
    MissingExtraError
        The ``report`` extra is not installed.
    """
    facts = RunFacts.of(manifest)
    try:
        environment = _environment()
        reasons = _reasons_figure(facts)
        similarities = _similarity_figure(facts, similarity_bin_edges, similarity_counts)
        recall = _recall_figure(facts, similarity_bin_edges, similarity_counts, curve)
        sizes = _size_figure(group_size_counts)
        shown = tuple(_shown(samples))
    except ImportError as error:
        raise MissingExtraError.of("report.html", "report") from error
    return environment.get_template("dedup.html.j2").render(
        facts=facts,
        headline=wording.headline(facts),
        promises=tuple(wording.promises(facts)),
        reason_rows=tuple(wording.reason_rows(facts)),
        parameter_rows=tuple(wording.parameter_rows(facts)),
        normalisation_steps=wording.normalisation_steps(facts),
        glossary=wording.GLOSSARY,
        figures={"reasons": reasons, "similarities": similarities, "recall": recall, "sizes": sizes},
        largest_groups=largest_groups,
        n_groups=sum(group_size_counts.values()),
        samples=shown,
        problems=problems,
        n_problems=n_problems,
    )


def _environment() -> jinja2.Environment:
    """Jinja with everything escaped, and with the filters that the templates use."""
    import jinja2
    from markupsafe import Markup

    from nearkin.reports.theme import stylesheet

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("nearkin.reports"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "reveal": reveal,
        "name": _short_name,
        "share": share_text,
        "size": size_text,
        "counted": counted,
        "thousands": lambda n: f"{n:,}",
        "svg": Markup,  # our own drawing, never text of a document
    }
    environment.globals["palette"] = Markup(stylesheet())
    return environment


def _short_name(value: object) -> str:
    """An id or a path that can be shown: hidden characters revealed, a huge one shortened with its length said."""
    text = str(value)
    if len(text) <= _LONGEST_NAME:
        return reveal(text)
    end = _LONGEST_NAME // 4
    return f"{reveal(text[: _LONGEST_NAME - end])} … {reveal(text[-end:])} ({len(text):,} characters)"


def _reasons_figure(facts: RunFacts) -> Figure | None:
    """Documents by reason; none where there are no documents. Its numbers stand in a table of the page."""
    from nearkin.reports.figures import reasons_bar

    if not facts.count("documents"):
        return None
    wide = reasons_bar(facts.by_reason, name="reasons-w", width=_WIDE + 56)
    narrow = reasons_bar(facts.by_reason, name="reasons-n", width=_NARROW + 56)
    return Figure(wide, narrow, "Documents by what happened to them.")


def _similarity_figure(facts: RunFacts, bin_edges: Sequence[float], counts: Sequence[int]) -> Figure | None:
    """The histogram of similarities; none where there are no pairs."""
    from nearkin.reports.figures import similarity_histogram

    if not sum(counts):
        return None
    threshold = bin_edges[0] if facts.threshold is None else facts.threshold
    wide, narrow = (
        similarity_histogram(
            bin_edges, counts, threshold, measure=facts.measure, name=f"similarities-{tag}", width=width
        )
        for tag, width in (("w", _WIDE), ("n", _NARROW))
    )
    return Figure(
        wide,
        narrow,
        f"Verified pairs by {facts.measure} similarity. Exact copies count as pairs of similarity 1.",
        (f"{facts.measure} similarity", "Pairs"),
        tuple(_bin_rows(bin_edges, counts)),
    )


def _bin_rows(bin_edges: Sequence[float], counts: Sequence[int]) -> Iterator[tuple[str, str]]:
    """The bins of a histogram as lines of a table; the last one holds its upper end."""
    last = len(counts) - 1
    for index, ((low, high), n) in enumerate(zip(pairwise(bin_edges), counts, strict=True)):
        yield (
            f"{parameter_text(round(low, 6))} {'to' if index == last else 'to under'} {parameter_text(round(high, 6))}",
            f"{n:,}",
        )


def _recall_figure(
    facts: RunFacts, bin_edges: Sequence[float], counts: Sequence[int], curve: RecallCurve | None
) -> Figure | None:
    """The curve of the search; none where the run has no plan of its own."""
    from nearkin.reports.figures import recall_curve, s_curve

    threshold = facts.threshold
    bands, rows = int(facts.plan.get("bands", 0)), int(facts.plan.get("rows", 0))
    if threshold is None or (curve is None and not (bands and rows)):
        return None
    drawn = []
    for tag, width in (("w", _WIDE - 24), ("n", _NARROW - 24)):
        name, measure = f"curve-{tag}", facts.measure
        if curve is None:
            drawn.append(
                s_curve(
                    bands, rows, threshold, facts.recall, bin_edges, counts, measure=measure, name=name, width=width
                )
            )
            continue
        at_threshold = facts.plan.get("recall_at_threshold", _at(curve, threshold))
        drawn.append(
            recall_curve(
                curve.similarities,
                curve.probabilities,
                threshold,
                at_threshold,
                facts.recall,
                bin_edges,
                counts,
                measure=measure,
                name=name,
                width=width,
            )
        )
    how = f" with {bands:,} bands of {rows}" if curve is None else ""
    return Figure(
        drawn[0],
        drawn[1],
        f"How likely the search finds a pair{how}, by the pair's similarity (line), over the pairs of this run (bars)."
        " The dot is the threshold.",
    )


def _at(curve: RecallCurve, similarity: float) -> float:
    """The curve's probability at a similarity, along straight lines between its points."""
    import numpy as np

    return float(np.interp(similarity, curve.similarities, curve.probabilities))


def _size_figure(group_size_counts: Mapping[int, int]) -> Figure | None:
    """Groups by size; none where there are no groups."""
    from nearkin.reports.figures import binned_sizes, group_sizes

    sizes = sorted(group_size_counts)
    counts = [group_size_counts[size] for size in sizes]
    if not sum(counts):
        return None
    wide, narrow = (
        group_sizes(sizes, counts, name=f"sizes-{tag}", width=w) for tag, w in (("w", _WIDE), ("n", _NARROW))
    )
    rows = tuple((label, f"{n:,}") for label, n in binned_sizes(sizes, counts))
    return Figure(wide, narrow, "Groups by the number of their documents.", ("Documents in the group", "Groups"), rows)


def _shown(samples: Sequence[SamplePair]) -> Iterator[ShownPair]:
    """The samples from the most to the least similar, their differences marked."""
    from nearkin.reports.differences import mark_differences

    for index, pair in enumerate(sorted(samples, key=lambda pair: -pair.similarity)):
        segments = mark_differences(
            pair.text_a, pair.text_b, context_words=_CONTEXT_WORDS, max_words=_COMPARED_WORDS, max_run=_LONGEST_RUN
        )
        shown = []
        for place, segment in enumerate(segments):
            text = segment.text.lstrip()
            beside_gap = place > 0 and "gap" in (segment.kind, segments[place - 1].kind)
            shown.append(ShownSegment(segment.kind, " " if beside_gap or len(text) < len(segment.text) else "", text))
        yield ShownPair(pair, measure_name(pair.measure), tuple(shown), index < _OPEN_SAMPLES)
