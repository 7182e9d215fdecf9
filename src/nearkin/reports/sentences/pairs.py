"""Sentences of ``nearkin pairs``: the pairs, the search, and the known pairs."""

from __future__ import annotations

from collections.abc import Iterator

from nearkin.manifests.pairs import SIDES, KnownFound, PairsManifest
from nearkin.reports.pairs.wording import WAYS, headline, known_sentences, translated_sentence
from nearkin.reports.quantities import recall_text, share_percent_text
from nearkin.reports.sentences.cost import memory_text, total_s
from nearkin.reports.sentences.damage import damage_sentences
from nearkin.reports.sentences.sentence import Sentence


def pairs_sentences(told: PairsManifest, out: str) -> Iterator[Sentence]:
    """Count the pairs, and describe the search, the omitted words, and the results for known pairs.

    Parameters
    ----------
    told : PairsManifest
    out : str
        The directory of the run.
    """
    for side in SIDES:
        yield from damage_sentences(told.side(side).damaged_files, f"--{side} has")
    yield Sentence("", strong=headline(told))
    if not told.counts.pairs:
        yield Sentence(_why_none(told), "warning")
    yield from _on_search(told, out)
    yield from _on_translation(told)
    if told.known:
        yield from _on_known(told.known, out)
    if compared := translated_sentence(told):
        yield Sentence(compared)
    yield Sentence(f"{total_s(told.stages):.1f} s, {memory_text(told.stages)}")


def _why_none(told: PairsManifest) -> str:
    """Explain why no pair was found."""
    for side in SIDES:
        record = told.side(side)
        if record.n_few_terms > record.n_documents / 2:
            column = record.inputs[0]["source"]["text"]
            asked = f": is {column!r} the right column?" if column else ""
            return f"Most documents on the {side} have too few words to be compared{asked}"
    if not told.table:
        return (
            "No pair reaches the threshold. If the two sides are in different languages, add a translation table from "
            "nearkin align with --table; if not, try a lower --threshold."
        )
    return "No pair reaches the threshold. Translations often have a cosine of 0.3 to 0.6. Try a lower --threshold."


def _on_search(told: PairsManifest, out: str) -> Iterator[Sentence]:
    predicted = told.plan.predicted
    low, high = map(share_percent_text, (predicted.recall_low, predicted.recall_high))  # as nearkin audit writes it
    band = low if low == high else f"{low} to {high}"
    yield Sentence(f"Search: {told.plan.in_words}; predicted recall {band}. Measure it: nearkin audit {out}")
    least = told.parameters["min_occurrences"]
    if least > 1:
        seldom = "only once" if least == 2 else f"less than {least} times"
        rare = " and ".join(
            f"{told.side(side).n_rare_words:,} of {told.side(side).n_words:,} on the {side}" for side in SIDES
        )
        yield Sentence(f"Omitted words that occur {seldom} in their corpus: {rare}")
    if not told.plan.reaches_recall:
        wanted = recall_text(told.parameters["recall"])
        yield Sentence(f"The options allow less than the requested recall of {wanted}", "warning")


def _on_translation(told: PairsManifest) -> Iterator[Sentence]:
    for side in SIDES:
        if ways := told.side(side).ways:
            translated = ", ".join(f"{ways[way]:.1%} {words}" for way, (words, _) in WAYS.items() if way != "unknown")
            yield Sentence(f"{side.title()}-side words translated: {translated}; {ways['unknown']:.1%} untranslated")


def _on_known(known: KnownFound, out: str) -> Iterator[Sentence]:
    first, *others = known_sentences(known)
    yield Sentence(f" Source: {known.told_by}; {out}/known.tsv lists them.", strong=first)
    yield from map(Sentence, others)
