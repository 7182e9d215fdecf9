"""The pool: the same answers in the same order, however many workers there are, and whoever stops listening."""

from __future__ import annotations

import bz2
import io
import os
import socket
import tarfile
from dataclasses import replace
from datetime import UTC, datetime

import msgspec
import pypdf
import pytest

from extraction_files import each, extracted, written
from generator import office_files as make
from made_up_prose import Prose
from nearkin.errors import ParameterError
from nearkin.stages.documents.extraction.messages import (
    Answer,
    ExtractedNode,
    WorkerFault,
    as_message,
    received,
    restored,
)
from nearkin.stages.documents.extraction.pool import ExtractionPool, WorkerProcess
from nearkin.stages.documents.members import MailHeaders, Origin
from nearkin.stages.documents.rules import ExtractionLimits

PROSE = Prose(20)


def many_files() -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    for at in range(6):
        told = [PROSE.text(30 + 100 * (at % 3)) for _ in range(1 + at % 4)]
        files[f"{at:02d}.docx"] = make.docx(told, {"a.xlsx": make.xlsx([told])})
        files[f"{at:02d}.pdf"] = make.pdf(told)
        files[f"{at:02d}.eml"] = make.mail({"Subject": f"{at}"}, told[0], {"a.odt": make.odt(told)})
        files[f"{at:02d}.zip"] = make.zipped({"a.txt": told[0], "b/c.rtf": make.rtf(told), "d.pdf": b"%PDF-broken"})
    return files


def test_one_two_and_three_workers_say_the_same(tmp_path):
    files = written(tmp_path, many_files())
    answers = []
    for n_workers in (1, 2, 3):
        with ExtractionPool(n_workers) as pool:
            answers.append(list(extracted(pool, files).items()))
    assert answers[0] == answers[1] == answers[2]
    assert len(answers[0]) == 6 * (2 + 1 + 2 + 3)


def test_a_reader_that_stops_leaves_no_process_behind(tmp_path):
    files = written(tmp_path, many_files())
    pool = ExtractionPool(2)
    workers = []
    with pool:
        for number, (_, nodes) in enumerate(each(pool, files)):
            next(nodes)
            workers += [one.process for one in pool.workers]
            if number == 3:
                break
    assert workers
    assert all(one.returncode is not None for one in workers)
    assert not pool.workers


def test_more_texts_than_are_held_wait_for_their_reader(pool, tmp_path):
    """A worker writes more than Nearkin holds while another file is read: it waits, and nothing is lost."""
    big = make.zipped({f"{at}.txt": f"{at} ".encode() * (1 << 22) for at in range(8)}, compression=0)
    files = written(tmp_path, {"a.zip": big, "b.zip": big})
    found = [(name, [node.origin.size_bytes for node in nodes]) for name, nodes in each(pool, files)]
    assert found == [(name, [len(big), *[2 << 22] * 8]) for name in ("a.zip", "b.zip")]


def test_the_longest_time_that_is_accepted_is_one_that_timers_take(tmp_path):
    with ExtractionPool(1, ExtractionLimits(time=1 << 21)) as pool:
        found = extracted(pool, written(tmp_path, {"a.html": b"<p>It was."}))
    assert found["a.html"].text == b"It was."
    with pytest.raises(ParameterError, match="time=SECONDS"):
        ExtractionLimits(time=(1 << 21) + 1)


def test_a_file_that_cannot_be_opened_is_an_error_of_that_file(pool, tmp_path):
    there = written(tmp_path, {"a.pdf": make.pdf(["It was."])})
    coming = each(pool, [("gone.pdf", tmp_path / "gone.pdf"), *there])
    with pytest.raises(FileNotFoundError):
        list(next(coming)[1])
    assert [node.origin.kind for node in next(coming)[1]] == ["pdf"]


def with_password(data: bytes) -> bytes:
    """A PDF that opens only with a password."""
    sink = io.BytesIO()
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(data))
    writer.encrypt("secret", algorithm="RC4-128")
    writer.write(sink)
    return sink.getvalue()


def test_documents_before_one_that_kills_its_worker_have_no_other_members_for_the_next_worker(tmp_path):
    """A PDF that cannot be opened has none; asked for them again, it raises an error, which would become a document."""
    slow = b"<html><body>" + b"<div>" * 30_000  # whose depth takes the parser seconds
    pdf = make.pdf(["It was."])
    inner = {"a.pdf": with_password(pdf), "b.html": slow, "c.pdf": with_password(pdf), "d.html": slow}
    inner["e.docx"] = make.docx(["It was."], {"f.rtf": make.rtf(["It was."]), "g.html": slow, "h.pdf": pdf})
    files = written(tmp_path, {"x.zip": make.zipped(inner), "y.pdf": pdf})
    with ExtractionPool(1, ExtractionLimits(time=1)) as pool:
        found = {doc_id: one.origin.exception for doc_id, one in extracted(pool, files).items()}
    kinds = {".pdf": "encrypted", ".html": "time-out"}
    assert found == {
        **{f"x.zip!{name}": kinds.get(name[1:]) for name in inner},
        "x.zip!e.docx!f.rtf": None, "x.zip!e.docx!g.html": "time-out", "x.zip!e.docx!h.pdf": None,
        "y.pdf": None,
    }  # fmt: skip


