"""Documents among other files of a folder: found, begun early, read in order; and on the machines of a cluster."""

from __future__ import annotations

import pytest

from generator import office_files as make
from nearkin.errors import SourceError
from nearkin.runs.progress import Silent
from nearkin.stages.documents.rules import ReadingRules
from nearkin.stages.documents.sources import resolve_sources
from nearkin.workflows.reading.inputs import Input
from nearkin.workflows.reading.on_spark import tasks
from nearkin.workflows.reading.on_spark.tasks import TaskInput


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    for at in range(30):
        content = make.docx([f"It was {at}."]) if at % 3 else f"It was {at}.".encode()
        (tmp_path / f"in/{at:02d}{'' if at % 2 else '.docx' if at % 3 else '.txt'}").write_bytes(content)
    return "in"


def loose(folder: str, file_format: str | None = None) -> Input:
    return Input(sources=resolve_sources([folder], file_format=file_format).sources)


def test_files_that_are_extracted_come_in_their_places(folder):
    found = loose(folder)
    texts = [text for batch, _ in found.batches(Silent()) for text in batch["text"].to_pylist()]
    owners = [index for _, of in found.batches(Silent()) for index in of.tolist()]
    assert texts == [f"It was {at}.".encode() for at in range(30)]
    assert owners == list(range(30))
    kinds = [one and one["kind"] for batch, _ in found.batches(Silent()) for one in batch["origin"].to_pylist()]
    assert kinds == ["docx" if at % 3 else None for at in range(30)]


def test_files_without_a_text_and_archives_come_in_their_places_too(tmp_path, monkeypatch):
    """A file that is gone by the time it is read, one that is too long, an archive, and a text between mails."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    mail = make.mail({"Subject": "x"}, "It was a night.")
    archive = make.zipped({"a.eml": mail, "b.txt": "Rain."})
    page = b"<p>" + b"x" * 99
    contents = {"a.eml": mail, "b.eml": mail, "c.txt": b"Dry.", "d.zip": archive, "e.html": page, "f.eml": mail}
    for name, content in contents.items():
        (tmp_path / "in" / name).write_bytes(content)
    found = Input(sources=resolve_sources(["in"], rules=ReadingRules(max_document_bytes=50)).sources)
    (tmp_path / "in/b.eml").unlink()
    ((batch, owners),) = found.batches(Silent())
    rows = batch.select(["doc_id", "text", "line", "parent", "problem"]).to_pylist()
    assert [(row["doc_id"], row["text"], row["line"], row["parent"]) for row in rows] == [
        ("a.eml", b"It was a night.", 1, None), ("b.eml", None, 1, None), ("c.txt", b"Dry.", 1, None),
        ("d.zip!a.eml", b"It was a night.", 1, "d.zip"), ("d.zip!b.txt", b"Rain.", 2, "d.zip"),
        ("e.html", None, 1, None), ("f.eml", b"It was a night.", 1, None),
    ]  # fmt: skip
    assert "No such file" in rows[1]["problem"]
    assert "99" in rows[5]["problem"]
    assert owners.tolist() == [0, 1, 2, 3, 3, 4, 5]


def test_a_worker_of_a_cluster_needs_the_same_libraries(folder, monkeypatch):
    task = TaskInput.of(loose(folder))
    assert task.extractors
    with task.reading() as one:
        assert one.n_workers == 1
    monkeypatch.setattr(tasks, "installed_extractors", lambda: ())
    said = r"Install nearkin\[documents\] in the same versions on every machine"
    with pytest.raises(SourceError, match=said), task.reading():
        pass
    assert not TaskInput.of(loose(folder, "file")).extractors
