"""``nearkin threads``: its files, its page, its messages, odd mails, and runs that break off."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from functional.conftest import nearkin_done
from nearkin.options.families import MailOptions
from nearkin.workflows.reading.request import ReadingRequest
from nearkin.workflows.threads import job


def eml(name: str, text: str, *, references: str = "", subject: str = "Mill", hour: int = 10, more: str = "") -> str:
    head = f"From: Ada <ada@x.org>\nTo: Bo <bo@x.org>\nSubject: {subject}\nDate: 5 Jan 2004 {hour}:00 +0000\n"
    head += f"Message-ID: <{name}@x.org>\n" if name else ""
    head += f"References: {references}\n" if references else ""
    return f"{head}{more}\n{text}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A thread of four mails, of which one is missing, a spare, and a file that is no mail."""
    made = tmp_path / "mails"
    made.mkdir()
    files = {
        "a.eml": eml("a", "Is it sold?"),
        "b.eml": eml("b", "No.\n> Is it sold?", references="<a@x.org>", subject="Re: Mill", hour=11),
        "d.eml": eml("d", "Why?", references="<a@x.org> <b@x.org> <c@x.org>", subject="Re: Mill", hour=13),
        "copy of a.eml": eml("a", "Is  it sold?\n"),
    }
    for name, text in files.items():
        (made / name).write_text(text, "utf-8")
    return made


def run(*arguments: str | Path) -> list[dict[str, object]]:
    nearkin_done("threads", *arguments)
    out = Path(arguments[list(arguments).index("--out") + 1])
    return pq.read_table(out / "threads.parquet").to_pylist()


def test_a_thread_with_a_missing_mail_and_a_spare(folder: Path, tmp_path: Path) -> None:
    rows = run(folder, "--out", tmp_path / "out", "-q")
    shown = [(row["position"], row["depth"], row["id"], row["parent_message_id"], row["linked_by"]) for row in rows]
    assert shown == [
        (1, 0, "a.eml", None, None),
        (1, 0, "copy of a.eml", None, None),
        (2, 1, "b.eml", "a@x.org", "headers"),
        (3, 2, None, "b@x.org", "another mail"),
        (4, 3, "d.eml", "c@x.org", "headers"),
    ]
    assert [row["reason"] for row in rows] == [None, None, "message", None, "message"]
    assert [row["is_duplicate_spare"] for row in rows] == [False, True, False, None, False]
    assert [row["included_in"] for row in rows] == ["b.eml", "b.eml", None, None, None]
    assert [row["is_missing"] for row in rows] == [False, False, False, True, False]
    assert {row["thread_size"] for row in rows} == {4}
    assert [row["parent_mail"] for row in rows] == [None, None, "a.eml", "b.eml", None]


def _copies(folder: Path) -> None:
    """Write one mail three times: with an attachment, without it, and with the footer and the prefix of a list."""
    more = 'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="x"\n'
    body = "--x\nContent-Type: text/plain\n\nIs it sold?\n--x\nContent-Type: text/plain\n"
    body += 'Content-Disposition: attachment; filename="plan.txt"\n\nplan\n--x--'
    folder.mkdir()
    (folder / "a.eml").write_text(eml("a", body, more=more))
    (folder / "b.eml").write_text(eml("a", "Is it sold?"))
    (folder / "c.eml").write_text(eml("a", "Is it sold?\n\nTo leave the list, write to us.", subject="[mill] Mill"))


def test_copies_with_one_message_id_are_in_one_place(tmp_path: Path) -> None:
    folder = tmp_path / "mails"
    _copies(folder)
    (folder / "d.eml").write_text(eml("d", "No.\n> Is it sold?", references="<a@x.org>", subject="Re: Mill", hour=11))
    rows = run(folder, "--out", tmp_path / "out", "-q")
    shown = [(row["thread"], row["position"], row["id"], row["reason"], row["included_in"]) for row in rows]
    assert shown == [
        (1, 1, "a.eml", "attachment", None), (1, 1, "b.eml", None, "d.eml"), (1, 1, "c.eml", "message", None),
        (1, 2, "d.eml", "message", None),
    ]  # fmt: skip
    assert {row["thread_size"] for row in rows} == {4}
    collection = tmp_path / "mails.db"
    nearkin_done("add", collection, folder, "-q")
    stored = run(collection, "--out", tmp_path / "stored", "-q")
    assert [(row["position"], row["reason"], row["included_in"]) for row in stored] == [
        (row["position"], row["reason"], row["included_in"]) for row in rows
    ]


