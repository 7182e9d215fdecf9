"""Page of a search for pairs: found pairs, probably missed pairs, and the words that each pair shares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from nearkin.manifests.pairs import SIDES, KnownFound, PairsManifest, Side
from nearkin.nouns import counted
from nearkin.options.pairs import PairOptions
from nearkin.reports.dedup import DocId, RunNote
from nearkin.reports.facts.fact import Fact, Table, damage_facts, nonzero
from nearkin.reports.facts.plan import methods_table
from nearkin.reports.figures import Figure, at_both_widths, bins_from, bins_in_words
from nearkin.reports.pages import render_page
from nearkin.reports.quantities import (
    about_text,
    parameter_text,
    percent_text,
    recall_text,
    share_percent_text,
    size_text,
    time_text,
)
from nearkin.wording import share_text

_N_OPEN = 25
"""Number of the most similar pairs, which are shown open; the others are folded."""
_LONGEST_BAR = 16.0
"""Width in rem of the bar of a word that accounts for the whole cosine."""


@dataclass(frozen=True, slots=True)
class TermRow:
    """Word that both documents of a pair have, with fields of ``pairs.parquet``.

    ``left_term`` is None if it is the same; ``share`` of the cosine is in [0, 1].
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


def render_pairs_report(
    manifest: PairsManifest,
    *,
    best: Sequence[PairRow],
    others: Sequence[PairRow],
    remarks: Mapping[Side, Table],
    run: RunNote | None = None,
) -> str:
    """Render ``report.html`` of a finished run; equal arguments give equal bytes."""
    ways = [(way.search, way.predicted) for way in (manifest.plan, *manifest.plan.alternatives)]
    return render_page(
        "pairs.html.j2",
        script="find.js",
        filters={"percent": lambda share: f"{100 * share:.0f}%"},
        facts=manifest,
        threshold=parameter_text(manifest.threshold),
        summary=tuple(pairs_facts(manifest)),
        sides=sides_table(manifest),
        run=run,
        methods=methods_table(ways, caption="As predicted before the search.") if len(ways) > 1 else None,
        figures={"cosines": cosine_figure(manifest), "known": known_figure(manifest)},
        best=best,
        others=others,
        n_open=_N_OPEN,
        ways=tuple(way_facts(manifest)),
        remarks=remarks,
        parameters=tuple(parameter_facts(manifest)),
        stages=stages_table(manifest),
    )


ARTICLE = "figure 1 of Ture, Elsayed and Lin, “No free lunch”, SIGIR 2011"


def cosine_figure(manifest: PairsManifest) -> Figure | None:
    """Draw the cosines of the found pairs; None if there are none."""
    counts, threshold = manifest.histogram["counts"], manifest.threshold
    if not sum(counts):
        return None
    first, step = manifest.histogram["from"], manifest.histogram["step"]
    edges = [round(first + step * i, 9) for i in range(len(counts) + 1)]
    edges, from_threshold = bins_from(threshold, edges, counts)
    of = " at or above the threshold, before the best of each left document were selected"
    caption = f"Pairs by cosine{of if manifest.parameters['top'] else ''}."
    return _histogram("cosines", edges, from_threshold, threshold, caption)


def known_figure(manifest: PairsManifest) -> Figure | None:
    """Draw the cosines of known pairs, found or not; None if no known pair could be compared."""
    known = manifest.known
    if known is None or not sum(known.histogram):
        return None
    caption = (
        f"Known pairs by cosine, whether they were found or not; those below the threshold cannot be found. Compare"
        f" {ARTICLE}."
    )
    edges = [round(i / len(known.histogram), 9) for i in range(len(known.histogram) + 1)]
    return _histogram("known", edges, known.histogram, manifest.threshold, caption)


def _histogram(name: str, bin_edges: Sequence[float], counts: Sequence[int], threshold: float, caption: str) -> Figure:
    from nearkin.reports.plots import interval_chart

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


_OF_TABLE = ("agreement", "stems", "splits", "translate")
_CONSTANTS = {
    "terms": "Number of matching words written for each pair.",
    "k1": "BM25: the effect of repeated words.",
    "b": "BM25: the effect of a document's length.",
}
"""Meanings of parameters that are no options."""


def way_facts(manifest: PairsManifest) -> Iterator[Fact]:
    """Give the shares of the translated side's words, by how they were translated; nothing without a table."""
    side = manifest.right if manifest.table is not None and manifest.table.translated == "right" else manifest.left
    for way, (words, meaning) in WAYS.items():
        if way in side.ways:
            yield Fact(words, percent_text(side.ways[way]), meaning)


