"""``nearkin tag``, ``untag``, ``tags``, ``decide``, ``undo``, ``log`` and ``purge``, as a shell script gives them."""

from __future__ import annotations

from pathlib import Path

import pytest

from functional.conftest import nearkin_done, nearkin_json, write_jsonl
from nearkin.collection.collection import Collection

LEASE = "The tenant shall pay the rent of {} crowns on the first day of each month to the landlord of the house."


@pytest.fixture
def matter(tmp_path: Path) -> str:
    place = str(tmp_path / "matter")
    documents = [{"id": f"d{i:03}", "text": LEASE.format(1000 + i)} for i in range(120)]
    nearkin_done("add", place, write_jsonl(tmp_path / "in.jsonl", documents))
    return place


def tags(matter: str) -> list[dict[str, object]]:
    return nearkin_json("tags", matter)["tags"]


def test_tags_of_named_documents(matter) -> None:
    told = nearkin_done("tag", matter, "responsive=yes", "d000", "d001", "--by", "ada").out
    assert "activity 1  tag responsive=yes, 2 documents" in told
    assert "nearkin undo COLLECTION 1" in told
    told = nearkin_done("tag", matter, "responsive=yes", "d001", "d002").out
    assert "unchanged   1" in told
    assert "yes" in nearkin_done("tags", matter).out
    assert (
        "activity 3  remove the tag responsive, 1 document" in nearkin_done("untag", matter, "responsive", "d000").out
    )
    assert "nothing to change" in nearkin_done("untag", matter, "responsive", "d000").out
    assert tags(matter) == [{"field": "responsive", "value": "yes", "n_documents": 2, "n_removed": 0}]


def test_more_than_100_changes_are_only_shown(matter, tmp_path) -> None:
    ids = tmp_path / "ids.txt"
    ids.write_text("".join(f"d{i:03}\n\n" for i in range(120)))
    shown = nearkin_done("tag", matter, "hot", "--from", ids, code=2)
    assert "not shown     100" in shown.out
    assert "dry run" not in shown.out
    assert "Nothing was changed. This would change 120 documents. Add --yes" in shown.err
    assert tags(matter) == []
    assert "would change  tag hot, 120 documents" in nearkin_done("tag", matter, "hot", "--from", ids, "--dry-run").out
    nearkin_done("tag", matter, "hot", "--from", ids, "--yes", "-q")
    assert tags(matter)[0]["n_documents"] == 120
    nearkin_done("undo", matter, "1", code=2)
    nearkin_done("undo", matter, "1", "--yes")
    assert tags(matter) == []
    nearkin_done("tag", matter, "hot", *(f"d{i:03}" for i in range(100)))
    assert tags(matter)[0]["n_documents"] == 100


def test_a_purge_needs_yes(matter) -> None:
    shown = nearkin_done("purge", matter, "d000", code=2)
    assert "would erase, texts  1  of 1 documents: d000\n" in shown.out
    assert "Add --yes" in shown.err
    assert "erased, texts  1  of 1 documents: d000\n" in nearkin_done("purge", matter, "d000", "--yes").out
    assert "was removed" in nearkin_done("similar", matter, "d000", code=3).err
    assert "undamaged" in nearkin_done("fsck", matter).out
    nearkin_done(
        "add", matter, write_jsonl(Path(matter).parent / "again.jsonl", [{"id": "e", "text": LEASE.format(1000)}])
    )
    assert "its text was purged" in nearkin_done("exceptions", matter).out


# -- values of a table, removal and purge from files ------------------------------------------------------------------


