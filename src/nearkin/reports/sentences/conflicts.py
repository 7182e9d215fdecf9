"""Sentences of ``nearkin conflicts``: contradicting labels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from nearkin.nouns import agreeing, counted, first_of
from nearkin.reports.sentences.groups import not_compared_sentence, without_units
from nearkin.reports.sentences.sentence import Sentence, not_shown

if TYPE_CHECKING:
    from nearkin.collection.conflicts.by_group import Conflict, Conflicts

_MAX_NAMED = 5
BY_DECISION = "in one group by decision"
"""Remark on a conflict of documents that do not match."""


def without_passage(one: Conflict) -> str:
    """Explain why a conflict has no passage in which the texts differ."""
    if one.a == one.b:
        return "one document with two labels"
    return "the texts are identical" + " except for white space" * (one.edit_similarity != 1.0)


def conflicts_sentences(
    found: Conflicts, *, n_shown: int, label_column: str, id_column: str, n_without_label: int, is_bare: bool = False
) -> Iterator[Sentence]:
    """Count the conflicts, and name the source of the labels and the missing documents; tags have no column of ids.

    With a bare tag, every document has a label: the documents without the tag have the label "not TAG".
    """
    more = min(len(found.conflicts), found.n_found) - n_shown
    decided = f", or {BY_DECISION}" if any(not one.is_match for one in found.conflicts) else ""
    yield Sentence(
        f" among {counted(found.n_labelled, 'labelled document')} (texts {found.tolerance.in_words()}{decided})"
        + f"; {not_shown(counted(more, 'conflict'))}" * (more > 0),
        strong=f"{counted(found.n_found, 'conflict')} in {counted(found.n_groups, 'group')}",
    )
    if id_column:
        yield Sentence(f"Labels from {_column(label_column)}, ids from {_column(id_column)}")
    else:
        without = f"; documents without it have the label {f'not {label_column}'!r}" * is_bare
        yield Sentence(f"Labels from the tag {label_column!r}{without}")
    if found.n_found > len(found.conflicts):
        yield Sentence(
            f"Only the first {len(found.conflicts):,} are listed; --out writes all.",
            "warning",
        )
    tag = None if id_column else label_column
    yield from missing_sentences(found, tag=tag, n_without_label=n_without_label, is_bare=is_bare)


def missing_sentences(
    found: Conflicts, *, tag: str | None = None, n_without_label: int = 0, is_bare: bool = False
) -> Iterator[Sentence]:
    """Say whether the groups are stored, name the labels without a document, and count what was not compared."""
    if tag is not None and found.n_unlabelled:
        n = found.n_unlabelled
        yield Sentence(
            f"Not compared: {counted(n, 'document')} without the tag {tag!r}, in {agreeing(n, 'a group', 'groups')} "
            f"with tagged members: {first_of(found.unlabelled, _MAX_NAMED, n)}",
            "warning",
        )
    if found.conflicts and not found.are_groups_stored:
        command = f"nearkin groups COLLECTION {found.tolerance.in_options()}"
        said = f"These groups are not stored yet. To store them with these numbers: {command}"
        if found.are_groups_outdated:
            said = (
                "The stored groups are out of date, so the groups were computed again. To store the new groups with "
                f"these numbers: {command}"
            )
        yield Sentence(said, "quiet")
    if found.unknown:
        yield Sentence(
            f"not in the collection: {counted(len(found.unknown), 'labelled id')}: {', '.join(found.unknown[:3])}"
            + (", …" if len(found.unknown) > 3 else ""),
            "warning",
        )
    if n_without_label:
        yield Sentence(f"{counted(n_without_label, 'row')} without a label skipped", "warning")
    if found.n_not_compared:
        yield not_compared_sentence(found.n_not_compared)
    if found.n_uncounted:
        documents = counted(found.n_uncounted, "document" if is_bare else "labelled document")
        yield Sentence(
            f"{documents} {without_units(found.tolerance)}: compared only with identical texts",
            "warning",
        )


def _column(name: str) -> str:
    return name if name in ("column 1", "column 2") else f"column {name!r}"
