"""Mails: headers as fields, the body that a reader sees, attachments as documents; whatever is wrong with them."""

from __future__ import annotations

import base64
import io
from datetime import UTC, datetime, timedelta
from email import message_from_bytes
from email.message import Message

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compound_files import message
from example_counts import examples
from extraction_files import extracted, text_of, written
from generator import office_files as make
from nearkin.stages.documents.extraction.mail import mails_of, parsed_mail, read_mail
from nearkin.stages.documents.extraction.reading import Blob, DocumentRead, Given, Member

UNENDED = "the mail ends in its headers or without its closing boundary: text or attachments may be missing"
HEADERS = {
    "From": "Ada Lovelace <ada@b.org>", "To": "bo@c.org, Cy <cy@c.org>", "Cc": "Dé <de@c.org>", "Subject": "Größe",
    "Date": "Mon, 1 Jan 2024 12:00:00 +0200", "Message-ID": "<3@b.org>", "In-Reply-To": "<2@b.org>",
    "References": "<1@b.org> <2@b.org>",
}  # fmt: skip
NEW_YEAR = (datetime(2024, 1, 1, tzinfo=UTC) - datetime(1601, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1) * 10
SEPARATOR = b"From ada@b.org Mon Jan  1 10:00:00 2024\n"


def read(data: bytes, encoding: str = "utf-8") -> tuple[DocumentRead, list[Member]]:
    mail = read_mail(Given(blob=Blob(data), kind="eml", encoding=encoding))
    return mail, list(mail.members()) if mail.members else []


def test_headers_body_attachments_and_families(pool, tmp_path):
    inner = make.mail({"Subject": "inner", "Message-ID": "<0@b.org>"}, "Inner.", {"b.docx": make.docx(["Deep."])})
    data = make.mail(HEADERS, "It was.\n", {"a.docx": make.docx(["Attached."]), "old.eml": inner})
    found = extracted(pool, written(tmp_path, {"x.eml": data}))
    assert {doc_id: text_of(one) for doc_id, one in found.items()} == {
        "x.eml": "It was.", "x.eml!a.docx": "Attached.", "x.eml!old.eml": "Inner.", "x.eml!old.eml!b.docx": "Deep.",
    }  # fmt: skip
    assert {one.origin.family for one in found.values()} == {"x.eml"}
    assert [one.parent for one in found.values()] == [None, "x.eml", "x.eml", "x.eml!old.eml"]
    assert [one.origin.position for one in found.values()] == [None, 1, 2, 1]
    assert found["x.eml!old.eml"].origin.mail.subject == "inner"
    assert found["x.eml!a.docx"].origin.mail is None


@pytest.mark.parametrize(
    ("given", "name"),
    [(b'="\\\\users =?utf-8?Q?=C3=BC?=.txt"', "users ü.txt"), (b"*=utf-7''%2B2AA-.txt", None)],
)
def test_an_unusual_name_of_a_file_costs_no_text(given, name):
    head = b"Content-Type: multipart/mixed; boundary=x\n\n--x\n\nHi\n--x\n"
    mail, (member,) = read(head + b"Content-Disposition: attachment; filename" + given + b"\n\nIt was.\n--x--\n")
    assert (mail.text, member.name, member.blob.held()) == ("Hi", name, b"It was.")


def test_plain_text_comes_before_the_page_and_attachments_of_both_are_kept():
    page = "<html><body><p>It <b>was</b>&nbsp;so.</p><script>x</script></body></html>"
    found, members = read(make.mail(HEADERS, "Plain.", page=page))
    assert (found.text, members) == ("Plain.", [])
    found, members = read(make.mail(HEADERS, " \n", page=page))
    assert (found.text, members) == ("It was so.", [])
    found, _ = read(make.mail(HEADERS, "See the page.", page=f"<p>{'It was so. ' * 9}"))
    assert found.text == ("It was so. " * 9).strip()
    apple = (
        b"Subject: x\nMIME-Version: 1.0\nContent-Type: multipart/alternative; boundary=a\n\n--a\n\nPlain.\n--a\n"
        b"Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/html\n\n<p>Page.\n--b\n"
        b"Content-Type: application/pdf; name=a.pdf\n\n%PDF-\n--b--\n--a--\n"
    )
    found, members = read(apple)
    assert (found.text, [one.name for one in members]) == ("Plain.", ["a.pdf"])


@pytest.mark.parametrize(
    ("declared", "encoding", "text"),
    [
        ("utf-8", "utf-8", "Größe – €"), ("iso-8859-1", "cp1252", "Größe – €"), ("koi8-r", "koi8-r", "Привет"),
        ("gb2312", "gb18030", "文件"), ("ks_c_5601-1987", "cp949", "문서"), ("windows-1251", "cp1251", "Привет"),
        ("x-unknown", "utf-8", "Größe"), (None, "utf-8", "Größe"), ("utf-8", "cp1252", "Größe, façade"),
    ],
)  # fmt: skip
def test_character_sets(declared, encoding, text):
    kind = "" if declared is None else f"Content-Type: text/plain; charset={declared}\n"
    head = f"From: a@b.org\nMIME-Version: 1.0\n{kind}Content-Transfer-Encoding: 8bit\n\n".encode()
    found, _ = read(head + text.encode(encoding))
    assert found.text == text


def test_a_message_of_outlook(pool, tmp_path):
    data = message(
        {"0037": "Größe", "1000": "It was.\r\nSo.", "0C1A": "Ada", "5D01": "ada@b.org", "1035": "<3@b.org>",
         "1042": "<2@b.org>"},
        fixed={0x0039: NEW_YEAR},
        inside={
            "__recip_version1.0_#00000000": {"3001": "Bo", "39FE": "bo@c.org"},
            "__attach_version1.0_#00000000": {"3707": "a.docx", "3701": make.docx(["Attached."])},
            "__attach_version1.0_#00000001": {"3704": "B.TXT", "3701": b"Small."},
        },
    )  # fmt: skip
    found = extracted(pool, written(tmp_path, {"x.msg": data}))
    assert {doc_id: text_of(one) for doc_id, one in found.items()} == {
        "x.msg": "It was.\nSo.", "x.msg!a.docx": "Attached.", "x.msg!B.TXT": "Small.",
    }  # fmt: skip
    told = found["x.msg"].origin.mail
    assert (told.subject, told.sender, told.to) == ("Größe", "Ada <ada@b.org>", "Bo <bo@c.org>")
    assert (told.message_id, told.in_reply_to) == ("3@b.org", ("2@b.org",))
    assert told.sent_at == datetime(2024, 1, 1, tzinfo=UTC)
    only_page = message({"0037": "x", "1013": b"<p>It <i>was</i>."})
    assert text_of(extracted(pool, written(tmp_path, {"y.msg": only_page}))["y.msg"]) == "It was."


def test_a_body_in_compressed_rtf(pool, tmp_path):
    """The example of [MS-OXRTFCP], 4.1.1, whole and damaged."""
    packed = bytes.fromhex(
        "2d0000002b0000004c5a4675f1c5c7a703000a007263706731323542320af32068656c090020627705b06c647d0a800fa0"
    )
    files = {"x.msg": message({"0037": "x", "1009": packed}), "y.msg": message({"0037": "x", "1009": packed[:-9]})}
    found = extracted(pool, written(tmp_path, files))
    assert text_of(found["x.msg"]).strip() == "hello world"
    assert (found["y.msg"].text, found["y.msg"].origin.exception) == (None, "damaged")


def quoted(mail: bytes) -> bytes:
    """A mail as mboxrd holds it."""
    lines = mail.split(b"\n")
    return b"\n".join(b">" + line if line.lstrip(b">").startswith(b"From ") else line for line in lines)


LINES = st.lists(
    st.one_of(
        st.binary(max_size=20).map(lambda one: one.replace(b"\n", b"").replace(b"\r", b"")),
        st.sampled_from(
            [b"", b"From the beginning", b">From x", b">>From y", b"From a@b.org Mon Jan  1 10:00:00 2024"]
        ),
    ),
    min_size=1,
    max_size=8,
)


@given(st.lists(LINES, min_size=1, max_size=5), st.booleans())
@settings(max_examples=examples(200), deadline=None)
def test_a_mailbox_is_split_into_what_it_was_made_of(mails, ends_blank):
    made = [b"A: 1\n\n" + b"\n".join(lines) + b"\n" for lines in mails]
    box = b"\n".join(SEPARATOR + quoted(one) for one in made) + (b"\n" if ends_blank else b"")
    found = [data for _, data, _ in mails_of(io.BytesIO(box), 1 << 20)]
    assert [one.rstrip(b"\n") for one in found] == [one.rstrip(b"\n") for one in made]
    sizes = [size for size, _, _ in mails_of(io.BytesIO(box), 1 << 20)]
    assert sizes == [len(one) for one in found]
    small = list(mails_of(io.BytesIO(box), 10))
    assert [size for size, _, _ in small] == sizes
    assert [data is None for _, data, _ in small] == [size > 10 for size in sizes]


PIECES = st.sampled_from((
    b"Subject: x", b" folded", b"Content-Type: text/plain", b"Content-Type: multipart/mixed; boundary=a", b"--a",
    b"--a--", b"Content-Type: message/rfc822", b"content-TYPE: text/html; charset=utf-8; name=\xe9",
    b"From a Mon Jan  1 10:00:00 2024", b": nothing", b"a body",
    b"\xe9\x85 \x1c\x0c",
    b"\n", b"\r", b"\r\n", b"\n", b"\n\n", b"\r\n\r\n",
))  # fmt: skip


@given(st.lists(PIECES, max_size=12).map(b"".join), st.sampled_from((0, 0, 9000)))
@settings(max_examples=examples(300), deadline=None)
def test_mails_are_parsed_as_the_standard_library_parses_them(data, n_long):
    data = b"X: " + b"y" * n_long + b"\n" + data if n_long else data  # the library reads in blocks of 8,192
    assert shape(parsed_mail(data)) == shape(message_from_bytes(data))


def shape(message: Message) -> list[object]:
    """All that a parser makes of a mail."""
    return [
        (one.get_unixfrom(), list(one.raw_items()), list(map(str, one.defects)), one.preamble,
         one.epilogue, None if one.is_multipart() else one.get_payload())
        for one in message.walk()
    ]  # fmt: skip


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b"\r"])
def test_a_mail_that_ends_in_its_headers_says_so(line_end):
    head = b"From: a@b.org" + line_end + b"Subject: x" + line_end
    found, _ = read(head)
    assert str(found.fault) == f"damaged: {UNENDED}"
    assert read(head + line_end)[0].fault is None


