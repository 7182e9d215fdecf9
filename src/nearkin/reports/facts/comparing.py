"""Facts about two compared texts, and about the versions of a document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from nearkin.collection.tolerance import THRESHOLD
from nearkin.nouns import first_of
from nearkin.reports.facts.fact import Fact, nonzero, not_shown, warning
from nearkin.reports.facts.queries import LETTERS_ALIKE, NOT_COMPARED, exact_text
from nearkin.reports.quantities import word_changes_text
from nearkin.wording import distance_text, share_text

if TYPE_CHECKING:
    from nearkin.collection.dates import InForce
    from nearkin.collection.measuring import ComparedDocuments
    from nearkin.collection.versions import Version, Versions
    from nearkin.stages.differences.comparison import Comparison

_N_NAMED = 5


def similarity_facts(compared: ComparedDocuments) -> list[Fact]:
    """Return the similarities of two documents."""
    similar = compared.b
    facts = [edit_fact(similar.edit_similarity), Fact("Jaccard (word 5-grams)", share_text(similar.jaccard))]
    if similar.relative_distance is not None:
        facts.append(Fact("letter-count distance (gamma)", distance_text(similar.relative_distance)))
    return facts


def edit_fact(similarity: float | None) -> Fact:
    """Give the edit similarity; None: the texts are too long for it."""
    return Fact("edit similarity", share_text(similarity), "the texts are too long" if similarity is None else "")


def comparison_facts(name_a: str, name_b: str, compared: Comparison, similarities: Sequence[Fact]) -> Iterator[Fact]:
    """Name two texts, count their differences, and give their similarities."""
    yield Fact("A", name_a)
    yield Fact("B", name_b)
    only_a, only_b = compared.n_words_only_a, compared.n_words_only_b
    words = f"words: {only_a:,} only in A, {only_b:,} only in B" if compared.n_differences else _sameness(compared)
    yield Fact("differences", compared.n_changes, words)
    yield from nonzero("moved passages", compared.n_moves, f"{compared.n_words_moved:,} words")
    yield from nonzero("only in spelling", compared.n_spelling_differences, "capitals, punctuation or Unicode form")
    # a moved passage is two differences, one in each text; the passages are counted above
    yield from (Fact(kind, n, "differences") for kind, n in compared.n_of_kind.items() if kind != "moves")
    yield from nonzero("ignored", compared.n_ignored, f"{', '.join(compared.ignored)}; the words of A are shown")
    yield from similarities
    if not compared.is_whole:
        yield Fact("too long to compare to the end", note="some shared words may be marked", tone="warning")


def _sameness(compared: Comparison) -> str:
    if compared.is_identical:
        return "identical"
    return "others are ignored" if compared.n_ignored else f"identical except for {compared.not_compared}"


def change_text(version: Version) -> str:
    """Count the changed words of a version."""
    if version.similar.is_same_text:
        return "the same text"
    if (change := version.change) is None:
        return "too long to compare here"
    changed = word_changes_text(
        change.n_words_removed, change.n_words_added, change.n_words_moved, change.n_differences
    )
    return changed + " since then" * version.is_older


def relation_text(listed: Version, document: object) -> str:
    """Return the relation of a version to the document, with the text that is filled in, or how exact a copy is."""
    version = listed.similar.document
    filled_in = {
        "version": f" ({version} fills in the blanks of {document})",
        "document": f" ({document} fills in the blanks of {version})",
        "both": " (each fills in blanks of the other)",
    }
    relation = exact_text(listed.relation, is_same_text=listed.similar.edit_similarity == 1)
    return relation + filled_in.get(listed.filled_in, "")


def date_text(version: Version) -> str:
    """Return the date of a version, and whether it is in force."""
    dated = "undated" if version.date is None else f"dated {version.date.isoformat()}"
    return dated + ", in force" * version.is_in_force


def versions_facts(versions: Versions) -> Iterator[Fact]:
    """Count the versions of a document, and name those in force."""
    yield Fact(
        f"versions of {versions.document}",
        versions.n_found,
        f"other stored texts, and documents {versions.tolerance.in_words()}",
    )
    yield from not_shown(versions.n_found - len(versions.versions))
    if versions.in_force is not None:
        yield from _in_force(versions, versions.in_force)
    letters_only = sum(version.similar.is_letters_only for version in versions.versions)
    yield from warning(LETTERS_ALIKE, letters_only, f"no version: Jaccard below {THRESHOLD:g}")
    yield from warning("texts not compared", versions.n_not_compared, NOT_COMPARED)


def _in_force(versions: Versions, force: InForce) -> Iterator[Fact]:
    from nearkin.stages.differences.relations import OTHER_PARTIES

    label = f"in force on {force.at.isoformat()}"
    if not force.documents:
        yield Fact(label, "none", f"the earliest is dated {min(force.dates.values()).isoformat()}", "warning")
        return
    dated = f"dated {force.dates[force.documents[0].doc_id].isoformat()}"
    yield Fact(label, first_of(list(map(str, force.documents)), _N_NAMED), dated)
    others = sum(version.is_in_force and version.relation == OTHER_PARTIES for version in versions.versions)
    yield from warning("in force, with other parties", others, f"need not be versions of {versions.document}")
