"""Stored translation tables stay readable, and the same sentences give the same table."""

from __future__ import annotations

from pathlib import Path

import pytest

from golden.translation_tables import made
from nearkin.stages.translation.table import TranslationTable
from nearkin.workflows.table_words import TableWords


@pytest.mark.parametrize(
    "path", sorted(Path(__file__).parent.glob("v*/translation.table")), ids=lambda path: path.parent.name
)
def test_no_table_has_changed(path: Path) -> None:
    stored = TranslationTable.read(path, source="de", target="en")
    assert stored.fingerprint == made().fingerprint
    assert TableWords.of_table(stored.origin) == TableWords("de", "en")
    assert stored.lookup("haus")[0].word == "house"
    assert stored.lookup("softhyphen")
    assert [one.word for one in stored.lookup("約")] == ["contract", "this"]
