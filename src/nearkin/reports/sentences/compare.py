"""What ``nearkin compare`` and ``nearkin versions`` say: how alike documents are, and what changed."""

from __future__ import annotations

from collections.abc import Iterator

from nearkin.collection.comparing import ComparedDocuments, Version, Versions
from nearkin.nouns import counted
from nearkin.reports.quantities import distance_text, share_text
from nearkin.reports.sentences.sentence import Sentence


def similarity_facts(found: ComparedDocuments) -> list[tuple[str, str]]:
    """How alike two documents are, each measure by its name."""
    one = found.b
    too_long = "not worked out: it would take too long"
    edit = too_long if one.edit_similarity is None else share_text(one.edit_similarity, 4)
    facts = [("edit similarity", edit), ("Jaccard, 5 words", share_text(one.jaccard, 4))]
    if one.relative_distance is not None:
        facts.append(("distance, part of A", distance_text(one.relative_distance)))
    return facts


def comparison_sentences(found: ComparedDocuments) -> Iterator[Sentence]:
    """Name the two documents, count what differs, and say how alike they are."""
    compared = found.comparison
    yield Sentence(f"A: {found.a}")
    yield Sentence(f"B: {found.b.document}")
    if compared.is_identical:
        said = "The texts are equal to the character"
    elif not compared.n_differences:
        said = "The texts differ in white space only"
    else:
        said = (
            f"{counted(compared.n_differences, 'difference')}: "
            f"{counted(compared.n_words_only_a, 'word')} only in A, {compared.n_words_only_b:,} only in B"
        )
        if compared.n_spelling_differences:
            said += f"; {compared.n_spelling_differences:,} in capitals or signs alone"
    yield Sentence("", strong=said)
    yield Sentence(", ".join(f"{name} {value}" for name, value in similarity_facts(found)))
    if not compared.is_whole:
        yield Sentence("The texts are too long to be compared to the end: shared words may be marked.", "warning")


def change_text(one: Version) -> str:
    """What changed in a version, counted in words."""
    if one.similar.is_same_text:
        return "the same text"
    return f"−{one.n_words_removed:,} +{counted(one.n_words_added, 'word')}" + " since" * one.is_older


def versions_sentence(found: Versions) -> Sentence:
    """Say how many versions of a document there are."""
    n, more = found.n_found, found.n_found - len(found.versions)
    return Sentence(
        f": other stored versions, and documents {found.tolerance.in_words()}"
        + (f"; {more:,} not shown: --limit" if more > 0 else ""),
        strong=f"{n:,} version{'s' * (n != 1)} of {found.document}",
    )
