"""Sentences and tables of the page of a search for pairs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from nearkin.manifests.pairs import SIDES, KnownFound, PairsManifest, Side
from nearkin.nouns import agreeing, counted
from nearkin.planning.pairs.search import Prediction
from nearkin.reports.dedup.wording import Note, ParameterRow
from nearkin.reports.quantities import NBSP, elapsed_text, magnitude_text, parameter_text, percent_text, recall_text
from nearkin.wording import share_text

WAYS = {
    "whole": ("by the table", "the translation table has the word"),
    "stem": ("by stem", "the table has another form of the word"),
    "itself": ("unchanged", "the other side has the same word, such as a name or a number"),
    "parts": ("by parts", "the table has the parts of a compound"),
    "unknown": ("untranslated", "no translation is known; the word is ignored"),
}
_OF_TABLE = ("agreement", "stems", "splits", "translate")
_MEANINGS = {
    "threshold": "the minimum cosine of a pair",
    "recall": "the requested share of such pairs to find",
    "top": "the maximum number of pairs of each left document, the most similar first",
    "terms": "the number of matching words written for each pair",
    "k1": "BM25: the effect of repeated words",
    "b": "BM25: the effect of a document's length",
    "min_occurrences": "words that occur less often in their corpus are ignored",
    "min_terms": "documents with fewer terms are not compared",
    "agreement": "the minimum probability of a translation in the reverse direction",
    "stems": "a word that the table lacks is translated by other forms of the word",
    "splits": "compounds that the table lacks are split",
    "translate": "the side whose words are translated; auto: the one whose language has more words in the table",
    "seed": "random seed of the signatures and orders; the same seed gives the same result",
    "method": "the requested search method",
    "bits": "the given length of a signature",
    "distance": "the given maximum number of different bits of a candidate pair",
    "permutations": "the given number of sorted orders",
    "window": "the given number of neighbours on each side that a signature is compared with",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class WayRow:
    """Search method with its prediction."""

    name: str
    recall: str
    n_comparisons: str
    relative_cost: str
    time: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class ShareRow:
    """Part of a whole: its name, its count if known, and its share in [0, 1] and in words."""

    name: str
    n: int | None
    share: float
    share_words: str
    meaning: str = ""


@dataclass(frozen=True, slots=True)
class Fates:
    """Rows about the documents of one side."""

    side: Side
    n_documents: int
    rows: tuple[ShareRow, ...]


@dataclass(frozen=True, slots=True)
class StageRow:
    """Stage with its time, in words and as a share of the total, and its peak memory."""

    name: str
    time: str
    share: float
    memory_bytes: int


def headline(told: PairsManifest) -> str:
    """Count the pairs in one sentence."""
    n, top = told.counts.pairs, told.parameters["top"]
    left, right = (f"{told.side(side).n_documents:,}" for side in SIDES)
    threshold = parameter_text(told.threshold)
    if not n:
        return f"No pairs among {left} × {right} documents have a cosine of at least {threshold}"
    best = "" if top is None else f"; at most {'one' if top == 1 else f'{top:,}'} per left document"
    return f"{counted(n, 'pair')} among {left} × {right} documents with a cosine of at least {threshold}{best}"


def languages(told: PairsManifest) -> str:
    """Name the languages of the sides, as far as they are known."""
    table = told.table
    if table is None:
        return "Both sides were compared word by word, without a translation table."
    source, target = table.source, table.target
    if table.translated == "right":
        source, target = target, source
    return f"The words of the {table.translated} side were translated by a table, from {source} to {target}."


def notes(told: PairsManifest) -> Iterator[Note]:
    """Notes on what the results guarantee."""
    plan, asked = told.plan, told.parameters["recall"]
    yield Note(f"Predicted recall: {band_text(plan.predicted)}", " ".join(_missed(told)))
    if (low := plan.predicted.recall_low) < asked:
        yield Note(
            "The recall may be lower than requested",
            f"The requested recall is {recall_text(asked)}; the prediction may be as low as {recall_text(low, 2)}."
            " Another method, or fewer given parameters, reaches more.",
            is_warning=True,
        )
    yield Note(
        "Reported pairs are verified",
        "Every reported pair has its exact cosine, computed with BM25 weights from all words of both documents except"
        " rare ones. Estimates only select candidates.",
    )
    yield Note("The search", " ".join(_searched(told)))
    yield Note(
        "To measure the recall",
        "The command nearkin audit, with the directory of this page, compares a sample of the documents with all others"
        " and prints the recall that was reached.",
    )
    unread = sum(told.side(side).n_unreadable + told.side(side).n_few_terms for side in SIDES)
    if unread:
        yield Note(
            f"{counted(unread, 'document')} {'was' if unread == 1 else 'were'} not compared",
            "They are unreadable or have too few words; see Documents. The recall does not include their pairs.",
            is_warning=True,
        )


def promised(told: PairsManifest) -> str:
    """Summarise the notes in a line."""
    predicted = told.plan.predicted
    if predicted.recall_low >= 1:
        return "Every reported pair is verified, and no pair of compared documents is missing"
    return f"Every reported pair is verified; predicted recall {band_text(predicted)}"


def _missed(told: PairsManifest) -> Iterator[str]:
    """Notes on pairs that were probably missed."""
    predicted, found = told.plan.predicted, told.counts.pairs_at_threshold
    if predicted.recall_low >= 1:
        yield "All pairs of comparable documents were compared; none is missing."
        return
    yield "Predicted share of the pairs at or above the threshold that the search finds, with its range."
    if found is None:  # the best of each document alone were kept
        return
    low, middle, high = (
        round(found * (1 - recall) / max(recall, 1e-9))
        for recall in (predicted.recall_high, predicted.recall, predicted.recall_low)
    )
    if found:
        between = "" if low == high else f" ({low:,} to {high:,})"
        yield f"{counted(found, 'pair')} found; about {middle:,}{between} probably missed."


def _searched(told: PairsManifest) -> Iterator[str]:
    """Describe the search method and its cost."""
    plan, counts = told.plan, told.counts
    way = plan.in_words
    yield f"{way[:1].upper()}{way[1:]} ({plan.why})."
    n_all = told.left.n_vectors * told.right.n_vectors
    compared = f"{magnitude_text(counts.comparisons)} comparisons for {magnitude_text(n_all)} pairs"
    cost = f"{100 * plan.predicted.relative_cost:,.1f}%"
    is_sorted = plan.search.method == "window"
    yield f"{compared}: relative cost {cost}{', sorting included' if is_sorted else ''}."
    if plan.search.method != "vectors":
        yield f"The exact cosine was computed for {counted(counts.candidates, 'candidate')}."
    if plan.sampled_documents:
        yield (
            f"The plan is based on a sample of {counted(plan.sampled_documents, 'left document')} with"
            f" {counted(plan.sampled_pairs, 'pair')} at or above the threshold."
        )


def way_rows(told: PairsManifest) -> tuple[WayRow, ...]:
    """Tabulate the chosen method and the alternatives; empty if there were none."""
    plan = told.plan
    if not plan.alternatives:
        return ()
    return tuple(
        WayRow(
            name=way.search.describe(),
            recall=band_text(way.predicted),
            n_comparisons=magnitude_text(way.predicted.n_comparisons),
            relative_cost=f"{100 * way.predicted.relative_cost:,.1f}%",
            time=elapsed_text(way.predicted.elapsed_s),
            is_chosen=is_chosen,
        )
        for way, is_chosen in [(plan, True), *((other, False) for other in plan.alternatives)]
    )


def known_sentences(known: KnownFound) -> Iterator[str]:
    """Give the number of known pairs that were found, and of reported pairs that are known."""
    recall = "" if known.recall is None else f"Recall {recall_text(known.recall)}: "
    yield f"{recall}{known.n_found:,} of {counted(known.n_known, 'known pair')} found."
    if known.n_found:
        yield f"{known.n_first:,} of these are the most similar pair of their left document."
    if known.precision_of_all_pairs is not None:
        yield (
            f"Precision over all pairs: {recall_text(known.precision_of_all_pairs)} of"
            f" {counted(known.n_pairs, 'reported pair')} {'is' if known.n_pairs == 1 else 'are'} known."
        )
    if known.precision_of_known_left is not None:
        others = "" if known.precision_of_known_left == 1 else " A pair that is not known is not necessarily wrong."
        yield (
            f"Precision over left documents with a known partner: {recall_text(known.precision_of_known_left)} of their"
            f" {counted(known.n_pairs_of_known_left, 'pair')} {agreeing(known.n_pairs_of_known_left, 'is', 'are')}"
            f" known.{others}"
        )
    if known.mean_cosine is not None:
        yield f"The mean cosine of known pairs is {share_text(known.mean_cosine)}."
    if n_absent := known.n_told - known.n_known:
        verb = "was" if n_absent == 1 else "were"
        said = f"{counted(n_absent, 'known pair')} {verb} skipped"
        yield f"{said}: the list repeats them, or one of their documents is not in the input."
    if n_bare := known.n_known - known.n_comparable:
        verb = "has" if n_bare == 1 else "have"
        yield f"{counted(n_bare, 'known pair')} {verb} a document that could not be compared."


def translated_side(told: PairsManifest) -> Side:
    """Name the side whose words were translated."""
    return "right" if told.table is not None and told.table.translated == "right" else "left"


def way_shares(told: PairsManifest) -> tuple[ShareRow, ...]:
    """Rows about the translation of one side's words; empty without a table."""
    shares = told.side(translated_side(told)).ways
    return tuple(
        ShareRow(words, None, shares[way], percent_text(shares[way], 1), meaning)
        for way, (words, meaning) in WAYS.items()
        if way in shares
    )


