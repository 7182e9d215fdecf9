"""Report of a deduplication: one HTML page that makes no network request; its script only filters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from nearkin.errors import MissingExtraError
from nearkin.manifests.dedup import DedupManifest
from nearkin.reports.comparison.shown_pieces import ShownPiece, shown_pieces
from nearkin.reports.criterion import measure_name
from nearkin.reports.dedup import wording
from nearkin.reports.dedup.figures import RecallCurve, outcome_figure, similarity_figure, size_figure
from nearkin.reports.kept_corpus import no_kept_corpus_text
from nearkin.reports.pages import PageScript, report_environment
from nearkin.reports.quantities import elapsed_text

__all__ = [
    "ByColumn",
    "DroppedRow",
    "GroupRow",
    "MemberRow",
    "PartRow",
    "ProblemRow",
    "RecallCurve",
    "RunNote",
    "SamplePair",
    "ThresholdRow",
    "render_dedup_report",
]

DocId = str | int

_CONTEXT_WORDS, _COMPARED_WORDS, _LONGEST_RUN = 14, 4_000, 60
_OPEN_SAMPLES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplePair:
    """Verified pair that is shown with its differences.

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
    is_least_alike : bool
        A is the principal of a group and B the member least similar to it.
    is_bridge : bool
        The two are not in one group.
    """

    id_a: DocId
    id_b: DocId
    source_a: str
    source_b: str
    similarity: float
    measure: str
    text_a: str
    text_b: str
    is_least_alike: bool = False
    is_bridge: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberRow:
    """Document of a group, with fields of ``documents.parquet``.

    Parameters
    ----------
    doc_id : str or int
    where : str
        Where it stands: ``mail/1.jsonl:1``.
    similarity : float or None
        To the principal, in [0, 1]; None where it is not known.
    reason : str
    is_principal : bool
    copy_of : str or int or None
        Document whose text it repeats, which may be dropped itself; None for other documents.
    """

    doc_id: DocId
    where: str
    similarity: float | None
    reason: str
    is_principal: bool = False
    copy_of: DocId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRow:
    """Group of at least two documents, with fields of ``groups.parquet``.

    Parameters
    ----------
    members : tuple of MemberRow
        Those of its documents that are listed.
    text : str or None
        The principal's text; None if the texts were not read for the page.
    """

    group: DocId
    size: int
    lowest_similarity: float
    n_bridges_refused: int
    n_exact_copies: int
    is_lowest_exact: bool = True
    members: tuple[MemberRow, ...] = ()
    text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DroppedRow:
    """Document of the input that the other set has, with fields of ``documents.parquet``.

    Parameters
    ----------
    doc_id, match_id : str or int
        The document, and the one of the other set for which it was dropped.
    where, match_where : str
        Where each stands: ``mail/1.jsonl:1``.
    similarity : float
        In [0, 1].
    reason : str
    text, match_text : str
        Their texts, or at least as much of them as the page shows.
    """

    doc_id: DocId
    where: str
    match_id: DocId
    match_where: str
    similarity: float
    reason: str
    text: str
    match_text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PartRow:
    """Outcome of the documents of a file, a folder or a value of a column.

    Parameters
    ----------
    name : str or None
        None for documents without a value.
    n_documents, n_dropped : int
    n_characters, n_characters_dropped : int
    """

    name: str | None
    n_documents: int
    n_dropped: int
    n_characters: int
    n_characters_dropped: int


@dataclass(frozen=True, slots=True)
class ByColumn:
    """Outcome of the documents, by the values of a column."""

    column: str
    rows: Sequence[PartRow]


@dataclass(frozen=True, slots=True)
class ThresholdRow:
    """Result at a threshold; the counts are None if the run did not search this low."""

    threshold: float
    n_pairs: int | None = None
    n_groups: int | None = None
    n_dropped: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunNote:
    """End and duration of a run, and the files beside its page.

    Parameters
    ----------
    ended : str
        Date and time, with its time zone.
    elapsed_s : float
    files : tuple of str
    """

    ended: str
    elapsed_s: float
    files: tuple[str, ...] = ()

    @classmethod
    def now(cls, folder: Path, elapsed_s: float, names: Sequence[str]) -> RunNote:
        """Make the note for a run that ends now, with its existing results."""
        ended = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
        return cls(ended=ended, elapsed_s=elapsed_s, files=tuple(name for name in names if (folder / name).exists()))

    @property
    def in_words(self) -> str:
        """Date, time and duration; the command takes longer, by the time for this page."""
        return f"{self.ended} · took {elapsed_text(self.elapsed_s)}, plus the time to write this report"


@dataclass(frozen=True, slots=True)
class ProblemRow:
    """Remark about a document, with fields of ``problems.parquet``; ``where`` is ``file:line``."""

    where: str
    doc_id: DocId | None
    problem: str


@dataclass(frozen=True, slots=True)
class ShownException:
    """Document without a text or with a part of it, with fields of ``exceptions.csv``."""

    doc_id: str
    exception: str
    is_partial: bool
    sentence: str
    kind: str | None


@dataclass(frozen=True, slots=True)
class ShownPair:
    """Sample pair as the page shows it."""

    pair: SamplePair
    measure: str
    segments: tuple[ShownPiece, ...]
    is_open: bool


def render_dedup_report(
    manifest: DedupManifest,
    *,
    similarity_bin_edges: Sequence[float],
    similarity_counts: Sequence[int],
    group_size_counts: Mapping[int, int],
    largest_groups: Sequence[GroupRow],
    samples: Sequence[SamplePair],
    problems: Sequence[ProblemRow],
    n_problems: int,
    sources: Sequence[PartRow] = (),
    by: ByColumn | None = None,
    thresholds: Sequence[ThresholdRow] = (),
    run: RunNote | None = None,
    curve: RecallCurve | None = None,
    exceptions: Sequence[ShownException] = (),
    dropped: Sequence[DroppedRow] = (),
) -> str:
    """Return the page ``report.html`` of a finished run; the same bytes for the same arguments.

    Parameters
    ----------
    manifest : DedupManifest
        What it lacks is left out of the page.
    similarity_bin_edges : sequence of float, shape (n_bins + 1,)
        Rising.
    similarity_counts : sequence of int, shape (n_bins,)
        Verified pairs in each bin.
    group_size_counts : Mapping
        Size of a group to the number of groups of that size.
    largest_groups : sequence of GroupRow
        In the order in which they are to be shown.
    samples : sequence of SamplePair
        Shown from the least to the most similar, so the pairs just above the threshold come first; equals in the order
        given.
    problems : sequence of ProblemRow
        The first of them.
    n_problems : int
        All of them.
    sources : sequence of PartRow
        The files of the input, or its folders.
    by : ByColumn, optional
    thresholds : sequence of ThresholdRow
        In ascending order.
    run : RunNote, optional
    curve : RecallCurve, optional
        For a search that has no bands; with bands the curve follows from the manifest's plan.
    exceptions : sequence of ShownException
        The first of the documents that were extracted in part or not at all.
    dropped : sequence of DroppedRow
        Of a run against another set, the first documents that were dropped, in the order in which they are to be shown.

    Raises
    ------
    MissingExtraError
        The ``report`` extra is not installed.
    """
    try:
        environment = report_environment()
        shown = tuple(_shown(samples))
    except ImportError as error:
        raise MissingExtraError.of("report.html", "report") from error
    n_groups = sum(group_size_counts.values())
    notes = tuple(wording.promises(manifest))
    return environment.get_template("dedup.html.j2").render(
        facts=manifest,
        headline=wording.headline(manifest),
        no_kept_corpus=no_kept_corpus_text(manifest) if manifest.command == "regroup" else "",
        warnings=[note for note in notes if note.is_warning],
        promises=[note for note in notes if not note.is_warning],
        reason_rows=tuple(wording.reason_rows(manifest)),
        parameter_rows=tuple(wording.parameter_rows(manifest)),
        normalisation_steps=wording.normalisation_steps(manifest),
        glossary=wording.glossary(manifest),
        outcome=outcome_figure(manifest),
        similarities=similarity_figure(manifest, similarity_bin_edges, similarity_counts, curve),
        sizes=size_figure(group_size_counts),
        largest_groups=largest_groups,
        n_groups=n_groups,
        guarantees=wording.guarantees_in_words(manifest),
        no_pairs=wording.no_pairs_text(manifest),
        advice_on_samples=wording.advice_on_samples(manifest),
        groups_told=wording.groups_told(manifest, n_groups),
        samples=shown,
        problems=problems,
        n_problems=n_problems,
        exceptions=exceptions,
        dropped=dropped,
        sources=sources,
        by=by,
        thresholds=thresholds,
        run=run,
        script=PageScript.named("find.js"),
    )


def _shown(samples: Sequence[SamplePair]) -> Iterator[ShownPair]:
    """Yield the samples in the order in which they are shown, with their differences marked."""
    from nearkin.stages.differences.marking import mark_differences

    for index, pair in enumerate(sorted(samples, key=lambda pair: pair.similarity)):
        pieces = mark_differences(
            pair.text_a, pair.text_b, context_words=_CONTEXT_WORDS, max_words=_COMPARED_WORDS, max_run=_LONGEST_RUN
        )
        yield ShownPair(pair, measure_name(pair.measure), shown_pieces(pieces), index < _OPEN_SAMPLES)
