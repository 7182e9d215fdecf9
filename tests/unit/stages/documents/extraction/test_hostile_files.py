"""Files made to do harm: each costs its own documents, with a reason, and the files after it are read."""

from __future__ import annotations

import base64
import functools
import gzip
import io
import os
import signal
import subprocess
import sys
import tarfile
import threading
import time
import zipfile
import zlib
from pathlib import Path

import pytest

from example_counts import every
from extraction_files import extracted, extracted_once, text_of, written
from generator import office_files as make
from nearkin.stages.documents.extraction.pool import ExtractionPool, check_sandbox
from nearkin.stages.documents.rows import Row
from nearkin.stages.documents.rules import ExtractionLimits

GOOD = make.docx(["It was a dark and stormy night."])
MIB = 1 << 20


def exceptions_of(found: dict[str, Row]) -> dict[str, str | None]:
    return {doc_id: None if one.origin is None else one.origin.exception for doc_id, one in found.items()}


def one_bad(pool: ExtractionPool, folder: Path, name: str, content: bytes) -> Row:
    """The first document of a hostile file, when the file after it was read as ever."""
    found = extracted(pool, written(folder, {name: content, "good.docx": GOOD}))
    assert text_of(found.pop("good.docx")) == "It was a dark and stormy night."
    assert found
    return next(iter(found.values()))


def test_a_zip_bomb_and_what_lies_beside_it(pool, tmp_path):
    bomb = make.zipped(
        {"a.txt": "It was.", "zeros": bytes(64 * MIB), "__MACOSX/._a.txt": "attributes", "b.txt": "It is."}
    )
    assert len(bomb) < 100_000
    found = extracted(pool, written(tmp_path, {"x.zip": bomb}))
    assert exceptions_of(found) == {"x.zip!a.txt": None, "x.zip!zeros": "too large", "x.zip!b.txt": None}
    assert [(one.origin.sha256 is None, one.origin.size_bytes) for one in found.values()] == [
        (False, 7), (True, None), (False, 6),
    ]  # fmt: skip


INNER = make.zipped({"a.txt": "It was.", "b.txt": "It is."})


@pytest.mark.parametrize(
    ("limit", "place"),
    [("total=10", "x.zip!a.zip"), ("files=2", "x.zip!a.zip!#2"), ("levels=1", "x.zip!a.zip!#1"),
     ("size=6", "x.zip!a.zip!a.txt")],
)  # fmt: skip
def test_what_is_refused_names_its_limit(tmp_path, limit, place):
    name, value = limit.split("=")
    found = extracted_once(tmp_path, {"x.zip": make.zipped({"a.zip": INNER}, compression=0)}, **{name: int(value)})
    (refused,) = {doc_id for doc_id, exception in exceptions_of(found).items() if exception == "too large"}
    assert refused == place
    assert f"; raise it with --extraction-limit {name}=" in str(found[place].origin.sentence)


def test_a_document_of_word_that_unpacks_to_hundreds_of_megabytes(pool, tmp_path):
    inner = make.docx(["It was."])
    sink = io.BytesIO(inner)
    with zipfile.ZipFile(sink, "a", zipfile.ZIP_DEFLATED) as archive, archive.open("word/more.xml", "w") as file:
        for _ in range(300):
            file.write(bytes(MIB))
    found = one_bad(pool, tmp_path, "x.docx", sink.getvalue())
    assert found.text == b"It was." or found.origin.exception in ("too large", "damaged")


def test_a_file_of_a_tar_that_is_too_large_for_the_disk_costs_only_itself(tmp_path):
    sink = io.BytesIO()
    with tarfile.open(fileobj=sink, mode="w") as archive:
        for name, data in (("a.txt", b"It was."), ("zeros", bytes(66 * MIB)), ("b.txt", b"It is.")):
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    found = extracted_once(tmp_path, {"x.tar": sink.getvalue()}, disk=8 * MIB)
    assert exceptions_of(found) == {"x.tar!a.txt": None, "x.tar!zeros": "too large", "x.tar!b.txt": None}
    assert text_of(found["x.tar!b.txt"]) == "It is."
    assert "--extraction-limit disk=" in str(found["x.tar!zeros"].origin.sentence)


def test_the_same_bytes_again_and_again(pool, tmp_path):
    """An archive whose entries all point to one another's bytes: small, and large when it is unpacked."""
    kernel = make.zipped({"0": bytes(8 * MIB)})
    data = kernel[: kernel.index(b"PK\x01\x02")]
    entry = kernel[kernel.index(b"PK\x01\x02") : kernel.index(b"PK\x05\x06")]
    end = bytearray(kernel[kernel.index(b"PK\x05\x06") :])
    n = 500
    end[8:12] = n.to_bytes(2, "little") * 2
    end[12:16] = (n * len(entry)).to_bytes(4, "little")
    found = extracted(pool, written(tmp_path, {"x.zip": data + entry * n + bytes(end)}))
    assert set(exceptions_of(found).values()) <= {"too large", "damaged"}


