"""The pool: the same answers in the same order, however many workers there are, and whoever stops listening."""

from __future__ import annotations

import bz2
import io
import os
import tarfile
import threading
import time
from collections.abc import Sequence
from contextlib import closing

import pypdf
import pytest

from extraction_files import extracted, written
from generator import office_files as make
from made_up_prose import Prose
from nearkin.errors import ParameterError
from nearkin.stages.documents.extraction import worker_process, workers
from nearkin.stages.documents.extraction.documents import documents_of
from nearkin.stages.documents.extraction.limits import ExtractionLimits
from nearkin.stages.documents.extraction.nodes import END, ExtractedNode, ExtractionRequest, NodeOrder, WorkerFault
from nearkin.stages.documents.extraction.worker_process import Worker
from nearkin.stages.documents.extraction.workers import ExtractionPool, FileToExtract
from nearkin.stages.documents.origin import MailHeaders, Origin

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
        for number, (_, nodes) in enumerate(pool.extract(files)):
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
    found = [(file.name, [node.size_bytes for node in nodes]) for file, nodes in pool.extract(files)]
    assert found == [(name, [len(big), *[2 << 22] * 8]) for name in ("a.zip", "b.zip")]


def test_a_file_that_cannot_be_opened_is_an_error_of_that_file(pool, tmp_path):
    there = written(tmp_path, {"a.pdf": make.pdf(["It was."])})
    coming = pool.extract([FileToExtract(str(tmp_path / "gone.pdf"), "gone.pdf"), *there])
    with pytest.raises(FileNotFoundError):
        list(next(coming)[1])
    assert [node.kind for node in next(coming)[1]] == ["pdf"]


def test_short_files_go_together_and_one_that_kills_its_worker_costs_no_other(tmp_path, monkeypatch):
    """The page in the archive takes longer than it may; mails before and after it are in the same message."""
    sent: list[list[str]] = []
    ask = Worker.ask

    def noting(worker: Worker, requests: Sequence[ExtractionRequest], descriptors: Sequence[int]) -> None:
        sent.append([one.name for one in requests])
        ask(worker, requests, descriptors)

    monkeypatch.setattr(Worker, "ask", noting)
    monkeypatch.setattr(workers, "_BATCH_S", 1000.0)  # on a busy machine, too
    files = {f"{at:02d}.eml": make.mail({"Subject": f"{at}"}, f"It was night {at}.") for at in range(60)}
    page = b"<html><body>" + b"<p>It <b>was</b> &amp; a dark night</p>" * 1_000_000
    files["30.zip"] = make.zipped({"a.txt": "It was.", "b.html": page, "c.txt": "It was."})
    with ExtractionPool(1, ExtractionLimits(wall_s=1)) as pool:
        found = extracted(pool, written(tmp_path, dict(sorted(files.items()))))
    together = next(names for names in sent if "30.zip" in names)
    assert len(together) > 1
    assert [names for names in sent if "30.zip" in names][1:] == [["30.zip"]] * 2
    assert len(sent[0]) == 1, "nothing is known of the files yet"
    assert [doc_id for doc_id, one in found.items() if one.text is None] == ["30.zip!b.html"]
    assert found["30.zip!b.html"].origin.exception == "time-out"
    assert [one.text for doc_id, one in found.items() if "!" not in doc_id] == [
        f"It was night {at}.".encode() for at in range(60)
    ]


def with_password(data: bytes) -> bytes:
    """A PDF that opens only with a password."""
    sink = io.BytesIO()
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(data))
    writer.encrypt("secret", algorithm="RC4-128")
    writer.write(sink)
    return sink.getvalue()


def test_documents_before_one_that_kills_its_worker_have_no_other_members_for_the_next_worker(tmp_path):
    """A PDF that cannot be opened has none; asked for them again, it raises an error, which would become a document."""
    slow = b"<html><body>" + b"<p>It <b>was</b> &amp; a dark night</p>" * 1_000_000
    pdf = make.pdf(["It was."])
    inner = {"a.pdf": with_password(pdf), "b.html": slow, "c.pdf": with_password(pdf), "d.html": slow}
    inner["e.docx"] = make.docx(["It was."], {"f.rtf": make.rtf(["It was."]), "g.html": slow, "h.pdf": pdf})
    files = written(tmp_path, {"x.zip": make.zipped(inner), "y.pdf": pdf})
    with ExtractionPool(1, ExtractionLimits(wall_s=1)) as pool:
        found = {doc_id: one.origin.exception for doc_id, one in extracted(pool, files).items()}
    kinds = {".pdf": "encrypted", ".html": "time-out"}
    assert found == {
        **{f"x.zip!{name}": kinds.get(name[1:]) for name in inner},
        "x.zip!e.docx!f.rtf": None, "x.zip!e.docx!g.html": "time-out", "x.zip!e.docx!h.pdf": None,
        "y.pdf": None,
    }  # fmt: skip


def test_long_files_and_the_last_ones_go_one_by_one(tmp_path):
    pool = ExtractionPool(2)
    pool._threads = [threading.Thread()] * 2  # nobody takes what is submitted
    for at, size in enumerate((10, 2 << 20, *[10] * 9)):
        pool.submit(FileToExtract(f"{tmp_path}/{at}", f"{at}", size_bytes=size))
    taken = []
    while batch := pool.next_asked(16, is_idle=False):
        taken.append([one.file.name for one in batch])
    assert taken == [["0"], ["1"], ["2", "3", "4", "5"], ["6", "7"], ["8"], ["9"], ["10"]]


