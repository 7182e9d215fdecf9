"""Ids that would break a row of the console, or that no file could hold."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from functional.conftest import FAST, nearkin, nearkin_here, write_jsonl
from nearkin import Collection

FORGED = "lease\n0.0000  1.000  forged\trow"
SHOWN = "lease⟨U+000A⟩0.0000  1.000  forged⟨U+0009⟩row"
TEXTS = [FAST, f"{FAST} again", f"{FAST} and yet again"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A collection, a file of signatures and labels, of documents whose ids hold line feeds."""
    folder = tmp_path_factory.mktemp("hostile")
    ids = [FORGED, f"{FORGED} 2", "plain"]
    path = write_jsonl(folder / "in.jsonl", [{"id": i, "text": t} for i, t in zip(ids, TEXTS)])
    nearkin_here("add", folder / "matter", path, "--wave", "a\nwave", "-q").assert_done()
    nearkin_here("sign", path, "--out", folder / "sig", "-q").assert_done()
    (folder / "labels.csv").write_text(f'id,label\n"{FORGED}",yes\nplain,no\n"missing\nrow",no\n')
    (folder / "one.txt").write_text(FAST)
    return folder


COMMANDS = {
    "similar": ("similar", "matter", FORGED, "--gamma", "0.5"),
    "similar by words": ("similar", "matter", "plain", "--measure", "jaccard", "--threshold", "0.1"),
    "versions": ("versions", "matter", FORGED, "--gamma", "0.5"),
    "versions of another": ("versions", "matter", "plain", "--gamma", "0.5"),
    "compare": ("compare", "matter", FORGED, f"{FORGED} 2"),
    "groups": ("groups", "matter", "--gamma", "0.5", "--make-principal", FORGED),
    "conflicts": ("conflicts", "matter", "labels.csv", "--gamma", "0.5"),
    "check": ("check", "matter", "one.txt"),
    "stored": ("check", "matter", "one.txt", "--store", "--id", f"{FORGED} 3"),
    "waves": ("waves", "matter"),
    "show": ("show", "matter", FORGED),
    "list": ("list", "matter"),
    "history": ("history", "matter", FORGED),
    "search": ("search", "matter", "fox", "again"),
    "audit": ("audit", "matter"),
    "neighbours": ("neighbours", "sig", "--query", "plain", "--distance", "60"),
    "an unknown document": ("similar", "matter", f"{FORGED} 9"),
    "a document that is nobody's": ("neighbours", "sig", "--query", f"{FORGED} 9"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_no_id_begins_a_row_of_its_own(folder, monkeypatch, name):
    monkeypatch.chdir(folder)
    ended = nearkin_here(*COMMANDS[name])
    ended.assert_clean()
    lines = [line.lstrip(" ·") for line in (ended.out + ended.err).splitlines()]
    assert not [line for line in lines if line.startswith(("0.0000  1.000  forged", "wave", "row"))]
    if name not in ("audit", "waves"):
        assert any(SHOWN in line or repr(FORGED)[1:-1] in line for line in lines)


def test_programs_get_them_as_they_are(folder, monkeypatch):
    monkeypatch.chdir(folder)
    told = json.loads(nearkin_here("similar", "matter", "plain", "--gamma", "0.5", "--json").out)
    assert FORGED in [one["doc_id"] for one in told["documents"]]
    nearkin_here("groups", "matter", "--gamma", "0.5", "--out", "groups.jsonl", "--overwrite", "-q").assert_done()
    assert FORGED in [json.loads(line)["doc_id"] for line in Path("groups.jsonl").read_text().splitlines()]


# -- characters that no file holds ------------------------------------------------------------------------------------

HALF = "".join(f'{{"id": "lone\\ud80{i}", "text": "{FAST}"}}\n' for i in range(2))
ESCAPED = ["lone\\ud800", "lone\\ud801"]


def test_an_unpaired_surrogate_is_escaped(tmp_path):
    path = tmp_path / "in.jsonl"
    path.write_text(HALF)
    nearkin_here("dedup", path, "--out", tmp_path / "out", "-q").assert_done()
    assert pq.read_table(tmp_path / "out/documents.parquet")["id"].to_pylist() == ESCAPED
    documents = [("lone\ud800", FAST), ("lone\ud801", FAST)]
    assert nearkin_of(documents) == ESCAPED
    assert nearkin_of([{"id": doc_id, "text": text} for doc_id, text in documents]) == ESCAPED
    with Collection.open(tmp_path / "matter", create=True) as collection:
        assert collection.add(documents).n_new == 2
        assert [one.document.doc_id for one in collection.similar(ESCAPED[0]).documents] == ESCAPED[1:]


def test_half_a_character_names_no_document(folder, monkeypatch):
    monkeypatch.chdir(folder)
    for arguments in (
        ("neighbours", "sig", "--query"),
        ("similar", "matter"),
        ("versions", "matter"),
        ("show", "matter"),
        ("history", "matter"),
        ("remove", "matter"),
    ):
        ended = nearkin_here(*arguments, "lone\udcff")
        ended.assert_clean()
        assert ended.code in (2, 3)
        assert r"'lone\udcff'" in ended.err


def nearkin_of(documents: list[object]) -> list[str]:
    import nearkin as package

    found: pa.Table = package.dedup(documents).documents
    return found["id"].to_pylist()


@pytest.mark.parametrize(
    ("suffix", "content"),
    [
        ("jsonl", b'{"id": "caf\xe9", "text": "a"}\n{"id": "caf\xe8", "text": "b"}\n'),
        ("csv", b"id,text\ncaf\xe9,a\ncaf\xe8,b\n"),
        ("tsv", b"caf\xe9\ta\ncaf\xe8\tb\n"),
    ],
)
@pytest.mark.parametrize("n_more", [0, 200])
def test_bytes_that_are_not_utf8_are_escaped(tmp_path, suffix, content, n_more):
    """The few lines that are read one by one, and the many that Arrow reads, give the same ids."""
    more = {"jsonl": b'{"id": "x%d", "text": "t"}\n', "csv": b"x%d,t\n", "tsv": b"x%d\tt\n"}[suffix]
    path = tmp_path / f"in.{suffix}"
    path.write_bytes(content + b"".join(more % i for i in range(n_more)))
    nearkin_here("dedup", path, "--out", tmp_path / "out", "-q").assert_done()
    ids = pq.read_table(tmp_path / "out/documents.parquet")["id"].to_pylist()
    assert ids[:2] == ["caf\\xe9", "caf\\xe8"]


# -- terminals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["ascii", "ascii:strict"])
def test_a_terminal_that_lacks_characters(tmp_path, encoding):
    path = write_jsonl(tmp_path / "in.jsonl", [{"id": f"é家{i}", "text": text} for i, text in enumerate(TEXTS)])
    ended = nearkin("dedup", path, "--out", tmp_path / "out", PYTHONIOENCODING=encoding, LANG="C")
    ended.assert_clean()
    assert ended.code == 0
    assert "Jaccard >= 0.70 on word 5-grams" in ended.out
    table = nearkin("add", tmp_path / "matter", path, "--json", PYTHONIOENCODING=encoding)
    assert json.loads(table.out)["n_new"] == 3
    told = nearkin("similar", tmp_path / "matter", "é家0", "--gamma", "0.5", "--json", PYTHONIOENCODING=encoding)
    assert "é家1" in [one["doc_id"] for one in json.loads(told.out)["documents"]]
    shown = nearkin("similar", tmp_path / "matter", "é家0", "--gamma", "0.5", PYTHONIOENCODING=encoding)
    shown.assert_clean()
    assert "\\u5bb61" in shown.out