def test_a_mail_saved_with_the_line_of_the_postman_is_that_mail(pool, tmp_path):
    one = SEPARATOR + make.mail(HEADERS, "It was.")
    files = {"0001.7c53": one, "box.mbox": one, "two": one + b"\n" + one}
    found = extracted(pool, written(tmp_path, files))
    assert list(found) == ["0001.7c53", "box.mbox!#1", "two!#1", "two!#2"]
    assert {one.origin.kind for one in found.values()} == {"eml"}


@pytest.mark.parametrize("n_cut", [0, 3])
def test_base64_that_is_cut_off(pool, tmp_path, n_cut):
    text = b"The tenant shall pay the rent on the first day."  # 47 bytes, in 64 characters with their padding
    packed = base64.b64encode(text)[: 63 - n_cut]
    plain = b"Subject: x\nContent-Type: text/plain\nContent-Transfer-Encoding: base64\n\n" + packed
    parts = (
        b"MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=a\n\n--a\n\nSee it.\n--a\n"
        b"Content-Type: text/plain; name=a.txt\nContent-Transfer-Encoding: base64\n\n" + packed
    )
    found = extracted(pool, written(tmp_path, {"x.eml": plain, "y.eml": parts}))
    assert set(found) == {"x.eml", "y.eml", "y.eml!a.txt"}
    for doc_id in ("x.eml", "y.eml!a.txt"):
        origin = found[doc_id].origin
        assert text.decode().startswith(text_of(found[doc_id]))
        assert len(text_of(found[doc_id])) >= 44
        # at a multiple of four characters, only the missing boundary or line end shows that something is missing
        assert (origin.exception, origin.is_partial) == ("damaged", True)
    assert (found["y.eml"].origin.sentence, found["y.eml"].origin.is_partial) == (UNENDED, True)