def test_different_mails_with_one_message_id_stay_apart(tmp_path: Path) -> None:
    folder = tmp_path / "mails"
    folder.mkdir()
    first = eml("a", "Is it sold?")
    others = {
        "subject": eml("a", "Buy now", subject="Offer"),
        "date": eml("a", "Buy now", hour=12),
        "no date": re.sub("Date: .*\n", "", eml("a", "Buy now")),
    }
    for name, text in {"first": first, **others}.items():
        (folder / f"{name}.eml").write_text(text)
    rows = run(folder, "--out", tmp_path / "out", "-q")
    assert sorted(row["thread"] for row in rows) == [1, 2, 3, 4]


def test_one_mail_of_three_mailboxes_is_one_whoever_its_sender_is_written_as(tmp_path: Path) -> None:
    folder, exchange = tmp_path / "mails", "/O=X/OU=EXCHANGE (FYDIB)/CN=RECIPIENTS/CN="
    folder.mkdir()
    sent = eml("a", "Is it sold?", more="Bcc: Cy <cy@y.org>\n")
    journal = eml("a", "Is it sold?").replace("ada@x.org", f"{exchange}ADA").replace("bo@x.org", f"{exchange}BO")
    answer = eml("b", "No.", subject="RE: Mill", hour=11)
    answer = answer.replace("ada@x.org", f"{exchange}BO").replace("bo@x.org", f"{exchange}ADA")
    for name, text in {"alias": eml("a", "Is it sold?"), "journal": journal, "sent": sent, "answer": answer}.items():
        (folder / f"{name}.eml").write_text(text)
    rows = {row["id"]: row for row in run(folder, "--out", tmp_path / "out", "-q")}
    assert {row["thread"] for row in rows.values()} == {1}
    kept = rows["sent.eml"]
    assert kept["is_duplicate_spare"] is False
    assert kept["bcc"] == "Cy <cy@y.org>"
    assert kept["all_places"] == ["sent.eml", "alias.eml", "journal.eml"]
    assert kept["edrm_mih"] == hashlib.md5(b"<a@x.org>", usedforsecurity=False).hexdigest()
    assert rows["journal.eml"]["is_duplicate_spare"] is True
    assert rows["answer.eml"]["parent_mail"] == "sent.eml"


def test_a_conversation_of_exchange_joins_mails_without_references(tmp_path: Path) -> None:
    folder = tmp_path / "mails"
    folder.mkdir()
    index = {n: base64.b64encode(bytes([1, *range(21 + 5 * n)])).decode() for n in (0, 1, 2, 3)}
    for n, subject in ((0, "Mill"), (1, "Order 12"), (3, "Order 13")):
        more = f"Thread-Index: {index[n]}\nThread-Topic: Mill\n"
        (folder / f"{n}.eml").write_text(eml(f"{n}", f"text {n}", subject=subject, hour=10 + n, more=more))
    rows = run(folder, "--out", tmp_path / "out", "-q")
    assert [(row["id"], row["depth"], row["is_other_subject"]) for row in rows] == [
        ("0.eml", 0, False),
        ("1.eml", 1, True),
        ("3.eml", 2, True),
    ]


def test_hostile_headers_steer_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "mails"
    folder.mkdir()
    more = "X: y\n" * 1000
    subject = "<script>alert(1)</script> \x1b[31m \u202egnp"
    (folder / "a.eml").write_text(eml("<img src=x>", "x", subject=subject, references="<a" * 5000, more=more), "utf-8")
    (folder / "b.eml").write_text(
        eml("b", "> " * 5000, references="<b@x.org> <b@x.org>", subject="Re:" * 5000), "utf-8"
    )
    (folder / "c.eml").write_bytes(b"Subject: \xff\xfe\r\nDate: \xff\r\nFrom: ((((\r\nMessage-ID: \x00\r\n\r\n\x00")
    rows = run(folder, "--out", tmp_path / "out", "-q")
    assert {row["id"] for row in rows if not row["is_missing"]} == {"a.eml", "b.eml", "c.eml"}
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert page.count("<script>") == 1
    assert "<img" not in page
    assert "\x1b" not in page
    assert "\u202e" not in page


@pytest.mark.parametrize("step", ["write_threads", "render_threads_report"])
def test_an_interrupted_run_does_not_look_whole(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    out = tmp_path / "out"
    with monkeypatch.context() as broken:
        broken.setattr(job, step, interrupted)
        with pytest.raises(KeyboardInterrupt):
            job.thread_files(ReadingRequest(inputs=[str(folder)]), out, MailOptions())
    assert not (out / "manifest.json").exists()
    assert len(run(folder, "--out", out, "-q")) == 5
    assert not (out / ".work").exists()
