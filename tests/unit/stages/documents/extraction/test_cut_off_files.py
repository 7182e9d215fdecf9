"""Compound files, mailboxes of Outlook and archives that are cut off: no text of such a file is called complete."""

from __future__ import annotations

import io
import struct
import sys
import tarfile
import zipfile
from types import SimpleNamespace

import pytest

from compound_files import message
from extraction_files import extracted, text_of, written
from generator import office_files as make
from nearkin.stages.documents.extraction.outlook import messages_in
from nearkin.stages.documents.extraction.reading import Blob, Given
from nearkin.stages.documents.rules import RecordFault

CUT_OFF = "the file is truncated or damaged: text or attachments may be missing"
LETTER = message(
    {"0037": "Offer", "1000": "It was a dark night. " * 30},
    inside={
        "__attach_version1.0_#00000000": {"3707": "a.docx", "3701": make.docx(["Attached."])},
        "__attach_version1.0_#00000001": {"3707": "b.txt", "3701": b"Small."},
    },
)
_SIZE_AT = 120
"""Place of the size in an entry of the directory, which begins with the name."""


def lengthened(data: bytes, *streams: str, by: int = 128) -> bytes:
    """A compound file whose streams claim more bytes than there are, as if the rest of their chains were cut off."""
    changed = bytearray(data)
    for name in streams:
        at = data.index(name.encode("utf-16-le")) + _SIZE_AT
        (size,) = struct.unpack_from("<I", data, at)
        struct.pack_into("<I", changed, at, size + by)
    return bytes(changed)


def test_a_message_that_is_cut_off_is_corrupt_wherever_it_ends(pool, tmp_path):
    """Its extractor failed twice, which ended the worker; the file had "crashed"."""
    files = {f"{n}.msg": LETTER[:n] for n in range(600, len(LETTER), 700)}
    found = extracted(pool, written(tmp_path, files))
    assert {doc_id: one.origin.exception for doc_id, one in found.items()} == dict.fromkeys(files, "damaged")


def test_a_message_with_missing_bytes_says_so_and_keeps_what_is_there(pool, tmp_path):
    files = {
        "body.msg": lengthened(LETTER, "__substg1.0_1000001F"),
        "file.msg": lengthened(LETTER, "__substg1.0_37010102"),
        "other.msg": lengthened(message({"1000": "It was.", "8001": "Not read."}), "__substg1.0_8001001F"),
        "whole.msg": LETTER,
    }
    found = extracted(pool, written(tmp_path, files))
    partial = {doc_id: one.origin.sentence for doc_id, one in found.items() if one.origin.exception == "damaged"}
    assert partial == dict.fromkeys(["body.msg", "file.msg", "other.msg"], CUT_OFF)
    assert all(found[doc_id].origin.is_partial for doc_id in partial)
    assert text_of(found["body.msg"]) == text_of(found["whole.msg"]) == ("It was a dark night. " * 30)
    assert text_of(found["file.msg!a.docx"]) == "Attached."
    assert text_of(found["body.msg!b.txt"]) == "Small."


@pytest.mark.parametrize(("version", "size_at"), [(36, 184), (15, 168)])
def test_a_mailbox_of_outlook_that_is_cut_off_says_so_behind_its_messages(monkeypatch, version, size_at):
    """The header has the size; what libpff reads of the rest may be all of it, or not."""
    folder = SimpleNamespace(get_number_of_sub_messages=lambda: 0, get_number_of_sub_folders=lambda: 0)
    mailbox = SimpleNamespace(open_file_object=lambda raw: None, get_root_folder=lambda: folder)
    monkeypatch.setitem(sys.modules, "pypff", SimpleNamespace(file=lambda: mailbox))
    data = bytearray(b"!BDN" + bytes(2000))
    struct.pack_into("<H", data, 10, version)
    struct.pack_into("<I", data, size_at, len(data))
    assert list(messages_in(Given(blob=Blob(bytes(data)), kind="pst"))) == []
    with pytest.raises(RecordFault) as raised:
        list(messages_in(Given(blob=Blob(bytes(data[:-500])), kind="pst")))
    assert raised.value.reason == "damaged"


