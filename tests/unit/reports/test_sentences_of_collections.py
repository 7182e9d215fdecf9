"""Sentences of ``nearkin fsck``: what was checked, what is damaged, and what to do."""

from __future__ import annotations

import pytest

from nearkin.collection.integrity.fsck import IntegrityReport
from nearkin.reports.sentences.info import fsck_sentences

WHOLE = {"n_texts": 201, "damaged_documents": (), "mended_texts": 0, "mended_rows": (), "remade_segments": ()}
WHOLE |= {"n_segments": 2, "faults": ()}


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ({}, "the collection is undamaged"),
        ({"mended_texts": 1}, "the collection is undamaged now"),
        (
            {"damaged_documents": ("a (version 1)",)},
            "the text of 1 document version is damaged. Restore the database from a backup, or add the damaged "
            "documents again",
        ),
        (
            {"damaged_documents": ("a (version 1)", "b (version 1)"), "faults": ("a row is missing",)},
            "the texts of 2 document versions are damaged and 1 other fault cannot be repaired. Restore the database "
            "from a backup, or add the damaged documents again",
        ),
        (
            {"group_faults": ("x",)},
            "the stored groups have 1 fault. Run the command above to compute the groups; only a backup can restore "
            "their numbers and history",
        ),
        (
            {"group_faults": ("x",), "is_only_seal_of_groups": True},
            "the stored groups had 1 fault. Their seal was written again; you need not do anything",
        ),
        (
            {"group_faults": ("x",), "faults": ("y",)},
            "1 fault cannot be repaired and the stored groups have 1 fault. Restore the database from a backup",
        ),
        ({"faults": ("x", "y")}, "2 faults cannot be repaired. Restore the database from a backup"),
        (
            {"repairable": ("index part 0-1: made for other texts",)},
            "the collection is damaged. Run nearkin fsck without --read-only to repair it",
        ),
        (
            {"repairable": ("x",), "faults": ("y",)},
            "1 fault cannot be repaired. Run nearkin fsck without --read-only to repair what it can; restore a backup "
            "for the rest",
        ),
    ],
)
def test_the_last_line_of_fsck(found: dict[str, object], said: str) -> None:
    *_, last = fsck_sentences(IntegrityReport(**{**WHOLE, **found}))
    assert str(last) == f"Checked 201 texts and 2 parts of the index: {said}"


def test_what_is_not_repaired_names_the_reason() -> None:
    sentences = fsck_sentences(IntegrityReport(**WHOLE, repairable=("index part 0-1: made for other texts",)))
    assert "not repaired, because of --read-only: index part 0-1: made for other texts" in map(str, sentences)
