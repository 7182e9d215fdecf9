"""Sentences of ``nearkin compare`` and ``nearkin versions``: similarities and changes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

from nearkin.collection.tolerance import THRESHOLD
from nearkin.nouns import agreeing, counted, first_of
from nearkin.reports.quantities import grams_text, word_changes_text
from nearkin.reports.sentences.sentence import Sentence, not_shown
from nearkin.reports.sentences.similar import not_compared_sentence
from nearkin.stages.differences.relations import OTHER_PARTIES
from nearkin.wording import distance_text, share_text

if TYPE_CHECKING:
    from nearkin.collection.dates import InForce
    from nearkin.collection.measuring import ComparedDocuments
    from nearkin.collection.versions import Version, Versions
    from nearkin.stages.differences.comparison import Comparison

_MAX_NAMED = 10
_NOT_COMPUTED = "not computed: the texts are too long"


class TextSimilarities(Protocol):
    """Similarities and differences of two texts; see `nearkin.workflows.comparing.ComparedTexts`."""

    @property
    def comparison(self) -> Comparison:
        """Differences, word by word."""

    @property
    def edit_similarity(self) -> float | None:
        """None if the texts are too long for it."""

    @property
    def jaccard(self) -> float:
        """Jaccard similarity of the shingles."""

    @property
    def containment_a_in_b(self) -> float:
        """Share of A's shingles."""

    @property
    def containment_b_in_a(self) -> float:
        """Share of B's shingles."""

    @property
    def shingle(self) -> str:
        """The shingles, such as ``words:5``."""


def similarity_facts(found: ComparedDocuments) -> list[tuple[str, str]]:
    """Return the similarities of two documents, by name."""
    one = found.b
    edit = _NOT_COMPUTED if one.edit_similarity is None else share_text(one.edit_similarity)
    facts = [("edit similarity", edit), ("Jaccard (word 5-grams)", share_text(one.jaccard))]
    if one.relative_distance is not None:
        facts.append(("letter-count distance (gamma)", distance_text(one.relative_distance)))
    return facts


def comparison_sentences(found: ComparedDocuments) -> Iterator[Sentence]:
    """Name the two documents, count their differences, and give their similarities."""
    return _compared(str(found.a), str(found.b.document), found.comparison, similarity_facts(found))


def text_similarity_facts(found: TextSimilarities) -> list[tuple[str, str]]:
    """Give the similarities of two texts, each measure by its name."""
    edit = _NOT_COMPUTED if found.edit_similarity is None else share_text(found.edit_similarity)
    return [
        ("edit similarity", edit),
        (f"Jaccard ({grams_text(found.shingle)})", share_text(found.jaccard)),
        ("share of A in B", share_text(found.containment_a_in_b)),
        ("share of B in A", share_text(found.containment_b_in_a)),
    ]


def text_comparison_sentences(name_a: str, name_b: str, found: TextSimilarities) -> Iterator[Sentence]:
    """Name the two texts, count their differences, and give their similarities."""
    return _compared(name_a, name_b, found.comparison, text_similarity_facts(found))


def _compared(name_a: str, name_b: str, compared: Comparison, facts: list[tuple[str, str]]) -> Iterator[Sentence]:
    yield Sentence(f"A: {name_a}")
    yield Sentence(f"B: {name_b}")
    if compared.is_identical:
        said = "The texts are identical"
    elif not compared.n_differences:
        said = (
            "The texts differ only in what is ignored"
            if compared.n_ignored
            else f"The texts are identical except for {compared.not_compared}"
        )
    else:
        said = (
            f"{counted(compared.n_changes, 'difference')}: "
            f"{counted(compared.n_words_only_a, 'word')} only in A, {compared.n_words_only_b:,} only in B"
        )
        if compared.n_moves:
            said += f"; {counted(compared.n_moves, 'passage')} moved ({counted(compared.n_words_moved, 'word')})"
        if compared.n_spelling_differences:
            n = compared.n_spelling_differences
            said += (
                f"; {n:,} of the differences {agreeing(n, 'is', 'are')} only in capitals, punctuation or Unicode form"
            )
    yield Sentence("", strong=said)
    # a moved passage is two differences, one in each text; the passages are counted above
    n_of_kind = {kind: n for kind, n in compared.n_of_kind.items() if kind != "moves"}
    if n_of_kind:
        several = "; a difference can have several kinds" if compared.has_several_kinds else ""
        yield Sentence("by kind: " + ", ".join(f"{kind} {n:,}" for kind, n in n_of_kind.items()) + several)
    if compared.n_ignored:
        kinds = ", ".join(compared.ignored)
        yield Sentence(f"Ignored ({kinds}): {counted(compared.n_ignored, 'difference')}; the words of A are shown")
    yield Sentence(", ".join(f"{name} {value}" for name, value in facts))
    if not compared.is_whole:
        yield Sentence(
            "The texts are too long to compare to the end: some shared words may be marked as different.", "warning"
        )