def test_a_file_that_kills_its_worker_costs_none_of_those_sent_with_it(tmp_path):
    files = {f"{at:02d}.eml": make.mail({"Subject": f"{at}"}, "It was.") for at in range(40)}
    slow = {f"{at:02d}.html": b"<html><body>" + b"<div>" * 30_000 for at in (7, 8, 30)}
    with ExtractionPool(1, ExtractionLimits(time=1)) as pool:
        found = extracted(pool, written(tmp_path, dict(sorted({**files, **slow}.items()))))
    assert {doc_id: one.text for doc_id, one in found.items()} == {
        **dict.fromkeys(files, b"It was."), **dict.fromkeys(slow),
    }  # fmt: skip
    assert {found[doc_id].origin.exception for doc_id in slow} == {"time-out"}


def test_a_reader_that_leaves_a_file_does_not_stop_the_next_one(tmp_path):
    big = make.zipped({f"{at}.txt": f"{at} ".encode() * (1 << 22) for at in range(8)}, compression=0)
    first, second = written(tmp_path, {"a.zip": big, "b.pdf": make.pdf(["It was."])})
    with ExtractionPool(1) as pool:
        _, nodes = next(reading := each(pool, [first, second]))
        assert next(nodes).has_members
        assert [(name, [node.text for node in nodes]) for name, nodes in reading] == [("b.pdf", [b"It was."])]


def test_messages_come_back_as_they_were_and_others_are_refused():
    mail = MailHeaders(subject="s", references=("1",), sent_at=datetime(2024, 1, 1, tzinfo=UTC))
    node = ExtractedNode(
        parent=0, name="ä\n", text="Größe".encode(),
        origin=Origin(sha256="0" * 64, size_bytes=None, kind="eml", extractor="x 1", warnings="w", mail=mail),
    )  # fmt: skip
    answer = [None, node, None]
    message = as_message(answer)
    ours, theirs = socket.socketpair()
    theirs.sendall(message + message + message[:-1])
    theirs.close()
    assert [received(ours, Answer) for _ in range(2)] == [answer, answer]
    with pytest.raises(EOFError):
        received(ours, Answer)
    usual = msgspec.to_builtins(replace(node, text=None))
    told = usual["origin"]
    changed = [
        {"parent": -1}, {"parent": 1 << 53}, {"text": "abc"}, {"parent": True},
        *({"origin": told | more} for more in (
            {"n_pages": "x"}, {"position": True}, {"kind": 7}, {"warnings": ["w"]}, {"n_pages": 1.5}, {"n_pages": -1},
            {"exception": "none such"}, {"mail": []}, {"mail": {"subject": [1]}}, {"mail": {"sent_at": "now"}},
            {"mail": {"sent_at": "2024-01-01T00:00:00+14:00"}}, {"mail": {"references": [1]}},
        )),
    ]  # fmt: skip
    bad = [msgspec.msgpack.encode([usual | more]) for more in changed]
    for content in (b"\x80", b"\xff", b"\x91" * 60_000, message[4:-3], *bad):
        with pytest.raises(WorkerFault):
            restored(Answer, content)
    with pytest.raises(WorkerFault):
        received(ours, Answer, b"\xfe\xff\xff\xff")
    ours.close()


def node(parent: int | None = None, *, has_members: bool = False) -> ExtractedNode:
    origin = Origin(sha256=None, size_bytes=None, kind="text", extractor="x 1")
    return ExtractedNode(parent=parent, name="a", has_members=has_members, origin=origin)


OUT_OF_PLACE = {
    "the parent is none": [node(has_members=True), node(0), node(1)],
    "its own parent": [node(has_members=True), node(1, has_members=True)],
    "a second file": [node(has_members=True), node()],
}


@pytest.mark.parametrize("nodes", OUT_OF_PLACE.values(), ids=OUT_OF_PLACE)
def test_a_worker_that_sends_a_document_out_of_its_place_is_one_that_failed(tmp_path, monkeypatch, nodes):
    """Hostile code in a worker could send anything; it costs the file, and the next one is read."""
    files = written(tmp_path, {"a.zip": make.zipped({"a.txt": "It was."}), "b.eml": make.mail({}, "It was.")})
    n_forged = 0
    received = WorkerProcess.received

    def forging(worker: WorkerProcess) -> Answer:
        nonlocal n_forged
        answer = received(worker)
        if answer and worker.given[0].request.name == "a.zip" and n_forged < 2:
            n_forged += 1
            return [*nodes, None]
        return answer

    monkeypatch.setattr(WorkerProcess, "received", forging)
    with ExtractionPool(1) as pool:
        found = extracted(pool, files)
    failed = [one for one in found.values() if one.origin.exception == "crashed"]
    assert failed
    assert all("sent a document out of its place" in str(one.problem) for one in failed)
    assert found["b.eml"].text == b"It was."


def test_packed_archives(pool, tmp_path):
    sink = io.BytesIO()
    with tarfile.open(fileobj=sink, mode="w") as archive:
        entry = tarfile.TarInfo("a.txt")
        entry.size = 7
        archive.addfile(entry, io.BytesIO(b"It was."))
    import gzip
    import lzma

    plain = sink.getvalue()
    packed = {
        "a.tar": plain,
        "a.tgz": gzip.compress(plain),
        "a.tar.bz2": bz2.compress(plain),
        "b": lzma.compress(plain),
    }
    page = b"<html><body><p>It was."
    packed["c.html.gz"] = gzip.compress(page)
    found = extracted(pool, written(tmp_path, packed))
    assert {doc_id: one.text for doc_id, one in found.items()} == {
        **{f"{name}!a.txt": b"It was." for name in ("a.tar", "a.tgz", "a.tar.bz2", "b")}, "c.html.gz": b"It was.",
    }  # fmt: skip
    bomb = gzip.compress(bytes(64 << 20))
    (only,) = extracted(pool, written(tmp_path, {"x.pdf.gz": bomb[:-9] + os.urandom(1) + bomb[-8:]})).values()
    assert only.origin.exception in ("too large", "damaged")