def fates(told: PairsManifest) -> tuple[Fates, ...]:
    """Rows about the documents of both sides."""
    return tuple(_fates(told, side) for side in SIDES)


def _fates(told: PairsManifest, side: Side) -> Fates:
    facts = told.side(side)
    n_paired = told.counts.with_pairs(side)
    counts = {
        "with a pair": n_paired,
        "compared, without a pair": facts.n_vectors - n_paired,
        "too few words to be compared": facts.n_few_terms,
        "unreadable": facts.n_unreadable,
    }
    n_all = facts.n_documents
    rows = (ShareRow(name, n, n / max(n_all, 1), percent_text(n, n_all)) for name, n in counts.items())
    return Fates(side, n_all, tuple(rows))


def parameter_rows(told: PairsManifest) -> Iterator[ParameterRow]:
    """Tabulate the parameters that had an effect, with their meaning."""
    for name, meaning in _MEANINGS.items():
        value = told.parameters.get(name)
        if value is None or (told.table is None and name in _OF_TABLE):
            continue
        shown = {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
        yield ParameterRow(name.replace("_", "-"), shown, meaning)


def stage_rows(told: PairsManifest) -> tuple[StageRow, ...]:
    """Rows about the cost of each stage."""
    longest = max((stage.elapsed_s for stage in told.stages), default=0.0) or 1.0
    return tuple(
        StageRow(stage.name, elapsed_text(stage.elapsed_s), stage.elapsed_s / longest, stage.peak_memory_bytes)
        for stage in told.stages
    )


def band_text(predicted: Prediction) -> str:
    """Write the range of a predicted recall, or the recall if there is no range."""
    low, high = (recall_text(one, 2) for one in (predicted.recall_low, predicted.recall_high))
    return low if low == high else f"{low.removesuffix('%')}{NBSP}to{NBSP}{high}"