def test_billion_laughs(pool, tmp_path):
    entities = "".join(f'<!ENTITY l{at} "{f"&l{at - 1};" * 10}">' for at in range(1, 10))
    laughs = f'<?xml version="1.0"?><!DOCTYPE w [<!ENTITY l0 "ha">{entities}]>'
    body = '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>'
    parts = make.docx([])
    with zipfile.ZipFile(io.BytesIO(parts)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    files["word/document.xml"] = f"{laughs}{body}&l9;</w:t></w:r></w:p></w:body></w:document>".encode()
    found = one_bad(pool, tmp_path, "x.docx", make.zipped(files))
    assert len(found.text or b"") < 10_000


@pytest.mark.parametrize("kids", ["2 0 R", "3 0 R 2 0 R", "1 0 R"])
def test_a_pdf_whose_pages_contain_themselves(pool, tmp_path, kids):
    data = b"%PDF-1.4\n1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n"
    data += f"2 0 obj\n<</Type/Pages/Kids[{kids}]/Count 99999999>>\nendobj\n".encode()
    data += b"3 0 obj\n<</Type/Page/Parent 2 0 R/Contents 3 0 R>>\nendobj\ntrailer\n<</Root 1 0 R>>\n%%EOF\n"
    found = one_bad(pool, tmp_path, "x.pdf", data)
    assert found.text is None or len(found.text) < 1000
    assert found.origin.exception in ("damaged", "empty", "time-out")


def test_a_pdf_whose_drawing_draws_itself_and_one_of_packed_zeros(pool, tmp_path):
    page = make.pdf(["It was."])
    assert one_bad(pool, tmp_path, "x.pdf", page.replace(b"/I Do", b"/F Do").replace(b"/Image", b"/Form")).text
    zeros = zlib.compress(bytes(64 * MIB))
    stream = b"<</Length %d/Filter/FlateDecode>>\nstream\n" % len(zeros) + zeros + b"\nendstream"
    told = b"%PDF-1.4\n1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n"
    told += b"2 0 obj\n<</Type/Pages/Kids[3 0 R]/Count 1>>\nendobj\n"
    told += b"3 0 obj\n<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R>>\nendobj\n4 0 obj\n" + stream
    assert one_bad(pool, tmp_path, "y.pdf", told + b"\nendobj\ntrailer\n<</Root 1 0 R>>\n%%EOF\n").text is None


def test_a_mailbox_that_is_one_endless_line_and_one_with_an_endless_mail(tmp_path):
    begun = b"From a@b.org Mon Jan  1 10:00:00 2024\nSubject: x\n\n"
    endless = b"x" * (3 * MIB)
    found = extracted_once(
        tmp_path,
        {"a.mbox": begun + endless + b"\n\n" + begun + b"It was.\n", "b.mbox": endless, "c.mbox": begun + endless},
        size=MIB,
    )
    assert exceptions_of(found) == {
        "a.mbox!#1": "too large", "a.mbox!#2": None, "b.mbox": "too large", "c.mbox!#1": "too large",
    }  # fmt: skip
    assert text_of(found["a.mbox!#2"]) == "It was."


def test_parts_of_mails_inside_one_another(pool, tmp_path):
    mail = b"Subject: x\n\nIt was."
    for level in range(400):
        bound = f"b{level}".encode()
        head = b"MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=" + bound + b"\n\n"
        mail = head + b"--" + bound + b"\n" + mail + b"\n--" + bound + b"--\n"
    head = b"From: a@b.org\nDate: Mon, 1 Jan 2024 10:00:00 +0000\n"
    found = one_bad(pool, tmp_path, "x.eml", head + mail)
    assert found.origin is not None


def test_names_in_archives_are_never_paths(pool, tmp_path):
    names = ["../../escaped.txt", "/etc/escaped.txt", "C:\\escaped.txt", "\\\\server\\share\\escaped.txt", "CON",
             "a/../../../b.txt", "line\nbreak\x1b[31m.txt", "!x", "..", "Größe.txt"]  # fmt: skip
    sink = io.BytesIO()
    with tarfile.open(fileobj=sink, mode="w") as archive:
        for name in names:
            entry = tarfile.TarInfo(name)
            entry.size = 7
            archive.addfile(entry, io.BytesIO(b"It was."))
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE):
            entry = tarfile.TarInfo("special")
            entry.type, entry.linkname = kind, "/etc/passwd"
            archive.addfile(entry)
    files = {"x.zip": make.zipped(dict.fromkeys(names, "It was.")), "y.tar": sink.getvalue()}
    found = extracted(pool, written(tmp_path / "a/b/in", files))
    assert {path.name for path in tmp_path.rglob("*")} == {"a", "b", "in", *files}
    for doc_id, one in found.items():
        assert ".." not in doc_id.split("!", 1)[1].split("/")
        assert not any(sign in doc_id for sign in "\n\x1b\\") or "\\x" in doc_id or "\\n" in doc_id
        assert one.text == b"It was." or one.origin.exception == "unsupported"
    assert "x.zip!etc/escaped.txt" in found
    assert "y.tar!server/share/escaped.txt" in found
    assert "x.zip!%21x" in found
    assert sum(one.origin.exception == "unsupported" for one in found.values()) == 4
    assert not list(Path("/etc").glob("escaped*"))


