"""The privilege log, as a table, CSV and Word, with texts that would act in a spreadsheet or in XML."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree

import pytest

from extracted_documents import add_extracted, origin
from nearkin.collection.collection import Collection
from nearkin.collection.decisions.deciding import tag
from nearkin.collection.decisions.log import ChangeRequest
from nearkin.collection.tolerance import Tolerance
from nearkin.errors import ParameterError
from nearkin.stages.documents.members import MailHeaders
from nearkin.workflows.collection.privilege_log import check_privilege_log, privilege_log
from places import SomePlace
from review_client import Visit

LAYOUT = """
[[fields]]
name = "withheld"
values = ["no", "counsel", "work product"]
sensitive = true

[[fields]]
name = "why"
kind = "text"
"""
SUBJECT = '=HYPERLINK("http://x","y")</w:t></w:r><w:r><w:t>&amp; "told"\x0b'
MAIL = MailHeaders(
    subject=SUBJECT,
    sent_at=datetime(2026, 3, 1, 23, 30, tzinfo=UTC),
    sender="Ada Berg <ada@example.org>",
    to="Bo Dorn <bo@example.org>",
    cc="@kim",
)
WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


def fill(matter: Collection) -> None:
    mail, part = origin("a", kind="eml", family="m", mail=MAIL), origin("b", family="m", position=1)
    add_extracted(matter, [("m", "A mail.", mail, None), ("m!a", "A plan.", part, "m"), ("n", "A note.", None, None)])
    matter.coding(LAYOUT, by="ada")
    matter.code(["m", "m!a"], {"withheld": ["counsel"], "why": ["-2+3 asks <counsel> for advice"]}, by="ada")
    matter.code(["n"], {"withheld": ["work product"]}, by="ada")
    matter.tag_values({"m": "B0001", "m!a": "B0002"}, "bates", by="ada")
    matter.tag(["n"], "date", "2025-01-31", by="ada")


def test_the_log_has_headers_reason_and_bates(place: SomePlace) -> None:
    with place.open() as matter:
        assert len(privilege_log(matter)) == 0
        fill(matter)
        found = privilege_log(matter).to_pylist()
        assert [(one["id"], one["date"], one["privilege"], one["bates"]) for one in found] == [
            ("n", "2025-01-31", "work product", None),
            ("m", "2026-03-01", "counsel", "B0001"),
            ("m!a", "2026-03-01", "counsel", "B0002"),
        ]
        assert (found[2]["from"], found[2]["to"], found[2]["cc"]) == (MAIL.sender, MAIL.to, MAIL.cc)
        assert (found[1]["reason"], found[0]["reason"]) == ("-2+3 asks <counsel> for advice", None)
        assert privilege_log(matter, "withheld=work product", reason="date")["reason"].to_pylist() == ["2025-01-31"]
        matter.code(["m"], {"withheld": ["no"]}, by="ada")
        matter.remove(["n"])
        assert privilege_log(matter)["id"].to_pylist() == ["m!a"]
        matter.tag(["m"], "hot", by="ada")
        assert privilege_log(matter, "hot", bates="withheld").select(["privilege", "bates"]).to_pylist() == [
            {"privilege": "hot", "bates": "no"}
        ]
    with pytest.raises(ParameterError):
        check_privilege_log(Path("log.pdf"))


def test_only_privilege_counts_and_values_of_two_people_are_disputed(place: SomePlace) -> None:
    fields = [("confidential", "yes-no", True), ("issues", "several", False), ("privileged", "yes-no", True)]
    layout = "".join(
        f'[[fields]]\nname = "{name}"\nkind = "{kind}"\nsensitive = {str(is_sensitive).lower()}\n'
        + 'values = ["price", "delivery"]\n' * (kind == "several")
        for name, kind, is_sensitive in fields
    )
    with place.open() as matter:
        matter.add([(f"d{i}", f"Letter {i} about the price.") for i in range(6)])
        matter.coding(layout, by="ada")
        calls = [("yes", "yes"), ("yes", "no"), ("no", "no"), ("no", "yes"), ("no", "yes"), ("no", "")]
        for i, (confidential, privileged) in enumerate(calls):
            chosen = {
                "confidential": [confidential],
                "privileged": [privileged],
                "issues": ["price", "delivery"][: i + 1],
            }
            matter.code([f"d{i}"], chosen, by="ben")
        for doc_id, value in (("d2", "yes"), ("d3", "no"), ("d4", None)):
            eva = ChangeRequest(by="eva", may_resolve=False)
            tag(matter.opened.store, [doc_id], "privileged", value, group=None, tolerance=Tolerance.of(), options=eva)
        found = privilege_log(matter).to_pylist()
        assert [(one["id"], one["privilege"], one["disputed"]) for one in found] == [
            ("d0", "yes", None), ("d2", "no", "yes"), ("d3", "yes", "no"), ("d4", "yes", "none"),
        ]  # fmt: skip
        for name, value in (("eva", "yes"), ("ben", "no")):  # ben takes back what eva agreed with
            by = ChangeRequest(by=name, may_resolve=False)
            tag(matter.opened.store, ["d0"], "privileged", value, group=None, tolerance=Tolerance.of(), options=by)
            (row,) = [one for one in privilege_log(matter).to_pylist() if one["id"] == "d0"]
            assert (row["privilege"], row["disputed"]) == (value, "yes" if value == "no" else None)
        assert privilege_log(matter, "issues=price")["id"].to_pylist() == [f"d{i}" for i in range(6)]
        assert privilege_log(matter, "issues=delivery")["id"].to_pylist() == [f"d{i}" for i in range(1, 6)]


@pytest.fixture
def visit(tmp_path: Path) -> Iterator[Visit]:
    with Collection.open(tmp_path / "matter", create=True) as matter:
        fill(matter)
        yield Visit(matter).sign_in()


def test_what_is_downloaded_acts_neither_in_a_spreadsheet_nor_in_xml(visit: Visit) -> None:
    rows = list(csv.reader(io.StringIO(visit.get("/privilege-log.csv").text)))
    assert rows[0] == ["date", "from", "to", "cc", "subject", "privilege", "disputed", "reason", "id", "bates"]
    assert len(rows) == 4
    assert not [cell for row in rows for cell in row if cell.startswith(("=", "-", "+", "@"))]
    answer = visit.get("/privilege-log.docx")
    assert answer.headers["content-disposition"] == 'attachment; filename="privilege-log.docx"'
    archive = zipfile.ZipFile(io.BytesIO(answer.content))
    document = ElementTree.fromstring(archive.read("word/document.xml"))
    table = [
        ["".join(text.text or "" for text in cell.iter(f"{WORD}t")) for cell in row.iter(f"{WORD}tc")]
        for row in document.iter(f"{WORD}tr")
    ]
    assert [len(row) for row in table] == [9] * 4
    assert table[2][4] == SUBJECT.replace("\x0b", "⟨U+000B⟩")
    assert table[2][6:] == ["-2+3 asks <counsel> for advice", "m", "B0001"]
    assert len(list(document.iter(f"{WORD}tbl"))) == 1
    page = visit.get("/privilege-log").text
    assert "<counsel>" not in page
    assert visit.get("/privilege-log.json", tag="withheld=counsel").json()["n_found"] == 2
    assert visit.send("GET", "/privilege-log", params={"tag": "=x"}).status_code == 400