def parameter_facts(manifest: PairsManifest) -> Iterator[Fact]:
    """Give the parameters that had an effect, with their meaning."""
    options = PairOptions.declared()
    for name in (*options, *_CONSTANTS):
        value = manifest.parameters.get(name)
        if value is not None and not (manifest.table is None and name in _OF_TABLE):
            text = {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
            yield Fact(name.replace("_", "-"), text, options[name].help if name in options else _CONSTANTS[name])


def stages_table(manifest: PairsManifest) -> Table:
    """Tabulate the costs of the stages."""
    rows = [(time_text(stage.elapsed_s), size_text(stage.peak_memory_bytes), stage.name) for stage in manifest.stages]
    return Table(("time", "peak memory", "stage"), rows, 2, "The time for this page is not included.")


def sides_table(run: PairsManifest) -> Table:
    """Tabulate the documents of both sides by outcome."""
    rows = []
    for side in SIDES:
        record = run.side(side)
        n_paired = run.counts.with_pairs(side)
        figures = record.n_documents, n_paired, record.n_vectors, record.n_few_terms, record.n_unreadable
        rows.append([*(f"{n:,}" for n in figures), side])
    return Table(("documents", "with a pair", "compared", "too few terms", "unreadable", "side"), rows, 5)


def pairs_facts(run: PairsManifest) -> Iterator[Fact]:
    """Count the pairs, with the search and its predicted recall, the translated words, and the known pairs."""
    at_most = "" if run.parameters["top"] is None else f", at most {run.parameters['top']:,} per left document"
    yield Fact("pairs", run.counts.pairs, f"cosine ≥ {parameter_text(run.threshold)}{at_most}")
    yield Fact("search", run.plan.search.method, f"{run.plan.in_words}; {run.plan.why}")
    predicted = run.plan.predicted
    expected = recall_text(predicted.recall_low, predicted.recall_high)
    yield Fact("predicted recall", expected, "to measure it: nearkin audit")
    if (n_pairs := run.counts.pairs_at_threshold) and predicted.recall_low < 1:
        fewest, expected, most = (
            about_text(n_pairs * (1 - recall) / max(recall, 1e-9))
            for recall in (predicted.recall_high, predicted.recall, predicted.recall_low)
        )
        yield Fact("expected missed pairs", expected, f"{fewest} to {most}")
    n_all = f"{run.left.n_vectors * run.right.n_vectors:,}"
    cost = f"of {n_all} pairs; relative cost {percent_text(predicted.relative_cost)}"
    yield Fact("comparisons", run.counts.comparisons, cost)
    if (table := run.table) is not None:
        yield Fact("translated side", table.translated or "left", f"table of {table.source} and {table.target}")
    least = run.parameters.get("min_occurrences", 1)
    for side in SIDES:
        record = run.side(side)
        if least > 1:
            yield Fact(
                f"rare words, {side}", record.n_rare_words, f"of {record.n_words:,}, in fewer than {least} places"
            )
        if ways := record.ways:
            yield Fact(f"translated words, {side}", percent_text(1 - ways["unknown"]), _ways_text(ways))
    if run.known:
        yield from known_facts(run.known)
    for side in SIDES:
        yield from damage_facts(run.side(side).damaged_files)
        if (record := run.side(side)).n_few_terms > record.n_documents / 2:
            column = record.inputs[0].text
            is_it = f"; is {column!r} the column of texts?" if column else ""
            yield Fact(f"too few words, {side}", record.n_few_terms, f"that the other side has{is_it}", "warning")
    if not run.counts.pairs:
        advice = "translations often have a cosine of 0.3 to 0.6" if run.table else "for two languages: --table"
        yield Fact("no pair reaches the threshold", note=f"lower --threshold; {advice}", tone="warning")
    if not run.plan.reaches_recall:
        wanted = share_percent_text(run.parameters["recall"], 1)
        yield Fact("the options do not reach the recall", wanted, "the requested one", "warning")


WAYS = {
    "whole": ("by the table", "the translation table has the word"),
    "stem": ("by stem", "the table has another form of the word"),
    "itself": ("unchanged", "the other side has the same word, such as a name or a number"),
    "parts": ("by parts", "the table has the parts of a compound"),
    "unknown": ("untranslated", "no translation is known; the word is ignored"),
}


def _ways_text(ways: Mapping[str, float]) -> str:
    return ", ".join(f"{percent_text(ways[way])} {words}" for way, (words, _) in WAYS.items() if way != "unknown")


def known_facts(known: KnownFound) -> Iterator[Fact]:
    """Give the recall of known pairs, and the precision of reported ones."""
    recall = "" if known.recall is None else f"recall {share_percent_text(known.recall, 1)}; "
    yield Fact("known pairs found", known.n_found, f"of {known.n_known:,}; {recall}{known.told_by}: known.tsv")
    yield Fact("found first", known.n_first, "the most similar pair of their left document")
    for label, precision, n in (
        ("precision", known.precision_of_all_pairs, known.n_pairs),
        ("precision of known documents", known.precision_of_known_left, known.n_pairs_of_known_left),
    ):
        if precision is not None:
            how = f"of {n:,} pairs; a pair that is not known may be right"
            yield Fact(label, share_percent_text(precision, 1), how)
    if known.mean_cosine is not None:
        yield Fact("mean cosine of known pairs", share_text(known.mean_cosine))
    yield from nonzero("known pairs skipped", known.n_told - known.n_known, "repeated, or not in the input")
    yield from nonzero("known pairs not compared", known.n_known - known.n_comparable, "a document has too few words")
