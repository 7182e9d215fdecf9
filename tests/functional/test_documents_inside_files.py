"""Files with documents inside, through every job: the ids, the parents and the texts are those of the members."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from functional.conftest import nearkin_json
from generator import office_files as make
from in_process import InProcess
from made_up_prose import Prose
from nearkin.options.dedup import DedupOptions
from nearkin.runs.progress import Meter, Silent
from nearkin.stages.documents.rules import ReadingRules
from nearkin.stages.documents.sources import resolve_sources
from nearkin.workflows.dedup import job
from nearkin.workflows.dedup.on_spark.job import find
from nearkin.workflows.reading import inputs
from nearkin.workflows.resources import Resources

PROSE = Prose(16)
A, B, C, D = (PROSE.text(60) for _ in range(4))
NEAR_A, NEAR_C = f"{A} and no more", f"{C} and nothing else"
EXPECTED = {
    # id: (parent, parent's row, text)
    "a.eml": (None, None, A),
    "a.eml!b.txt": ("a.eml", 0, B),
    "box.zip!1%21.txt": ("box.zip", None, C),
    "box.zip!inner.eml": ("box.zip", None, D),
    "box.zip!inner.eml!b.txt": ("box.zip!inner.eml", 3, NEAR_A),
    "box.zip!b.txt": ("box.zip", None, B),
    "note.txt": (None, None, NEAR_C),
}


def write_folder(folder: Path) -> Path:
    folder.mkdir()
    headers = {"From": "ada@b.org", "Date": "Mon, 1 Jan 2024 10:00:00 +0000"}
    inner = make.mail(headers, D, {"b.txt": NEAR_A.encode()})
    (folder / "a.eml").write_bytes(make.mail(headers, A, {"b.txt": B.encode()}))
    (folder / "box.zip").write_bytes(make.zipped({"1!.txt": C, "inner.eml": inner, "b.txt": B}))
    (folder / "note.txt").write_text(NEAR_C)
    return folder


@pytest.fixture
def folder(tmp_path) -> Path:
    return write_folder(tmp_path / "mails")


def ran(*arguments: str | Path) -> dict[str, object]:
    return nearkin_json(*arguments)


def rows_of(out: Path, table: str = "documents") -> list[dict[str, object]]:
    return pq.read_table(out / f"{table}.parquet").to_pylist()


def pairs_of(out: Path) -> set[frozenset[object]]:
    return {frozenset((row["id_a"], row["id_b"])) for row in rows_of(out, "pairs")}


def audited_pairs(out: Path) -> tuple[object, object]:
    """The true pairs that the whole input says there are, and those that the run found."""
    audited = ran("audit", out, "--sample", "7")
    return audited["n_true"], audited["n_found"]


NEAR = {
    frozenset(("a.eml", "box.zip!inner.eml!b.txt")), frozenset(("box.zip!1%21.txt", "note.txt")),
}  # fmt: skip
COPIES = {frozenset(("a.eml!b.txt", "box.zip!b.txt"))}


def test_dedup_and_what_follows_from_it(folder, tmp_path):
    out = tmp_path / "out"
    ran("dedup", folder, "--out", out, "--write-kept")
    rows = rows_of(out)
    found = {row["id"]: (row["parent"], row["parent_row"]) for row in rows}
    assert found == {doc_id: (parent, at) for doc_id, (parent, at, _) in EXPECTED.items()}
    assert [row["n_characters"] for row in rows] == [len(text) for _, _, text in EXPECTED.values()]
    assert [row["line"] for row in rows] == [1, 2, 1, 2, 3, 4, 1]
    assert pairs_of(out) == NEAR | COPIES
    page = (out / "report.html").read_text()
    assert "box.zip!inner.eml!b.txt" in page
    assert "box.zip:3" not in page

    again = tmp_path / "regrouped"
    ran("regroup", out, "--threshold", "0.85", "--out", again)
    assert [(row["id"], row["parent"], row["parent_row"]) for row in rows_of(again)] == [
        (row["id"], row["parent"], row["parent_row"]) for row in rows
    ]
    assert audited_pairs(out) == (2, 2)

    kept = {row["id"]: row["parent"] for row in rows if row["keep"]}
    assert len(kept) == 5  # a.eml alone would be dropped, what is inside it not
    written = {path.name: path.read_text() for path in (out / "kept").iterdir()}
    assert set(written) == {"a.eml.jsonl", "box.zip.jsonl", "note.txt"}
    lines = [json.loads(line) for name in ("a.eml", "box.zip") for line in written[f"{name}.jsonl"].splitlines()]
    assert {one["id"].rpartition("mails/")[2]: one["text"] for one in lines} == {
        doc_id: EXPECTED[doc_id][2] for doc_id in kept if doc_id != "note.txt"
    }
    for name in ("of-kept", "of-input"):  # from the folder kept, then from the input
        ran("dedup", out, "--out", tmp_path / name)
        rows_again = rows_of(tmp_path / name)
        assert {row["id"]: row["parent"] for row in rows_again} == kept
        assert [row["reason"] for row in rows_again].count("unique") == 4
        ran("dedup", folder, "--out", out, "--overwrite")


def test_pairs(folder, tmp_path):
    other, out = write_folder(tmp_path / "others"), tmp_path / "out"
    ran("pairs", "--left", folder, "--right", other, "--threshold", "0.99", "--out", out)
    names = {row["name"] for row in rows_of(out)}
    assert names == set(EXPECTED)
    found = {(row["left_id"], row["right_id"]) for row in rows_of(out, "pairs")}
    assert ("a.eml!b.txt", "box.zip!b.txt") in found
    assert audited_pairs(out) == (len(found), len(found))


def test_tasks_of_a_cluster_read_them_as_one_machine_does(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(inputs, "_FILES_AN_INPUT", 1)
    monkeypatch.setattr(inputs, "BATCH_BYTES", 100)
    options = DedupOptions(shingle="words:3", threshold=0.8)

    def tables(name: str, finder) -> dict[str, bytes]:
        out = tmp_path / name
        (out / "work").mkdir(parents=True)
        given = inputs.inputs_of(resolve_sources([str(folder)]).sources)
        how = {"rules": ReadingRules(), "resources": Resources(2), "meter": Meter(Silent())}
        job.write(finder(given, None, options, out / "work", how), out, Meter(Silent()))
        return {path.name: path.read_bytes() for path in out.glob("*.parquet")}

    local = tables("local", lambda given, others, options, work, how: job.find(given, others, options, work, **how))
    cluster = tables(
        "cluster", lambda given, others, options, work, how: find(given, others, options, work, InProcess(), **how)
    )
    assert local == cluster
    assert {row["id"]: row["parent"] for row in rows_of(tmp_path / "cluster")} == {
        doc_id: parent for doc_id, (parent, _, _) in EXPECTED.items()
    }
