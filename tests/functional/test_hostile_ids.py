"""Ids that would break a row of the console, or that no file could hold."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from example_counts import every
from functional.conftest import FAST, nearkin, nearkin_here, write_jsonl
from nearkin import Collection
from nearkin.collection.check_in.results import CheckInMany

FORGED = "lease\n0.0000  1.000  forged\trow"
SHOWN = "lease⟨U+000A⟩0.0000  1.000  forged⟨U+0009⟩row"
TEXTS = [FAST, f"{FAST} again", f"{FAST} and yet again"]


def test_no_id_begins_a_row_of_its_own(tmp_path):
    ids = [FORGED, f"{FORGED} 2", "plain"]
    path = write_jsonl(tmp_path / "in.jsonl", [{"id": i, "text": t} for i, t in zip(ids, TEXTS)])
    ended = nearkin_here("index", path)
    ended.assert_done()
    ended.assert_clean()
    lines = [line.lstrip(" ·") for line in (ended.out + ended.err).splitlines()]
    assert not [line for line in lines if line.startswith(("0.0000  1.000  forged", "row"))]
    assert any(SHOWN in line for line in lines)


@pytest.mark.parametrize("doc_id", [FORGED, "a\0b", "a\x1b[31mb", "a\u0085b"])
def test_an_id_with_control_characters_is_an_exception(tmp_path, doc_id):
    with Collection.open(tmp_path / "matter", create=True) as collection:
        added = collection.add([(doc_id, FAST), ("plain", f"{FAST} again")], wave="w")
        assert (added.n_new, added.n_problems) == (1, 1)
        assert [one.doc_id for one in collection.check_many([(doc_id, FAST)], store=CheckInMany())] == [doc_id]
        assert collection.info().n_documents == 1


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


@pytest.mark.parametrize("encoding", every(2, ["ascii:strict", "ascii"]))
def test_a_terminal_that_lacks_characters(tmp_path, encoding):
    path = write_jsonl(tmp_path / "in.jsonl", [{"id": f"é家{i}", "text": text} for i, text in enumerate(TEXTS)])
    ended = nearkin("dedup", path, "--out", tmp_path / "out", PYTHONIOENCODING=encoding, LANG="C")
    ended.assert_clean()
    assert ended.code == 0
    assert "Jaccard \\u2265 0.70 on word 5-grams" in ended.out
    table = nearkin("add", tmp_path / "matter", path, "--json", PYTHONIOENCODING=encoding)
    assert json.loads(table.out)["n_new"] == 3
    told = nearkin("similar", tmp_path / "matter", "é家0", "--gamma", "0.5", "--json", PYTHONIOENCODING=encoding)
    assert "é家1" in [one["doc_id"] for one in json.loads(told.out)["documents"]]
    shown = nearkin("similar", tmp_path / "matter", "é家0", "--gamma", "0.5", PYTHONIOENCODING=encoding)
    shown.assert_clean()
    assert "\\u5bb61" in shown.out
