"""Sentences of ``nearkin add`` about documents that were removed, erased or not stored before."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from functional.conftest import nearkin_here
from made_up_prose import Prose

A_WORD = "caf\u00e9 ".encode("cp1252")


def run(*arguments: str | Path, code: int = 0) -> str:
    ended = nearkin_here(*arguments)
    ended.assert_clean()
    assert ended.code == code, ended.err
    return " ".join(ended.out.split())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "letters"
    made.mkdir()
    for number in range(8):
        (made / f"{number}.txt").write_text(f"The letter {number} is about the mill and its rent.")
    return made


@pytest.fixture
def matter(folder: Path, tmp_path: Path) -> Path:
    run("add", tmp_path / "matter", folder)
    return tmp_path / "matter"


def test_documents_that_had_been_removed_are_counted_and_named(matter: Path, folder: Path) -> None:
    assert "that had been removed" not in run("add", matter, folder)
    run("remove", matter, "3.txt")
    (folder / "new.txt").write_text("A new letter about the mill.")
    said = "1 document that had been removed: 3.txt"
    assert f"Would restore {said}" in run("add", matter, folder, "--dry-run")
    assert f"2 new, 0 changed, 7 unchanged; 1 new distinct text Restored {said}" in run("add", matter, folder)
    assert "Restored" not in run("add", matter, folder)
    run("remove", matter, *(f"{number}.txt" for number in range(7)), "--yes")
    added = json.loads(run("add", matter, folder, "--json"))
    assert (added["n_new"], added["n_restored"], added["first_restored"]) == (7, 7, [f"{n}.txt" for n in range(5)])
    run("remove", matter, *(f"{number}.txt" for number in range(7)), "--yes")
    said = "Restored 7 documents that had been removed: 0.txt, 1.txt, 2.txt, 3.txt, 4.txt and 2 more"
    assert said in run("add", matter, folder)


def test_a_removed_wave_names_documents_of_others_and_they_can_be_restored(matter: Path, folder: Path) -> None:
    was = (folder / "3.txt").read_text()
    (folder / "3.txt").write_text("Another letter, about the harbour.")
    (folder / "new.txt").write_text("A new letter about the mill.")
    run("add", matter, folder, "--wave", "second")
    said = "1 of these came in another wave, and got a new version in this one: 3.txt. To have it back"
    assert f"2 documents would be removed; nothing was changed {said}" in run(
        "remove", matter, "--wave", "second", "--dry-run"
    )
    assert said in run("remove", matter, "--wave", "second")
    (folder / "3.txt").write_text(was)
    (folder / "new.txt").unlink()
    assert "Restored 1 document that had been removed: 3.txt" in run("add", matter, folder)


def test_after_a_removal_no_document_is_said_to_be_stored_that_is_not(matter: Path, folder: Path) -> None:
    run("remove", matter, "3.txt")
    assert run("info", matter, "--problems") == "No problems: no document failed to be stored."
    (folder / "3.txt").write_text("Much longer than it was before, so that its letters can be counted. " * 9)
    matter = folder.parent / "long"
    run("add", matter, folder / "3.txt")
    assert run("info", matter, "--uncounted") == "Every document has enough letters for --measure letters."


def test_an_erased_text_is_not_among_those_that_exceptions_lists(matter: Path, folder: Path) -> None:
    run("purge", matter, "3.txt", "--yes")
    (folder / "old.txt").write_bytes(A_WORD * 9)
    said = run("add", matter, folder)
    assert "9 found: 7 with text, 1 not stored, 1 erased by nearkin purge. " in said
    assert "To list those that are not stored: nearkin exceptions" in said
    assert [one["doc_id"] for one in json.loads(run("exceptions", matter, "--json"))["exceptions"]] == ["old.txt"]
    (folder / "other.txt").write_bytes(A_WORD * 8)
    assert ", 2 not stored (1 of them for the same reason as in an earlier load)" in run("add", matter, folder)
    (folder / "other.txt").unlink()
    assert ", 1 not stored (for the same reason as in an earlier load)" in run("add", matter, folder)


def test_an_erased_text_that_comes_again_is_not_listed_before(matter: Path, folder: Path) -> None:
    run("purge", matter, "3.txt", "--yes")
    run("add", matter, folder)
    (folder / "old.txt").write_bytes(A_WORD * 9)
    assert ", 1 not stored, 1 erased by nearkin purge" in run("add", matter, folder)


def test_a_removed_document_with_another_text_is_not_restored(matter: Path, folder: Path) -> None:
    run("remove", matter, "3.txt")
    run("purge", matter, "4.txt", "--yes")
    for number in (3, 4):
        (folder / f"{number}.txt").write_text(f"Another letter, the {number}th, about the harbour.")
    added = run("add", matter, folder)
    assert "2 new, 0 changed" in added
    assert "Restored" not in added


def test_the_advice_of_an_exception_leads_to_the_text(folder: Path, tmp_path: Path) -> None:
    (folder / "old.txt").write_bytes(A_WORD * 9)
    matter = tmp_path / "matter"
    run("add", matter, folder)
    assert "repeat the command and add --encoding cp1252" in run("exceptions", matter)
    run("add", matter, folder, "--encoding", "cp1252")
    assert json.loads(run("exceptions", matter, "--json"))["exceptions"] == []


def test_a_file_that_another_one_of_its_name_replaces_is_named(tmp_path: Path) -> None:
    prose, matter = Prose(5), tmp_path / "matter"
    texts = {f"{i}.txt": prose.text(60) for i in range(3)}
    for folder, changed in (("a", texts), ("b", {"0.txt": prose.text(60), "1.txt": prose.altered(texts["1.txt"], 2)})):
        (tmp_path / folder).mkdir()
        for name, text in changed.items():
            (tmp_path / folder / name).write_text(text, encoding="utf-8")
    nearkin_here("add", matter, tmp_path / "a")
    told = json.loads(nearkin_here("add", matter, tmp_path / "b", "--dry-run", "--json").out)
    assert (told["n_unlike"], told["first_unlike"]) == (1, ["0.txt"])
    said = " ".join(nearkin_here("add", matter, tmp_path / "b").out.split())
    assert "2 changed" in said
    assert (
        "1 changed document has almost nothing in common with its older text: 0.txt. The id of a file is its path"
        in said
    )
    again = nearkin_here("add", matter, tmp_path / "a", "-q")
    assert (again.out, again.err.count("Warning: "), "have an earlier text again" in again.err) == ("", 1, True)