def change_text(one: Version) -> str:
    """Count the changed words of a version."""
    if one.similar.is_same_text:
        return "the same text"
    change = one.change
    if change is None:
        return "too long to compare here"
    changed = word_changes_text(
        change.n_words_removed, change.n_words_added, change.n_words_moved, change.n_differences
    )
    return changed + " since then" * one.is_older


def relation_text(one: Version, document: object) -> str:
    """Return the relation of a version to the document, with the text that is filled in, or how exact a copy is.

    Parameters
    ----------
    one : Version
    document : object
        The document, as it is shown.
    """
    version = one.similar.document
    filled_in = {
        "version": f" ({version} fills in the blanks of {document})",
        "document": f" ({document} fills in the blanks of {version})",
        "both": " (each fills in blanks of the other)",
    }
    if one.relation == "exact copy":
        return f"exact copy ({'same text' if one.similar.edit_similarity == 1 else 'once normalised'})"
    return one.relation + filled_in.get(one.filled_in, "")


def date_text(one: Version) -> str:
    """Return the date of a version, and whether it is in force."""
    dated = "undated" if one.date is None else f"dated {one.date.isoformat()}"
    return dated + ", in force" * one.is_in_force


def versions_sentences(found: Versions) -> Iterator[Sentence]:
    """Count the versions of a document, and name those in force."""
    n, more = found.n_found, found.n_found - len(found.versions)
    of_what = f" (its other stored texts, and documents {found.tolerance.in_words()})"
    yield Sentence(
        of_what * (n > 0) + (f"; {not_shown(more)}" if more > 0 else ""),
        strong=f"{n:,} version{'s' * (n != 1)} of {found.document}",
    )
    n_letters_only = sum(one.similar.is_letters_only for one in found.versions)
    if n_letters_only:
        yield Sentence(
            f"No version: {counted(n_letters_only, 'document')} with similar letters but different wording "
            f"(Jaccard below {THRESHOLD:g})",
            "warning",
        )
    if found.n_not_compared:
        yield not_compared_sentence(found.n_not_compared)
    if found.in_force is not None:
        yield from _in_force(found, found.in_force)


def _in_force(found: Versions, force: InForce) -> Iterator[Sentence]:
    at = force.at.isoformat()
    if not force.documents:
        earliest = min(force.dates.values()).isoformat()
        yield Sentence(f"No document is in force on {at}; the earliest is dated {earliest}", "warning")
        return
    names = [f"{one} itself" if one == found.document else str(one) for one in force.documents]
    dated = force.dates[force.documents[0].doc_id].isoformat()
    yield Sentence(f": {first_of(names, _MAX_NAMED, len(names))}, dated {dated}", strong=f"In force on {at}")
    others = [one for one in found.versions if one.is_in_force and one.relation == OTHER_PARTIES]
    if others:
        yield Sentence(
            f"{counted(len(others), 'document')} in force {agreeing(len(others), 'is', 'are')} the same form with "
            f"other parties: {agreeing(len(others), 'it need', 'they need')} not be a version of {found.document}",
            "warning",
        )
