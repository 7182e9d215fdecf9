"""Files with one name in two folders: results name them by their paths."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from functional.conftest import FAST, nearkin_here
from nearkin.workflows.auditing.audit import audit
from nearkin.workflows.auditing.audited import AuditOptions

OTHER = "something else about a lease of a house in the old town by the river and the sea"
FILES = {"f1/a.txt": FAST, "f1/b.txt": OTHER, "f2/a.txt": FAST.upper(), "f2/c.txt": f"{FAST} again"}
SOURCES = ["f1/a.txt", "b.txt", "f2/a.txt", "c.txt"]


@pytest.fixture(autouse=True)
def folders(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path, text in FILES.items():
        Path(path).parent.mkdir(exist_ok=True)
        Path(path).write_text(text)


def ran(*arguments: str) -> None:
    ended = nearkin_here(*arguments, "-q")
    ended.assert_quiet("exceptions: 1", "repeated ids: ", "without an id: ")


def test_a_run_tells_the_files_apart_and_keeps_other_names_and_ids():
    ran("dedup", "f1", "f2", "--out", "out", "--threshold", "0.5")
    documents = pq.read_table("out/documents.parquet")
    assert documents["source"].to_pylist() == SOURCES
    assert documents["id"].to_pylist() == ["a.txt", "b.txt", "a.txt", "c.txt"]
    assert documents["name"].to_pylist() == ["a.txt", "b.txt", "a.txt (f2/a.txt:1)", "c.txt"]
    assert "already used at f1/a.txt:1" in documents["problem"][2].as_py()
    page = Path("out/report.html").read_text()
    assert "f1/a.txt<" in page
    assert "f1/a.txt:1<" not in page
    ran("regroup", "out", "--threshold", "0.9", "--out", "again")
    assert pq.read_table("again/documents.parquet")["source"].to_pylist() == SOURCES


def test_an_audit_recognises_documents_of_the_other_set():
    """It compares names of documents, which have the place where an id is repeated."""
    Path("own.txt").write_text(f"{FAST} and more")
    Path("f2/a.txt").write_text(f"{FAST} once more")
    others = ("--against", "f1", "--against", "f2")
    ran("dedup", "own.txt", "--format", "file", *others, "--out", "out", "--threshold", "0.5")
    audited = audit("out", AuditOptions(sample=10, threads=1))
    assert (audited.estimate.n_true, audited.estimate.n_missed) == (3, 0)
