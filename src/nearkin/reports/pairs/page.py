"""Page of a search for pairs: found pairs, probably missed pairs, and the words that each pair shares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nearkin.errors import MissingExtraError
from nearkin.manifests.pairs import PairsManifest, Side
from nearkin.nouns import counted
from nearkin.reports.dedup.page import DocId, ProblemRow, RunNote
from nearkin.reports.figures import Figure, at_both_widths, bins_from, bins_in_words
from nearkin.reports.pages import PageScript, report_environment
from nearkin.reports.pairs import wording
from nearkin.reports.quantities import parameter_text

_N_OPEN = 25
"""Number of the most similar pairs, which are shown open; the others are folded."""
_LONGEST_BAR = 16.0
"""Width in rem of the bar of a word that accounts for the whole cosine."""


@dataclass(frozen=True, slots=True)
class TermRow:
    """Word that both documents of a pair have, with fields of ``pairs.parquet``.

    Parameters
    ----------
    term : str
        Word in the right document.
    left_term : str or None
        Word in the left document; None if it is the same.
    share : float
        Share of the cosine, in [0, 1].
    """

    term: str
    left_term: str | None
    share: float

    @property
    def width(self) -> str:
        """Width of its bar, in rem."""
        return f"{_LONGEST_BAR * min(max(self.share, 0.0), 1.0):.2f}"


@dataclass(frozen=True, slots=True)
class PairRow:
    """Pair with its matching words, those that contribute most first."""

    left: DocId
    right: DocId
    cosine: float
    terms: tuple[TermRow, ...]


@dataclass(frozen=True, slots=True)
class Remarks:
    """Remarks about documents of a side: their number, and the first of them."""

    side: Side
    n: int
    rows: tuple[ProblemRow, ...]


def render_pairs_report(
    told: PairsManifest,
    *,
    best: Sequence[PairRow],
    others: Sequence[PairRow],
    remarks: Sequence[Remarks],
    run: RunNote | None = None,
) -> str:
    """Render ``report.html`` of a finished run; equal arguments give equal bytes.

    Parameters
    ----------
    told : PairsManifest
    best : sequence of PairRow
        The most similar pairs, in the order in which they are to be shown.
    others : sequence of PairRow
        Of the less similar ones: all, or one of each step of the cosine.
    remarks : sequence of Remarks
        Of each side.
    run : RunNote, optional

    Raises
    ------
    MissingExtraError
        The ``report`` extra is not installed.
    """
    try:
        environment = report_environment()
        environment.filters["percent"] = lambda share: f"{100 * share:.0f}%"
        figures = {
            "cosines": cosine_figure(told),
            "known": known_figure(told),
        }
        notes = tuple(wording.notes(told))
        return environment.get_template("pairs.html.j2").render(
            facts=told,
            told=told,
            headline=wording.headline(told),
            languages=wording.languages(told),
            warnings=[note for note in notes if note.is_warning],
            promises=[note for note in notes if not note.is_warning],
            promised=wording.promised(told),
            run=run,
            script=PageScript.named("find.js"),
            way_rows=wording.way_rows(told),
            known_sentences=tuple(wording.known_sentences(told.known)) if told.known else (),
            figures=figures,
            best=best,
            others=others,
            n_open=_N_OPEN,
            way_shares=wording.way_shares(told),
            translated_side=wording.translated_side(told),
            fates=wording.fates(told),
            remarks=remarks,
            parameter_rows=tuple(wording.parameter_rows(told)),
            stage_rows=wording.stage_rows(told),
        )
    except ImportError as error:
        raise MissingExtraError.of("report.html", "report") from error


ARTICLE = "figure 1 of Ture, Elsayed and Lin, “No free lunch”, SIGIR 2011"


def cosine_figure(told: PairsManifest) -> Figure | None:
    """Draw the cosines of the found pairs; None if there are none."""
    counts, threshold = told.histogram["counts"], told.threshold
    if not sum(counts):
        return None
    first, step = told.histogram["from"], told.histogram["step"]
    edges = [round(first + step * i, 9) for i in range(len(counts) + 1)]
    edges, from_threshold = bins_from(threshold, edges, counts)
    of = " at or above the threshold, before the best of each left document were selected"
    caption = f"Pairs by cosine{of if told.parameters['top'] else ''}."
    return _histogram("cosines", edges, from_threshold, threshold, caption)


def known_figure(told: PairsManifest) -> Figure | None:
    """Draw the cosines of known pairs, found or not; None if no known pair could be compared."""
    known = told.known
    if known is None or not sum(known.histogram):
        return None
    caption = (
        f"Known pairs by cosine, whether they were found or not; those below the threshold cannot be found. Compare"
        f" {ARTICLE}."
    )
    return _histogram("known", _tenths(known.histogram), known.histogram, told.threshold, caption)


def _histogram(name: str, bin_edges: Sequence[float], counts: Sequence[int], threshold: float, caption: str) -> Figure:
    """Draw one histogram with the threshold marked."""
    from nearkin.reports.plots.charts import interval_chart

    label = f"threshold {parameter_text(threshold)}"
    wide, narrow = at_both_widths(
        name,
        lambda name, width: interval_chart(
            bin_edges, counts, name=name, title=caption.partition(";")[0].rstrip("."),
            description=f"Histogram of {counted(sum(counts), 'pair')}; the threshold is {parameter_text(threshold)}",
            x_title="cosine", y_title="pairs", mark=(threshold, label), width=width,
        ),
    )  # fmt: skip
    rows = tuple((words, f"{n:,}") for words, n in zip(bins_in_words(bin_edges), counts, strict=True))
    return Figure(wide, narrow, caption, ("Cosine", "Pairs"), rows)


def _tenths(counts: Sequence[int]) -> list[float]:
    """Return the edges of equally wide bins from 0 to 1."""
    return [round(i / len(counts), 9) for i in range(len(counts) + 1)]