def test_a_removal_is_shown_beyond_100_documents_and_is_in_the_log(matter, tmp_path) -> None:
    ids = tmp_path / "ids.txt"
    ids.write_text("".join(f"d{i:03}\n" for i in range(101)))
    shown = nearkin_done("remove", matter, "--from", ids, code=2)
    assert "not shown         81" in shown.out
    assert "would be removed  101  nothing was changed" in shown.out
    assert "Nothing was removed. This would remove 101 documents. Add --yes" in shown.err
    assert nearkin_json("log", matter) == []
    assert "removed  1  activity 1" in nearkin_done("remove", matter, "d119", "--by", "ada").out
    nearkin_done("remove", matter, "--from", ids, "--yes", "-q")
    first, second = nearkin_json("log", matter)
    assert (first["by"], first["kind"], first["changes"][0]["was"]) == ("ada", "remove", "version 1")
    assert len(second["changes"]) == 101
    assert "remove 101 documents" in nearkin_done("log", matter, "--of", "d007").out
    assert "removed documents. It cannot be undone" in nearkin_done("undo", matter, "1", code=2).err
    assert "--text-only" in nearkin_done("undo", matter, "1", code=2).err
    nearkin_done("fsck", matter, "-q")


def test_batches_second_looks_and_the_privilege_log(matter, tmp_path) -> None:
    layout = tmp_path / "layout.toml"
    layout.write_text("fields = [{name = 'privileged', values = ['no', 'counsel'], sensitive = true}]", "utf-8")
    nearkin_done("coding", matter, layout)
    nearkin_done(
        "batches", matter, "--make", "pass", "--size", "50", "--search", "rent", "--groups", code=2
    )  # none stored
    told = nearkin_done("batches", matter, "--make", "pass", "--size", "50", "--search", "rent", "--dry-run").out
    assert "make 3 batches of pass, 120 documents" in told
    nearkin_done("batches", matter, "--make", "pass", "--size", "50", "--search", "rent", "--by", "ada")
    nearkin_done("batches", matter, "--make", "few", "d007", "d003", "--by", "ada")
    nearkin_done("batches", matter, "--make", "y", "--out", tmp_path / "none.csv", code=2)
    listed = nearkin_json("batches", matter, "--out", tmp_path / "b.csv")["batches"]
    assert [(one["name"], one["n_documents"], one["holder"]) for one in listed] == [
        ("few", 2, ""), ("pass", 50, ""), ("pass", 50, ""), ("pass", 20, ""),
    ]  # fmt: skip
    assert (tmp_path / "b.csv").read_text("utf-8").splitlines()[2] == "pass,1,,50,0,50,"

    nearkin_done("second-look", matter, "--of", "ben", code=2)  # who coded nothing
    with Collection.open(matter) as opened:
        opened.code([f"d{i:03}" for i in range(10)], {"privileged": ["counsel"]}, by="ben")
    nearkin_done("second-look", matter, "--of", "ben", "--size", "4", "--seed", "7", "--by", "ada")
    (look,) = nearkin_json("second-look", matter)["second_looks"]
    assert (look["of"], look["n_calls"], look["n_documents"], look["rate"]) == ("ben", 10, 4, None)
    assert "ben" in nearkin_done("second-look", matter).out

    nearkin_done("privilege-log", matter, "--out", tmp_path / "log.pdf", code=2)
    nearkin_done("privilege-log", matter, "--out", tmp_path / "log.docx", "--limit", "1")
    nearkin_done("privilege-log", matter, "--out", tmp_path / "log.docx", code=5)
    assert (tmp_path / "log.docx").read_bytes()[:2] == b"PK"
    told = nearkin_json("privilege-log", matter, "--limit", "1")
    assert (told["n_found"], [one["id"] for one in told["documents"]]) == (10, ["d000"])


@pytest.mark.parametrize(
    ("text", "more", "code"),
    [("id,v\nd000,1\nd000,2\n", [], 3), ("id,v\nnope,1\n", [], 3), ("id,v\nd000,1\n", ["d001"], 2)],
)
def test_wrong_tables_change_nothing(matter, tmp_path, text, more, code) -> None:
    (tmp_path / "v.csv").write_text(text)
    nearkin_done("tag", matter, "f", *more, "--from", tmp_path / "v.csv", "--value", "v", code=code)
    assert tags(matter) == []