@pytest.mark.parametrize("charset", [b"utf-8", b"utf-16-le"])
def test_bytes_that_are_no_base64_cost_no_text_and_no_other_attachment(charset):
    kind = b"Content-Type: text/plain; charset=" + charset + b"\nContent-Transfer-Encoding: base64\n"
    packed = base64.b64encode("It was.".encode(charset.decode())) + b"\n\ngepr\xc3\xbcft\n"
    found, _ = read(b"Subject: x\n" + kind + b"\n" + packed)
    assert (found.text, found.reason, found.mail.subject) == ("It was.", "damaged", "x")
    attached = b"\n--a\nContent-Disposition: attachment\n" + kind + b"\n"
    whole = base64.b64encode(b"So it was.\n")
    parts = attached + packed + attached + whole + b"\n--a--\n"
    _, members = read(b"Content-Type: multipart/mixed; boundary=a\n" + parts)
    assert [(one.blob.held(), one.fault and one.fault.reason) for one in members] == [
        ("It was.".encode(charset.decode()), "damaged"), (b"So it was.\n", None),
    ]  # fmt: skip


def test_headers_after_a_mark_or_blank_lines_and_mailboxes_after_a_text(pool, tmp_path):
    mail = b"Subject: x\nMessage-ID: <1@b.org>\n\nIt was.\n"
    box = SEPARATOR + mail + b"\n" + SEPARATOR + mail
    found = extracted(pool, written(tmp_path, {
        "bom.eml": b"\xef\xbb\xbf" + mail, "blank.eml": b"\r\n\n" + mail, "bom.mbox": b"\xef\xbb\xbf" + box,
        "text.mbox": b"Mails of May\n" + box, "body.eml": b"\n\nSubject to change.\n",
    }))  # fmt: skip
    said = {}
    for doc_id, one in found.items():
        said[doc_id] = (text_of(one), None if one.origin.mail is None else one.origin.mail.subject)
    whole = ("It was.", "x")
    assert {one for one in said if said[one] == whole} == {
        "bom.eml", "blank.eml", "bom.mbox!#1", "bom.mbox!#2", "text.mbox!#2", "text.mbox!#3",
    }  # fmt: skip
    assert said["text.mbox!#1"][0].strip() == "Mails of May"
    assert "Subject to change." in said["body.eml"][0]


