"""Folders of documents through the commands: texts, ids, families, exceptions, and the same bytes every time."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from functional.conftest import nearkin_done, nearkin_here, nearkin_json
from generator import office_files as make
from made_up_prose import Prose
from nearkin.collection.collection import Collection

PROSE = Prose(21)
A, B, C = (PROSE.text(80) for _ in range(3))
HEADERS = {"From": "ada@b.org", "To": "bo@c.org", "Subject": "Offer", "Message-ID": "<1@b.org>",
           "Date": "Mon, 1 Jan 2024 10:00:00 +0000"}  # fmt: skip
FAMILY = ("family", "position", "kind", "exception", "is_partial")
EXPECTED = {
    # id: (parent, family, position, kind, exception, in part)
    "a.docx": (None, None, None, "docx", None, False),
    "a.pdf": (None, None, None, "pdf", None, False),
    "box.zip!b/scan.pdf": ("box.zip", None, 1, "pdf", "image only", False),
    "box.zip!note.txt": ("box.zip", None, 2, "text", None, False),
    "damaged.pdf": (None, None, None, "pdf", "damaged", False),
    "mail.eml": (None, "mail.eml", None, "eml", None, False),
    "mail.eml!offer.docx": ("mail.eml", "mail.eml", 1, "docx", None, False),
    "note.txt": (None, None, None, None, None, None),
    "renamed.doc": (None, None, None, "rtf", None, False),
    "table.rtf": (None, None, None, "rtf", "partial", True),
}


def write_case(folder: Path) -> Path:
    files = {
        "a.docx": make.docx([A]),
        "a.pdf": make.pdf([A]),
        "box.zip": make.zipped({"b/scan.pdf": make.pdf([B], is_scan=True), "note.txt": B}),
        "damaged.pdf": make.pdf([A])[:300],
        "mail.eml": make.mail(HEADERS, C, {"offer.docx": make.docx([f"{A} And more."])}),
        "note.txt": f"{C} Yours.".encode(),
        "renamed.doc": make.rtf([B]),
        "table.rtf": make.rtf([PROSE.text(60)])[:-1] + b"{\\object{\\*\\objdata 0105}}}",
    }
    folder.mkdir(parents=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


@pytest.fixture(scope="module")
def case(tmp_path_factory) -> Path:
    return write_case(tmp_path_factory.mktemp("documents") / "case")


@pytest.fixture(scope="module")
def run(case) -> Path:
    out = case.parent / "out"
    done = nearkin_done("dedup", case, "--out", out)
    assert "exceptions 3 1 damaged, 1 image only, 1 partial: exceptions.csv" in " ".join(done.out.split())
    return out


def rows_of(out: Path, table: str = "documents") -> dict[str, dict[str, object]]:
    return {row["id"]: row for row in pq.read_table(out / f"{table}.parquet").to_pylist()}


def test_every_document_with_its_origin(run):
    rows = rows_of(run)
    assert {one: (row["parent"], *(row[name] for name in FAMILY)) for one, row in rows.items()} == EXPECTED
    assert {row["copy_of"] for row in rows.values()} == {None, "a.docx", "box.zip!note.txt"}
    assert rows["mail.eml!offer.docx"]["group"] == rows["a.docx"]["group"]
    assert rows["note.txt"]["group"] == rows["mail.eml"]["group"]
    assert (rows["a.pdf"]["n_pages"], rows["renamed.doc"]["declared_kind"]) == (1, "doc")
    assert rows["note.txt"]["sha256"] is None


def test_the_exceptions_are_listed(run):
    with (run / "exceptions.csv").open(newline="") as file:
        found = list(csv.DictReader(file))
    assert [(one["id"], one["exception"], one["is_partial"]) for one in found] == [
        ("box.zip!b/scan.pdf", "image only", "false"), ("damaged.pdf", "damaged", "false"),
        ("table.rtf", "partial", "true"),
    ]  # fmt: skip
    assert all(one["sentence"] and len(one["sha256"]) == 64 and int(one["size_bytes"]) for one in found)
    assert found[0]["parent"] == "box.zip"
    page = (run / "report.html").read_text()
    assert "Extracted documents" in page
    assert "text in images is not recognised" in page
    manifest = json.loads((run / "manifest.json").read_text())
    told = manifest["extraction"]
    assert (told["documents"], told["in_part"], told["unread"]) == (9, 1, 2)
    assert told["exceptions"] == {"damaged": 1, "partial": 1, "image only": 1}
    assert "exceptions.csv" in manifest["files"]


def test_a_collection_and_a_pdf_checked_in(case, tmp_path):
    store = tmp_path / "store"
    nearkin_done("add", store, case)
    with Collection.open(store) as opened:
        assert opened.text("mail.eml") == C
        assert opened.text("mail.eml!offer.docx") == f"{A} And more."
    found = nearkin_json("check", store, case / "a.pdf", code=10)["documents"][0]
    assert found["doc_id"] == "a.docx" or found["doc_id"] == "a.pdf"
    found = nearkin_json("check", store, case / "mail.eml!offer.docx", code=10)["documents"][0]
    assert found["doc_id"] == "mail.eml!offer.docx"
    bad = nearkin_here("check", store, case / "damaged.pdf")
    assert bad.code == 3
    assert "it cannot be read: " in " ".join(bad.err.split())
    missing = nearkin_here("check", store, case / "box.zip")
    assert "box.zip is not one document. It contains " in " ".join(missing.err.split())
    missing = nearkin_here("check", store, case / "box.zip!none.txt")
    assert "box.zip. It contains" in " ".join(missing.err.split())
    bad = nearkin_here("dedup", case, "--keep", "max:date", "--out", tmp_path / "kept")
    assert "has no columns" in " ".join(bad.err.split())


def test_a_mail_is_dropped_with_all_its_attachments_or_not_at_all(tmp_path):
    offer, plan, other = (make.docx([PROSE.text(70)]) for _ in range(3))
    signature = b"-----BEGIN PGP SIGNATURE-----\n\niQEz\n-----END PGP SIGNATURE-----\n"
    answer, invitation = (
        f"BEGIN:VCALENDAR\r\nMETHOD:{one}\r\nEND:VCALENDAR\r\n".encode() for one in ("REPLY", "REQUEST")
    )
    mails = {
        "1.eml": (A, {"offer.docx": offer, "plan.docx": plan, "signature.asc": signature}),
        "2.eml": (A, {"offer.docx": offer, "smime.p7s": b"\x30\x82"}),  # all of it is in the first
        "3.eml": (B, {"offer.docx": offer, "ada.vcf": b"BEGIN:VCARD\r\nFN:Ada\r\nEND:VCARD\r\n"}),
        "4.eml": (A, {"offer.docx": offer, "other.docx": other, "answer.ics": answer}),
        "5.eml": ("", {"plan.docx": plan, "call.ics": invitation}),
    }
    for name, (body, attached) in mails.items():
        (tmp_path / name).write_bytes(make.mail({**HEADERS, "Message-ID": f"<{name}@b.org>"}, body, attached))
    (tmp_path / "offer.docx").write_bytes(offer)

    def kept(*options: str) -> set[str]:
        out = tmp_path / "out"
        found = nearkin_here("dedup", tmp_path, "--out", out, "--overwrite", "--keep", "first", "--json", *options)
        told = json.loads(found.out)
        assert told["extraction"]["exceptions"] == {"technical": 4, "empty": 1}
        rows = pq.read_table(out / "documents.parquet").to_pylist()
        assert told["counts"]["kept"] == sum(row["keep"] for row in rows)
        row = re.search(r"<tr[^>]*>(?:(?!</tr>).)*this report", (out / "report.html").read_text(), re.DOTALL)
        assert re.findall(r">([\d,.]+)<", row[0])[3] == str(told["counts"]["dropped"])
        return {row["id"] for row in rows if row["keep"]}

    alone = {"1.eml", "1.eml!offer.docx", "1.eml!plan.docx", "3.eml", "4.eml!other.docx", "5.eml!call.ics"}
    assert kept("--attachments", "alone") == alone
    assert kept() == alone | {"3.eml!offer.docx", "4.eml", "4.eml!offer.docx", "5.eml!plan.docx"}


def test_a_mail_whose_attachment_cannot_be_read_is_dropped_only_for_one_with_the_same_bytes(tmp_path):
    """Of mails with the same contents one stays, even if another document has the text of their body."""
    scan, other = make.pdf([A], is_scan=True), make.pdf([A] * 60, is_scan=True)
    mails = {
        "1.eml": (A, {"scan.pdf": scan}), "2.eml": (A, {"scan.pdf": scan}), "3.eml": (A, {"scan.pdf": other}),
        "4.eml": (A, {}), "5.eml": (f"{A} {B[:60]}", {}), "6.eml": (B, {"scan.pdf": scan}), "7.eml": (B, {}),
    }  # fmt: skip
    for name, (body, attached) in mails.items():
        (tmp_path / name).write_bytes(make.mail({**HEADERS, "Message-ID": f"<{name}@b.org>"}, body, attached))
    told = nearkin_json("dedup", tmp_path, "--out", tmp_path / "out", "--keep", "longest")
    rows = pq.read_table(tmp_path / "out" / "documents.parquet").to_pylist()
    assert told["counts"]["kept"] == 4
    assert {row["id"] for row in rows if row["keep"]} == {"1.eml", "3.eml", "5.eml", "6.eml"}


def test_attachments_of_a_load_file_whose_texts_are_missing_are_not_the_same(tmp_path):
    (tmp_path / "mail.txt").write_text(A)
    rows = ["DOCID,PARENTID,TEXTPATH", *(f"M{i},,mail.txt\nM{i}-1,M{i},gone{i}.txt" for i in (1, 2)), "M3,,mail.txt"]
    (tmp_path / "load.csv").write_text("\n".join(rows) + "\n")
    nearkin_done("dedup", tmp_path / "load.csv", "--out", tmp_path / "out", "--max-unreadable", "1")
    table = pq.read_table(tmp_path / "out" / "documents.parquet").to_pylist()
    assert {row["id"] for row in table if row["keep"]} == {"M1", "M2"}
