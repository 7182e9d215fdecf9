"""Web archives: pages and texts are documents, and an archive that was cut off is never taken for whole."""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nearkin.errors import TruncatedInputError
from nearkin.stages.documents.reader import read_batches
from nearkin.stages.documents.rules import USUAL_LIMITS, ExtractionLimits
from nearkin.stages.documents.sources import resolve_sources


def record(url: str, body: bytes, kind: str = "text/html", status: str = "200 OK") -> bytes:
    content = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
    return head("response", url, "application/http; msgtype=response", len(content)) + content + b"\r\n\r\n"


def head(record_type: str, url: str, kind: str, n_bytes: int) -> bytes:
    return (
        f"WARC/1.0\r\nWARC-Type: {record_type}\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2020-01-02T03:04:05Z\r\n"
        f"WARC-Record-ID: <urn:uuid:{url[-1] * 8}>\r\nContent-Type: {kind}\r\nContent-Length: {n_bytes}\r\n\r\n"
    ).encode()


RECORDS = [
    record("http://x/a", b"<title>A</title><p>It was</p><script>no</script><p>dark.</p>"),
    record("http://x/b", "caf\u00e9".encode("latin-1"), "text/plain; charset=latin-1"),
    record("http://x/c", b"<p>not found</p>", status="404 Not Found"),
    record("http://x/d", b"\x89PNG", "image/png"),
    head("conversion", "http://x/e", "text/plain", 4) + b"a wet text"[6:] + b"\r\n\r\n",
    record("http://x/f", b"<p> </p>"),
]
TEXTS = [("http://x/a", b"It was\ndark."), ("http://x/b", "caf\u00e9".encode()), ("http://x/e", b"text")]


def rows_of(path: Path, limits: ExtractionLimits = USUAL_LIMITS, **options: Any) -> list[dict[str, Any]]:
    (source,) = resolve_sources([str(path)]).sources
    source = replace(source, limits=limits)
    return [row for batch in read_batches(source, **options) for row in batch.to_pylist()]


@pytest.mark.parametrize("name", ["a.warc", "a.warc.gz", "crawl"])
def test_pages_and_texts_are_documents_with_their_addresses(tmp_path: Path, name: str) -> None:
    pytest.importorskip("fastwarc")
    packed = [gzip.compress(one) for one in RECORDS] if name.endswith(".gz") else RECORDS
    (tmp_path / name).write_bytes(b"".join(packed))
    notes = list[str]()
    *rows, empty = rows_of(tmp_path / name, carry=["date", "record_id"], keep_column="date", note=notes.append)
    assert [(row["doc_id"], row["text"]) for row in rows] == TEXTS
    assert [row["line"] for row in rows] == [1, 2, 5]
    assert (empty["doc_id"], empty["problem"].partition(":")[0]) == ("http://x/f", "empty")
    assert (rows[0]["carried 0"], rows[0]["carried 1"]) == ("2020-01-02T03:04:05Z", "<urn:uuid:aaaaaaaa>")
    assert rows[0]["keep_value"] == 1_577_934_245_000_000
    assert len(notes) == 1
    assert rows_of(tmp_path / name, batch_bytes=1) == rows_of(tmp_path / name)


@pytest.mark.parametrize("n_missing", [1, 3, 20, 60, 200])
def test_an_archive_that_was_cut_off_is_an_error_after_what_was_whole(tmp_path: Path, n_missing: int) -> None:
    pytest.importorskip("fastwarc")
    plain, packed = tmp_path / "a.warc", tmp_path / "a.warc.gz"
    plain.write_bytes(b"".join([*RECORDS[:2], RECORDS[0]])[:-n_missing])
    packed.write_bytes(b"".join([*map(gzip.compress, RECORDS[:2]), gzip.compress(RECORDS[0])])[:-n_missing])
    for path in (plain, packed):
        found = list[Any]()
        with pytest.raises(TruncatedInputError):
            found.extend(row["text"] for batch in read_batches(*resolve_sources([str(path)]).sources, batch_bytes=1)
                         for row in batch.to_pylist())  # fmt: skip
        assert found in ([TEXTS[0][1]], [TEXTS[0][1], TEXTS[1][1]])  # the record before a damaged header is not used
    plain.write_bytes(RECORDS[0] + b"no record\r\n\r\n" + RECORDS[1])
    with pytest.raises(TruncatedInputError):
        rows_of(plain)


def test_a_body_that_is_not_as_its_headers_say_costs_at_most_its_own_record(tmp_path: Path) -> None:
    pytest.importorskip("fastwarc")
    page, packed = b"<p>a page</p>", gzip.compress(b"<p>a page</p>")
    bodies = [
        ("gzip", "", page), ("br", "", page), ("", "chunked", page), ("gzip", "chunked", packed),
        ("gzip", "", packed), ("", "chunked", b"d\r\n<p>a page</p>\r\n0\r\n\r\n"),
        ("gzip", "", b"\x1f\x8b\xff\x00\xfe"), ("", "", page),
        ("", "", b"<div>" * 300_000 + page), ("", "", page),
    ]  # fmt: skip
    records = []
    for i, (content, transfer, body) in enumerate(bodies):
        lines = f"Content-Type: text/html\r\nContent-Encoding: {content}\r\nTransfer-Encoding: {transfer}\r\n"
        given = f"HTTP/1.1 200 OK\r\n{lines}\r\n".encode() + body
        records.append(head("response", f"http://x/{i}", "application/http; msgtype=response", len(given)) + given)
    (tmp_path / "a.warc").write_bytes(b"\r\n\r\n".join([*records, b""]))
    rows = rows_of(tmp_path / "a.warc", ExtractionLimits(time=3))
    found = [row["text"].decode() if row["problem"] is None else row["problem"].partition(":")[0] for row in rows]
    assert found == ["a page"] * 3 + ["damaged"] + ["a page"] * 2 + ["damaged", "a page", "time-out", "a page"]