def test_a_mail_encrypted_with_pgp(pool, tmp_path):
    data = (
        b"Subject: x\nContent-Type: multipart/encrypted; boundary=a\n\n--a\n"
        b"Content-Type: application/pgp-encrypted\n\n"
        b"Version: 1\n--a\nContent-Type: application/octet-stream\n\n-----BEGIN PGP MESSAGE-----\n--a--\n"
    )
    found = extracted(pool, written(tmp_path, {"x.eml": data}))
    assert [(one.text, one.origin.exception, one.origin.mail.subject) for one in found.values()] == [
        (None, "encrypted", "x")
    ]


@pytest.mark.parametrize(("end", "exception"), [(b"", "damaged"), (b"\n", None), (b"\n\n", None)])
def test_the_last_mail_of_a_mailbox_that_ends_in_a_line_may_be_cut_off(pool, tmp_path, end, exception):
    one = SEPARATOR + b"Subject: x\n\nIt was."
    found = extracted(pool, written(tmp_path, {"box.mbox": one + b"\n\n" + one + end}))
    assert [text_of(each).strip() for each in found.values()] == ["It was."] * 2
    assert [each.origin.exception for each in found.values()] == [None, exception]


def test_a_mail_whose_text_is_in_tnef(pool, tmp_path):
    packed = base64.b64encode(b"\x78\x9f\x3e\x22" + bytes(60))
    data = (
        b"Subject: x\nContent-Type: multipart/mixed; boundary=a\n\n--a\nContent-Type: application/ms-tnef;\n"
        b' name="winmail.dat"\nContent-Transfer-Encoding: base64\n\n' + packed + b"\n--a--\n"
    )
    found = extracted(pool, written(tmp_path, {"x.eml": data}))
    assert {doc_id: one.origin.exception for doc_id, one in found.items()} == {
        "x.eml": "unsupported", "x.eml!winmail.dat": "unsupported",
    }  # fmt: skip
    assert "TNEF" in found["x.eml"].origin.sentence
