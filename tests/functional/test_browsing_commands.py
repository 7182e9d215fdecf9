"""`nearkin show`, `list`, `history` and `remove --from`, as a user gives them."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from functional.conftest import Ended, nearkin, nearkin_here, write_jsonl
from nearkin.errors import SourceError
from nearkin.workflows.collection.id_files import read_ids

RENT = "The rent of {} crowns is due on the first day of each month.\r\nSigned:\tAnn\u202eé\n"
FORMULA = "=1+1"


@pytest.fixture
def matter(tmp_path: Path) -> str:
    """A collection of two waves."""
    march = [{"id": "lease", "text": RENT.format(900)}, {"id": "copy", "text": RENT.format(900)}]
    april = [{"id": "lease", "text": RENT.format(950)}, {"id": FORMULA, "text": "Seven."}]
    place = str(tmp_path / "matter")
    assert run("add", place, write_jsonl(tmp_path / "march.jsonl", march), "--wave", "march").code == 0
    assert run("add", place, write_jsonl(tmp_path / "april.jsonl", april), "--wave", "april").code == 0
    return place


def run(*arguments: str | Path) -> Ended:
    ended = nearkin_here(*arguments)
    ended.assert_clean()
    return ended


def told(*arguments: str | Path) -> Any:
    ended = run(*arguments, "--json")
    assert ended.code == 0, ended.err
    assert ended.out.count("\n") == 1
    return json.loads(ended.out)


# -- show -------------------------------------------------------------------------------------------------------------


def test_show_prints_what_is_known_and_then_the_text(matter: str) -> None:
    ended = run("show", matter, "lease")
    head, _, text = ended.out.partition("\n\n")
    assert head.splitlines()[0] == "lease, version 2, current"
    assert " UTC in wave april, from " in head
    assert "april.jsonl:1" in head
    assert "stored versions: 1, 2; nearkin history" in head
    assert text.startswith("The rent of 950 crowns")
    assert "⟨U+202E⟩" in text  # nothing in it steers the terminal
    assert "⟨U+000D⟩" not in text
    old = run("show", matter, "lease", "--version", "1").out
    assert old.startswith("lease, version 1, replaced by a newer version\n")
    assert "same text: 1 other document: copy" in old


def test_the_text_alone_comes_unchanged(matter: str) -> None:
    done = nearkin_here("show", matter, "lease", "--text-only")
    assert (done.code, done.out, done.err) == (0, RENT.format(950), "")
    assert nearkin("show", matter, "lease", "--text-only", PYTHONIOENCODING="ascii").out == RENT.format(950)
    assert run("show", matter, "lease", "--text-only", "--version", "1").out == RENT.format(900)
    assert run("show", matter, "lease", "--text-only", "--json").code == 2


def test_an_id_that_begins_with_a_dash(matter: str, tmp_path: Path) -> None:
    assert run("add", matter, write_jsonl(tmp_path / "dash.jsonl", [{"id": "-x", "text": RENT.format(900)}])).code == 0
    for arguments in (["show"], ["similar"], ["remove"], ["tag", "hot=yes"], ["compare", "copy"]):
        ended = nearkin_here(arguments[0], matter, *arguments[1:], "-x")
        assert (ended.code, "Write -- before an argument that begins with a dash" in ended.err) == (2, True), ended.err
    assert run("show", matter, "--", "-x").code == 0
    assert "Write --" not in nearkin_here("show", matter, "lease", "--jsom").err
    assert "Write --" not in nearkin_here("doctor", "-x").err
    of_others = nearkin_here("tag", matter, "hot=yes", "lease", "--read-only").err
    assert ("No such option: --read-only" in of_others, "Write --" in of_others) == (True, False)


def test_show_for_programs(matter: str) -> None:
    found = told("show", matter, "copy")
    assert (found["doc_id"], found["text"], found["versions"], found["copies"]) == ("copy", RENT.format(900), [1], [])
    assert run("show", matter, "none").code == 3
    assert run("show", matter, "lease", "--version", "7").code == 3
    run("remove", matter, "copy")
    assert "removed" in run("show", matter, "copy", "--version", "1").out.splitlines()[0]


# -- list -------------------------------------------------------------------------------------------------------------


def test_list_prints_a_line_for_each_document(matter: str) -> None:
    out = run("list", matter).out.splitlines()
    assert [line.split()[0] for line in out[:-1]] == ["characters", "6", "77", "77"]
    assert out[-1] == "3 documents"
    assert (
        run("list", matter, "--limit", "1").out.splitlines()[-1]
        == "3 documents; 2 not shown; raise --limit, or use --out for all"
    )
    assert run("list", matter, "--id", "x*").out == "0 documents\n"
    assert "lease (version 1, replaced)" in run("list", matter, "--all-versions").out


def test_list_prints_the_members_of_a_group(matter: str) -> None:
    assert run("list", matter, "--group", "1", "--gamma", "0.2").code == 2
    run("groups", matter, "--gamma", "0.2")
    run("tag", matter, "date=2024-03-01", "lease")
    out = run("list", matter, "--group", "1", "--gamma", "0.2").out.splitlines()
    assert out[0].split() == ["characters", "copies", "group", "added", "date", "id", "wave", "from"]
    assert sum("(principal)" in line for line in out) == 1
    assert [one["doc_id"] for one in told("list", matter, "--has-near-duplicates", "--gamma", "0.2")["documents"]] == [
        "copy", "lease",
    ]  # fmt: skip
    shown = run("show", matter, "lease").out
    assert "tags: date=2024-03-01" in shown
    assert "group 1 (letters, gamma 0.2): 2 documents, " in shown


def test_list_takes_every_condition(matter: str) -> None:
    def listed(*arguments: str) -> list[str]:
        return [one["doc_id"] for one in told("list", matter, *arguments)["documents"]]

    assert listed() == [FORMULA, "copy", "lease"]
    assert listed("--wave", "march") == ["copy"]
    assert listed("--id", "l*") == ["lease"]
    assert listed("--source", "*march.jsonl") == ["copy"]
    assert listed("--added-since", "2999-01-01") == []
    assert listed("--has-copies") == []
    assert listed("--sort", "length", "--limit", "2") == ["copy", "lease"]
    assert listed("--sort", "added") == [FORMULA, "lease", "copy"]
    assert listed("--added-before", "2999-01-01", "--sort", "wave") == ["copy", FORMULA, "lease"]
    run("tag", matter, "date=2024-03-01", "lease")
    assert listed("--tag", "date", "--sort", "date") == ["lease"]
    run("remove", matter, "copy")
    assert listed("--removed") == ["copy"]
    assert run("list", matter, "--removed", "--all-versions").code == 2
    for wrong in (
        ("--sort", "age"),
        ("--added-since", "soon"),
        ("--id", "lone\udcff"),
        ("--limit", "0"),
        ("--out", "list.txt"),
    ):
        ended = run("list", matter, *wrong)
        assert (ended.code, wrong[0] in ended.err) == (2, True), ended.err
    assert run("list", matter, "--wave", "june").code == 3
    assert run("list", f"{matter}-not").code == 7


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".parquet"])
def test_a_list_is_written_whole_whatever_is_shown(matter: str, tmp_path: Path, suffix: str) -> None:
    out = tmp_path / f"list{suffix}"
    ended = run("list", matter, "--limit", "1", "--out", out)
    assert (ended.code, "3 documents; 2 not shown; raise --limit\n" in ended.out) == (0, True)
    assert f"wrote 3 documents to {out}" in ended.err
    if suffix == ".parquet":
        rows = pq.read_table(out).to_pylist()
    elif suffix == ".jsonl":
        rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    else:
        with open(out, encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file, delimiter="\t" if suffix == ".tsv" else ","))
    first = f"'{FORMULA}" if suffix in (".csv", ".tsv") else FORMULA  # text, in a spreadsheet too
    assert [row["doc_id"] for row in rows] == [first, "copy", "lease"]
    assert [str(row["n_characters"]) for row in rows] == ["6", "77", "77"]
    assert run("list", matter, "--out", out).code == 5
    assert run("list", matter, "--out", out, "--overwrite").code == 0
    # what was listed can be removed
    assert told("remove", matter, "--from", out) == {"number": 1, "n_documents": 3, "n_unread": 0, "is_dry_run": False}


# -- history ----------------------------------------------------------------------------------------------------------


def test_history_shows_the_passage_that_changed(matter: str) -> None:
    out = run("history", matter, "lease").out.splitlines()
    assert [line.split("  ")[0] for line in out[:2]] == ["version 1", "version 2"]
    assert "−1 +1 word  wave april" in out[1]
    assert "[-900-] {+950+}" in out[2]
    assert out[-1] == "2 versions of lease"
    run("remove", matter, "lease")
    assert "; removed 2" in run("history", matter, "lease").out.splitlines()[-1]
    assert [one["version"] for one in told("history", matter, "lease")["versions"]] == [1, 2]
    assert run("history", matter, "none").code == 3


# -- remove -----------------------------------------------------------------------------------------------------------


def test_documents_of_a_file_are_removed(matter: str, tmp_path: Path) -> None:
    ids = tmp_path / "ids.txt"
    ids.write_text("lease\n\n  \ncopy\r\nlease\n", newline="")
    ended = run("remove", matter, "--from", ids, "--dry-run")
    assert ended.out.endswith("2 documents would be removed; nothing was changed\n")
    assert told("remove", matter, "--from", ids, "--dry-run")["doc_ids"] == ["copy", "lease"]
    assert run("remove", matter, "--from", ids).out == "2 documents removed, activity 1\n"
    gone = run("remove", matter, "--from", ids)
    assert (gone.code, "'lease', 'copy'. Nothing was removed" in gone.err) == (3, True)


@pytest.mark.parametrize("name", ["ids.txt", "ids.csv", "ids.jsonl"])
def test_blanks_belong_to_an_id(name: str, tmp_path: Path) -> None:
    """A file that names ``a `` must not erase ``a``."""
    matter, ids = tmp_path / "padded", tmp_path / name
    documents = [{"id": "a", "text": "one two three"}, {"id": "a ", "text": "four five six"}]
    run("add", matter, write_jsonl(tmp_path / "padded.jsonl", documents))
    ids.write_text({"ids.txt": "a \n", "ids.csv": "id\na \n", "ids.jsonl": '{"id": "a "}\n'}[name])
    assert told("purge", matter, "--from", ids, "--yes")["doc_ids"] == ["a "]
    assert "erased before" in run("purge", matter, "--from", ids, "--yes").out
    assert [one["doc_id"] for one in told("list", matter)["documents"]] == ["a"]


def test_what_to_remove_is_named_in_one_way(matter: str, tmp_path: Path) -> None:
    ids = tmp_path / "ids.txt"
    ids.write_text("lease")
    assert run("remove", matter, "copy", "--from", ids).code == 2
    assert run("remove", matter, "--wave", "march", "--from", ids).code == 2
    assert run("remove", matter, "copy", "--id", "x").code == 2
    assert run("remove", matter, "--from", tmp_path / "none.txt").code == 3


@pytest.mark.parametrize(
    ("name", "content", "column"),
    [
        ("a.txt", "a, b\nc\n", None),
        ("a.csv", 'reason,Document ID\nx,"a, b"\ny,c\n', None),
        ("a.tsv", "key\treason\na, b\tx\nc\ty\n", "key"),
        ("a.csv", '"a, b"\nc\n', None),
        ("a.csv", 'doc_id\n"a, b"\nc\n', None),
        ("a.csv", 'BEGDOC,ENDDOC\n"a, b",b\nc,c\n', None),
        ("a.ids", 'name;key\n1;"a, b"\n2;c\n', "key"),
        ("a.txt", "\ufeffa, b\r\nc\r\n", None),
        ("a.jsonl", '{"n": 1, "doc_id": "a, b"}\n\n{"n": 2, "doc_id": "c"}\n', None),
        ("a.jsonl", '{"n": 1, "key": "a, b"}\n{"key": "c"}\n', "key"),
    ],
)
def test_ids_are_read_from_lines_and_columns(tmp_path: Path, name: str, content: str, column: str | None) -> None:
    (tmp_path / name).write_text(content, "utf-8", newline="")
    assert read_ids(tmp_path / name, column=column) == ["a, b", "c"]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.int64(), pa.dictionary(pa.int32(), pa.string())])
def test_ids_are_read_from_parquet(tmp_path: Path, kind: pa.DataType) -> None:
    ids = pa.array([7, 8, 7]).cast(pa.string()) if kind != pa.int64() else pa.array([7, 8, 7])
    pq.write_table(pa.table({"label": ["x"] * 3, "doc_id": ids.cast(kind)}), tmp_path / "a.parquet")
    assert read_ids(tmp_path / "a.parquet") == ["7", "8"]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.txt", "\n \n", "has no ids"),
        ("a.csv", "", "is empty"),
        ("a.csv", "x,y\n1,2\n", "Which column"),
        ("a.csv", "id,y\n1\n", "1 field where the first row has 2"),
        ("a.csv", "id,id\n1,2\n", "more than one column"),
        ("a.csv", "ID,BEGDOC\n1,A-1\n", r"ids, 'ID' or 'BEGDOC'\? Name it with --id"),
        ("a.dat", "þIDþ\x14þBEGDOCþ\nþ1þ\x14þA-1þ\n", r"ids, 'ID' or 'BEGDOC'\? Name it with --id"),
        ("a.csv", "id,y\n1,2\n,3\n", r"a\.csv:3: no id in 'id'"),
        ("a.parquet", "nothing", "not a Parquet file"),
        ("a.jsonl", "", "has no ids"),
        ("a.jsonl", '{"id": "a"}\nnothing', "a.jsonl:2: not a JSON object"),
        ("a.jsonl", "[1]", "not a JSON object"),
        ("a.jsonl", '{"x": 1, "y": 2}', "Which column"),
        ("a.jsonl", '{"id": 1}\n{"x": 2}', "'id' is None"),
        ("a.jsonl", "{}", "Which column"),
    ],
)
def test_files_without_ids_are_refused(tmp_path: Path, name: str, content: str, said: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(SourceError, match=said):
        read_ids(tmp_path / name)
    pq.write_table(pa.table({"id": [1.5]}), tmp_path / "b.parquet")
    with pytest.raises(SourceError, match="type double"):
        read_ids(tmp_path / "b.parquet")
    pq.write_table(pa.table({"id": [7, None]}), tmp_path / "c.parquet")
    with pytest.raises(SourceError, match=r"c\.parquet:2: no id in 'id'"):
        read_ids(tmp_path / "c.parquet")


def test_a_list_as_a_file_has_columns_of_groups_only_if_asked_about_groups(matter: str, tmp_path: Path) -> None:
    run("groups", matter, "--gamma", "0.2")
    for name, options, n in (("all.csv", (), 0), ("group.csv", ("--group", "1", "--gamma", "0.2"), 2)):
        run("list", matter, *options, "--out", str(tmp_path / name), "-q")
        with (tmp_path / name).open(encoding="utf-8", newline="") as file:
            (row, *_) = csv.DictReader(file)
        assert len({"group", "is_principal"} & row.keys()) == n
        assert all(row[one] for one in {"group", "is_principal"} & row.keys())