def stored(files):
    """An archive that packs nothing."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return held.getvalue()


def test_an_archive_that_is_cut_is_not_taken_for_the_archive_inside_it(pool, tmp_path):
    """The record at the end of a file inside it is the last one then, and readers of archives find it."""
    outer = stored({"a.txt": b"One.", "b.zip": stored({"two.txt": b"Two."}), "c.docx": make.docx(["Attached."])})
    with zipfile.ZipFile(io.BytesIO(make.docx(["Report."]))) as report:
        parts = {name: report.read(name) for name in report.namelist()}
    office = stored({**parts, "word/embeddings/other.docx": make.docx(["Another."])})
    cuts = [1, 10, 60, 200, 300]
    archives, reports = ({f"{n}.{kind}": data[:-n] for n in cuts} for kind, data in (("zip", outer), ("docx", office)))
    whole = {"behind.zip": outer + b"more", "whole.zip": outer, "whole.docx": office}
    found = extracted(pool, written(tmp_path, {**archives, **reports, **whole}))
    cut = {name: one for name, one in found.items() if name.partition("!")[0] not in whole}
    assert sorted(cut) == sorted([*reports, *(f"{name}!#1" for name in archives)])
    assert {one.origin.exception for one in cut.values()} == {"damaged"}
    assert {one.text for one in cut.values()} == {None}
    assert {name: text_of(one).strip() for name, one in found.items() if name.partition("!")[0] in whole} == {
        "behind.zip!a.txt": "One.", "behind.zip!b.zip!two.txt": "Two.", "behind.zip!c.docx": "Attached.",
        "whole.zip!a.txt": "One.", "whole.zip!b.zip!two.txt": "Two.", "whole.zip!c.docx": "Attached.",
        "whole.docx": "Report.", "whole.docx!other.docx": "Another.",
    }  # fmt: skip


def test_a_tar_archive_ends_where_its_file_does(pool, tmp_path):
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w") as archive:
        for name in ("a.txt", "b.txt"):
            entry = tarfile.TarInfo(name)
            entry.size = 4
            archive.addfile(entry, io.BytesIO(b"One."))
    whole, data = held.getvalue(), held.getvalue()[:2048]
    damaged = {"two": whole * 2, "lone": data + bytes(512), "none": data}
    good = {"whole": whole, "short": data + bytes(1024), "tape": data + bytes((1 << 20) - 2048)}
    found = extracted(pool, written(tmp_path, {f"{name}.tar": made for name, made in (damaged | good).items()}))
    for name in damaged | good:
        assert {f"{name}.tar!a.txt", f"{name}.tar!b.txt"} <= found.keys()
    assert {doc_id for doc_id, one in found.items() if one.origin.exception == "damaged"} == {
        f"{name}.tar!#3" for name in damaged
    }
    assert len(found) == 2 * len(damaged | good) + len(damaged)


def test_a_pdf_or_rtf_whose_end_is_missing_may_lack_text(pool, tmp_path):
    """The table of objects of a PDF, and an end mark, can be at its beginning."""
    pdf, rtf = make.pdf(["It was a dark night."]), rb"{\rtf1 {\b It was} a dark night\} in C:\\bin. {\i And more.}}"
    files = {
        "whole.pdf": pdf, "more.pdf": pdf + b"\n" * 2000 + b"served in 3 ms",
        "cut.pdf": pdf[: pdf.rindex(b"startxref")], "update.pdf": pdf + b"\n9 0 obj\n<< /Type /Fi",
        "whole.rtf": rtf, "more.rtf": rtf + b"\n", "cut.rtf": rtf[:40], "group.rtf": rtf[:-1],
    }  # fmt: skip
    found = extracted(pool, written(tmp_path, files))
    cut = {name: one.origin.exception for name, one in found.items() if one.origin.is_partial}
    assert cut == dict.fromkeys(("cut.pdf", "update.pdf", "cut.rtf", "group.rtf"), "damaged")
    assert all("dark" in text_of(one) for one in found.values())