def test_a_reader_that_leaves_a_file_does_not_stop_the_next_one(tmp_path):
    big = make.zipped({f"{at}.txt": f"{at} ".encode() * (1 << 22) for at in range(8)}, compression=0)
    first, second = written(tmp_path, {"a.zip": big, "b.pdf": make.pdf(["It was."])})
    assert next(documents_of(first)).doc_id == "a.zip!0.txt"
    assert [one.doc_id for one in documents_of(second)] == ["b.pdf"]


def test_messages_come_back_as_they_were_and_others_are_refused():
    node = ExtractedNode(
        number=1, parent=0, name="ä\n", position=1, text="Größe".encode(), sha256="0" * 64, extractor="x 1",
        warnings=("w",), mail=MailHeaders(subject="s", references=("1",)),
    )  # fmt: skip
    assert ExtractedNode.read_from(io.BytesIO(node.as_message())) == node
    number = b'"number":1'
    assert node.as_message().count(number) == 1
    for line in (b"{}\n", b"[]\n", b"\xff\n", node.as_message().replace(number, b'"number":-1'),
                 node.as_message().replace(number, number + b',"exception":"none such"'),
                 *(b'{"number":1,"parent":0,"name":"a","position":1,' + other + b"}\n" for other in (
                     b'"kind":7', b'"name":7', b'"n_pages":"x"', b'"position":true', b'"unknown":1', b'"warnings":"w"',
                     b'"mail":[]', b'"mail":{"subject":[1]}', b'"mail":{"sent_at":"now"}', b'"parent":-1',
                     b'"mail":{"sent_at":"0001-01-01T00:00:00+14:00"}', b'"n_pages":9007199254740992',
                     b'"kind":"\\ud800"', b'"warnings":["\\ud800"]', b'"mail":{"subject":"\\udc80"}',
                     b'"text":"abc"', b'"text":{"a":1}', b'"text":5', b'"n_text":Infinity', b'"n_text":1.5')),
                 b"[" * 60_000 + b"\n"):  # fmt: skip
        with pytest.raises(WorkerFault):
            ExtractedNode.read_from(io.BytesIO(line))
    with pytest.raises(EOFError):
        ExtractedNode.read_from(io.BytesIO(node.as_message()[:-1]))


def node(number: int, parent: int | None = None, *, has_members: bool = False) -> ExtractedNode:
    return ExtractedNode(
        number=number, parent=parent, name="a", position=number, has_members=has_members, extractor="x 1"
    )


OUT_OF_PLACE = {
    "the parent is none": [node(0, has_members=True), node(1, 0), node(2, 1)],
    "the parent has not come": [node(0, has_members=True), node(1, 7)],
    "its own parent": [node(0, has_members=True), node(1, 1, has_members=True)],
    "a second file": [node(0, has_members=True), node(1)],
    "a file inside another": [node(0, 0)],
    "one is missing": [node(0, has_members=True), node(2, 0)],
    "one comes again": [node(0, has_members=True), node(1, 0, has_members=True), node(1, 0)],
}


@pytest.mark.parametrize("nodes", OUT_OF_PLACE.values(), ids=OUT_OF_PLACE)
def test_a_worker_that_sends_a_document_out_of_its_place_is_one_that_failed(tmp_path, monkeypatch, nodes):
    """Hostile code in a worker could send anything; it costs the file, and the next one is read."""
    files = written(tmp_path, {"a.zip": make.zipped({"a.txt": "It was."}), "b.eml": make.mail({}, "It was.")})
    forged = b"".join(one.as_message() for one in nodes) + END
    streams: list[object] = []

    class ForgingWorker(Worker):
        def ask(self, requests: Sequence[ExtractionRequest], descriptors: Sequence[int]) -> None:
            super().ask(requests, descriptors)
            if requests[0].name == "a.zip" and len(streams) < 2:
                streams.append(self._stream)
                self._stream = io.BufferedReader(io.BytesIO(forged))

    monkeypatch.setattr(worker_process, "Worker", ForgingWorker)
    with ExtractionPool(1) as pool:
        found = extracted(pool, files)
    failed = [one for one in found.values() if one.origin.exception == "crashed"]
    assert failed
    assert all("sent a document out of its place" in str(one.problem) for one in failed)
    assert found["b.eml"].text == b"It was."


def test_origins_come_back_from_their_rows():
    origin = Origin(sha256="0", size_bytes=1, kind="eml", extractor="x 1", mail=MailHeaders(references=("1", "2")))
    assert Origin.of_row(origin.as_row()) == origin


@pytest.mark.parametrize("value", [0, -1, True, 1.5, "1"])
def test_limits_are_whole_numbers(value):
    with pytest.raises(ParameterError, match="cpu_s"):
        ExtractionLimits(cpu_s=value)


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
    assert only.origin.exception in ("bomb", "corrupt")


def test_a_worker_that_has_long_nothing_to_send_is_not_taken_for_one_that_hangs(tmp_path, monkeypatch):
    """Another worker goes on after documents with members: it unpacks them all again, and sends none of them."""
    monkeypatch.setattr(worker_process, "_GRACE_S", 0.2)
    packed = bz2.compress(bytes(16 << 20))
    data = make.zipped({**{f"{at:02d}.bz2": packed for at in range(40)}, "last.txt": "It was."}, compression=0)
    (tmp_path / "x.zip").write_bytes(data)
    limits = ExtractionLimits(wall_s=1, compression_ratio=10**9)
    asked = ExtractionRequest(name="x.zip", limits=limits.as_request(), first=41, parents={*range(41)}, given_up={})
    started = time.monotonic()
    with closing(Worker(limits)) as worker, (tmp_path / "x.zip").open("rb") as file:
        worker.ask([asked], [file.fileno()])
        node = worker.next_node(NodeOrder(41, {0}))
    assert node is not None
    assert node.text == b"It was."
    assert time.monotonic() - started > 1.2, "it was never silent for as long as a hanging one"