def test_a_link_in_a_zip_archive_is_not_followed(pool, tmp_path):
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        entry = zipfile.ZipInfo("link")
        entry.create_system, entry.external_attr = 3, 0o120777 << 16
        archive.writestr(entry, "/etc/passwd")
    (found,) = extracted(pool, written(tmp_path, {"x.zip": sink.getvalue()})).values()
    assert (found.text, found.origin.exception) == (None, "unsupported")


@pytest.mark.parametrize("kept", [0.02, 0.6, 0.99])
def test_truncated_files_of_every_kind(pool, tmp_path, kept):
    told = ["It was a dark and stormy night."] * 200
    headers = {"From": "a@b.org", "Date": "Mon, 1 Jan 2024 10:00:00 +0000", "Subject": "Größe"}
    whole = {
        "a.docx": make.docx(told, {"b.docx": GOOD}), "a.xlsx": make.xlsx([told]), "a.pptx": make.pptx(told),
        "a.odt": make.odt(told), "a.rtf": make.rtf(told), "a.pdf": make.pdf(told, attached={"b.docx": GOOD}),
        "a.eml": make.mail(headers, "\n".join(told), {"b.docx": GOOD}), "a.zip": make.zipped({"a.docx": GOOD}),
    }  # fmt: skip
    sink = io.BytesIO()
    with tarfile.open(fileobj=sink, mode="w:gz") as archive:
        entry = tarfile.TarInfo("a.docx")
        entry.size = len(GOOD)
        archive.addfile(entry, io.BytesIO(GOOD))
    whole["a.tar.gz"] = sink.getvalue()
    cut = {name: content[: int(kept * len(content))] for name, content in whole.items()}
    found = extracted(pool, written(tmp_path, {**cut, "good.docx": GOOD}))
    assert text_of(found["good.docx"]) == "It was a dark and stormy night."
    assert {doc_id.split("!")[0] for doc_id in found} == {*cut, "good.docx"}
    for one in found.values():
        assert one.text is not None or one.problem
        assert one.origin.exception is not None or one.text is not None


@functools.cache
def files_that_take_memory() -> dict[str, bytes]:
    long = "It was. " * (8 * MIB - 1) + "\N{CRESCENT MOON}"  # which makes Python take four bytes for each character
    return {
        "a.docx": GOOD, "b.pdf": make.pdf(["It was."]), "c.xlsx": make.xlsx([["It was."]]),
        "d.txt.gz": gzip.compress(long.encode(), 1), "e.zip": make.zipped({"a.txt": long}),
        "f.eml": make.mail({"Subject": "Night"}, "It was.", {"a.pdf": make.pdf(["It was."])}),
    }  # fmt: skip


@pytest.mark.parametrize("memory", every(2, [60, 350]))
def test_whatever_fails_for_lack_of_memory_names_its_limit(tmp_path, memory):
    """Libraries that cannot be loaded, memory that they do not get, threads that do not start: none says it alike."""
    with ExtractionPool(1, ExtractionLimits(memory=memory * MIB)) as pool:
        found = extracted(pool, written(tmp_path, files_that_take_memory()))
    said = [str(one.origin.sentence) for one in found.values() if one.origin.exception is not None]
    assert said
    assert [
        one for one in said if f"{memory * MIB:,} bytes" not in one or "--extraction-limit memory=" not in one
    ] == []


def processor_time(pid: int) -> float:
    """Return the seconds that a process has computed, 0 if it has ended."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().split()[13]) / os.sysconf("SC_CLK_TCK")
    except FileNotFoundError:
        return 0.0


def test_workers_that_are_killed_cost_one_document_each(tmp_path):
    """A page that takes seconds, so that there is time to kill its worker, twice: among others, and in an archive."""
    page = b"<html><body>" + b"<div>" * 60_000
    files = {"a.docx": GOOD, "b.html": page, "c.zip": make.zipped({"a.docx": GOOD, "b.html": page, "c.docx": GOOD})}
    with ExtractionPool(1, ExtractionLimits()) as pool:
        extracted(pool, written(tmp_path / "start", {"a.docx": GOOD}))
        (started,) = (processor_time(worker.process.pid) for worker in pool.workers)
        killed: list[int] = []

        def kill() -> None:
            while len(killed) < 2:
                time.sleep(0.02)
                for worker in pool.workers:
                    pid = worker.process.pid
                    if pid not in killed and processor_time(pid) > started + 1:  # it is at a page
                        killed.append(pid)
                        os.kill(pid, signal.SIGKILL)

        thread = threading.Thread(target=kill)
        thread.start()
        found = extracted(pool, written(tmp_path, files))
        thread.join()
    assert exceptions_of(found) == {
        "a.docx": None, "b.html": "crashed", "c.zip!a.docx": None, "c.zip!b.html": "crashed", "c.zip!c.docx": None,
    }  # fmt: skip
    assert "(signal SIGKILL)" in str(found["b.html"].problem)


def test_files_and_the_network_are_out_of_reach(tmp_path):
    """What the sandbox says of itself, tried from inside of a worker's own kind of process."""
    held = check_sandbox()
    assert held.limits
    code = (
        "import os,sys,socket,subprocess\n"
        "from nearkin.stages.documents.extraction.sandbox import apply_sandbox\n"
        "held=apply_sandbox(memory_bytes=1<<32,file_bytes=1<<30,directory=sys.argv[1],libraries=[sys.prefix,sys.base_prefix,*sys.path])\n"
        "def fails(what):\n"
        "    try:\n        what()\n    except OSError: return True\n    return False\n"
        "print(held.system_calls, held.file_system, fails(lambda: socket.socket()),\n"
        "      fails(lambda: subprocess.run(['/bin/true'])), fails(lambda: os.fork()),\n"
        "      fails(lambda: open('/etc/passwd')),\n"
        "      fails(lambda: open(sys.argv[2],'w')), fails(lambda: open(sys.argv[1]+'/own','w')),\n"
        "      fails(lambda: os.kill(os.getppid(), 0)))\n"
    )
    own = tmp_path / "own"
    own.mkdir()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code, str(own), str(tmp_path / "other")], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    calls, files, *failed = [one == "True" for one in done.stdout.split()]
    network, program, fork, passwords, other, in_own, kill = failed
    assert (calls, files) == (held.system_calls, held.file_system)
    assert [network, program, fork, kill] == [calls] * 4
    assert [passwords, other] == [files] * 2
    assert not in_own
    if sys.platform.startswith("linux"):
        assert calls, "every kernel that the tests run on has seccomp"


def pdf_of_two(content: bytes, filters: str) -> bytes:
    """A PDF whose second page has this packed content."""
    first = b"BT /F 10 Tf 50 700 Td (It was a dark and stormy night.) Tj ET"
    font = "/Resources<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>/MediaBox[0 0 595 842]"
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R 5 0 R]/Count 2>>",
        f"<</Type/Page/Parent 2 0 R/Contents 4 0 R{font}>>".encode(),
        b"<</Length %d>>\nstream\n%b\nendstream" % (len(first), first),
        f"<</Type/Page/Parent 2 0 R/Contents 6 0 R{font}>>".encode(),
        b"<</Length %d/Filter%b>>\nstream\n%b\nendstream" % (len(content), filters.encode(), content),
    ]
    return make._with_table(objects)


def test_a_damaged_page_is_an_exception(pool, tmp_path):
    lines = b"".join(b"1 0 0 1 50 %d Tm (Line %d.) Tj\n" % (700 - 7 * at, at * at) for at in range(90))
    plain = b"BT /F 10 Tf " + lines + b"ET"
    packed = zlib.compress(plain)
    half = len(packed) // 2
    found = extracted(pool, written(tmp_path, {
        "whole.pdf": pdf_of_two(packed, "/FlateDecode"),
        "no-checksum.pdf": pdf_of_two(packed[:-4], "/FlateDecode"),
        "broken.pdf": pdf_of_two(packed[:half] + b"\xff" * 20 + packed[half + 20 :], "/FlateDecode"),
        "head.pdf": pdf_of_two(b"\0\0\0" + packed[3:], "[/FlateDecode]"),
        "cut.pdf": pdf_of_two(packed[:half], "/FlateDecode"),
        "text.pdf": pdf_of_two(base64.a85encode(packed) + b"~>", "[/ASCII85Decode/FlateDecode]"),
    }))  # fmt: skip
    whole = ("whole.pdf", "no-checksum.pdf", "text.pdf")
    assert {one for one in found if found[one].origin.exception is None} == set(whole)
    assert all("Line 7921." in text_of(found[one]) for one in whole)
    for doc_id in set(found) - set(whole):
        told = found[doc_id].origin
        assert (told.exception, told.is_partial) == ("damaged", True)
        assert told.sentence == "a stream of it is damaged: text may be missing"
        assert "stormy night" in text_of(found[doc_id])
