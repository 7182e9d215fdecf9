from __future__ import annotations

import bz2
import gzip
import io
import os
from pathlib import Path

import pytest

from nearkin.errors import ParameterError, SourceError
from nearkin.stages.documents.reader import read_batches
from nearkin.stages.documents.sources import Source, SourceSet, resolve_sources

JSONL = b'{"id": "a", "url": "u", "text": "It was"}\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path: str, data: bytes) -> str:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_bytes(data)
    return path


def only(found: SourceSet) -> Source:
    (source,) = found.sources
    return source


@pytest.mark.parametrize(
    ("name", "data", "file_format", "columns"),
    [
        ("a.jsonl", JSONL, "jsonl", ("text", "id")),
        ("a.ndjson", JSONL, "jsonl", ("text", "id")),
        ("a.json", JSONL, "jsonl", ("text", "id")),
        ("A.JSONL", JSONL, "jsonl", ("text", "id")),
        ("a.jsonl.gz", gzip.compress(JSONL, mtime=0), "jsonl", ("text", "id")),
        ("a.jsonl.bz2", bz2.compress(JSONL), "jsonl", ("text", "id")),
        ("a.data", JSONL, "jsonl", ("text", "id")),
        ("a", gzip.compress(JSONL, mtime=0), "jsonl", ("text", "id")),
        ("a.csv", b"key,body\n1,a\n", "csv", ("body", "key")),
        ("a.tsv", b"key\tbody\n1\ta\n", "tsv", ("body", "key")),
        ("a.tab", b"d1\tsome text\nd2\tother text\n", "lines", (None, None)),
        ("a.txt", b"d1\tsome text\nd2\tother text\n", "lines", (None, None)),
        ("e.txt", b"d1\tsome text\nbroken\nd2\tother text\n", "lines", (None, None)),
        ("f.txt", b"a\tb\nd1 text\nc d\te\nmore\n", "file", (None, None)),
        ("b.txt", b"some text\twith a tab\n", "file", (None, None)),
        ("c.txt", b"some text\n", "file", (None, None)),
        ("d.txt", b"", "file", (None, None)),
        ("e.jsonl", b"", "jsonl", (None, None)),
    ],
)
def test_the_format_is_told_from_the_suffix_or_the_content(
    folder: Path, name: str, data: bytes, file_format: str, columns: tuple[str | None, str | None]
) -> None:
    source = only(resolve_sources([write(name, data)]))
    compression = {b"\x1f\x8b": "gzip", b"BZ": "bzip2"}.get(data[:2], "none")
    assert (source.format, source.compression) == (file_format, compression)
    assert (source.text, source.id) == columns
    assert (source.path, source.name, source.size_bytes) == (name, name, len(data))
    list(read_batches(source))


def test_named_columns_are_taken_and_must_be_there(folder: Path) -> None:
    write("a.jsonl", JSONL)
    found = resolve_sources(["a.jsonl"], text="url", doc_id="text")
    assert (only(found).text, only(found).id, found.guesses) == ("url", "text", ())
    with pytest.raises(SourceError, match=r"a.jsonl: there is no column 'body'. The columns are: id, url, text."):
        resolve_sources(["a.jsonl"], text="body")
    with pytest.raises(SourceError, match=r"there is no column 'key'"):
        resolve_sources(["a.jsonl"], doc_id="key")
    with pytest.raises(ParameterError, match="must be different columns"):
        resolve_sources(["a.jsonl"], text="url", doc_id="url")
    with pytest.raises(SourceError, match=r"no column holds text"):
        resolve_sources([write("b.jsonl", b'{"n": 1}')])


DAMAGED = [
    ("a.pdf", b"%PDF-1.7\n%\xe2\xe3", "pdf"),
    ("a.docx", b"PK\x03\x04\x14\x00\x06\x00", "docx"),
    ("a.EPUB", b"PK\x03\x04\n\x00", "epub"),
    ("a.zip", b"PK\x03\x04\n\x00", "zip"),
    ("a.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\x00", "doc"),
]


@pytest.mark.parametrize(("name", "data", "kind"), DAMAGED, ids=[name for name, *_ in DAMAGED])
def test_a_document_that_is_damaged_is_a_problem_and_one_in_a_pipe_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, data: bytes, kind: str
) -> None:
    data += b"\n\x00\x01 endobj" * 99
    write(f"in/{name}", data)
    write("in/b.txt", b"It was")
    rows = [row for s in resolve_sources(["in"]).sources for b in read_batches(s) for row in b.to_pylist()]
    bad, good = rows
    assert (bad["text"], good["text"], good["origin"]) == (None, b"It was", None)
    assert str(bad["problem"]).startswith("damaged: ")
    assert bad["parent"] == ("a.zip" if name == "a.zip" else None)
    if name != "a.zip":
        assert (bad["origin"]["kind"], bad["origin"]["exception"]) == (kind, "damaged")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(data))))
    with pytest.raises(SourceError, match=r"^-: this is an? "):
        resolve_sources(["-"])


def test_order_and_repeats_do_not_matter(folder: Path) -> None:
    for name in ("in/b.jsonl", "in/a.jsonl", "in/sub/c.jsonl", "in/.hidden.jsonl"):
        write(name, JSONL)
    os.symlink("b.jsonl", "in/link.jsonl")
    once = resolve_sources(["in/**/*.jsonl"])
    assert [source.path for source in once.sources] == ["in/a.jsonl", "in/b.jsonl", "in/sub/c.jsonl"]
    assert once.guesses[0] == "in/link.jsonl: named more than once, perhaps by another path; read once"
    for arguments in (
        ["in/sub", "in/*.jsonl", "in"],
        ["in", "in/*.jsonl", "in/sub/c.jsonl"],
        ["in/sub", "in/link.jsonl", "in"],
    ):
        again = resolve_sources(arguments)
        assert again.sources == once.sources
        assert any("read once" in guess for guess in again.guesses)


def test_links_out_of_a_folder_are_not_followed(folder: Path) -> None:
    for name in ("in/a.txt", "secret.txt", "beside/b.txt"):
        write(name, b"text")
    os.symlink("a.txt", "in/inner.txt")
    os.symlink("../secret.txt", "in/outer.txt")
    os.symlink("../../in-not", "in/gone.txt")
    found = resolve_sources(["in"])
    assert [one.name for one in found.sources] == ["a.txt"]  # the inner link is the same file
    assert [one.paths for one in found.not_read] == [("in/gone.txt", "in/outer.txt")]
    assert [one.name for one in resolve_sources(["in/o*"]).sources] == ["in/outer.txt"]
    os.makedirs("only")
    os.symlink("../secret.txt", "only/outer.txt")
    with pytest.raises(SourceError, match=r"holds no files, but links .* \(1\), which are not read"):
        resolve_sources(["only"])


def test_a_folder_of_texts(folder: Path) -> None:
    for name in ("in/b.txt", "in/a/x", "in/a/.secret", "in/.git/config", "in/readme.md"):
        write(name, b"text")
    os.symlink("..", "in/a/loop")
    os.symlink("missing", "in/dangling")
    os.mkfifo("in/pipe")
    found = resolve_sources(["in"])
    assert [(s.path, s.name, s.format) for s in found.sources] == [
        ("in/a/x", "a/x", "file"), ("in/b.txt", "b.txt", "file"), ("in/readme.md", "readme.md", "file")
    ]  # fmt: skip
    assert [(one.reason, one.paths) for one in found.not_read] == [
        ("hidden files and folders", ("in/.git", "in/a/.secret")),
        ("links to folders, out of the folder or to missing files", ("in/a/loop", "in/dangling")),
        ("named pipes, sockets or devices", ("in/pipe",)),
    ]
    assert [b["doc_id"].to_pylist() for s in found.sources for b in read_batches(s)] == [
        ["a/x"],
        ["b.txt"],
        ["readme.md"],
    ]


def stdin_of(data: bytes) -> io.BufferedReader:
    class Pipe(io.RawIOBase):
        rest = data

        def readable(self) -> bool:
            return True

        def readinto(self, room: object) -> int:
            view = memoryview(room)  # type: ignore[arg-type]
            n_bytes = min(len(view), len(self.rest), 3000)
            view[:n_bytes], self.rest = self.rest[:n_bytes], self.rest[n_bytes:]
            return n_bytes

    return io.BufferedReader(Pipe())


@pytest.mark.parametrize(
    ("data", "delimiter"),
    [
        (b"id;text\n1;a, b\n2;c\n", ";"),
        (b'"id";"text"\n1;"a;\n b"\n', ";"),
        (b"\xef\xbb\xbfid;text\n", ";"),
        (b"nr;wort\n", ","),  # not a word of it is known, and no records follow
        (b"nr;wort\n1;eins\n", ";"),
        (b"id\ttext\n1\ta\n", "\t"),
        (b"id|text|a;b\n1|a|b\n", "|"),
        (b"id,text;more\n1,a\n", ","),
        (b"question; answer\nIt was\nIt was; or was it?\na; b; c\n", ","),
        (b"text\na;b\nc;d\n", ","),
    ],
)
def test_the_delimiter_of_csv_is_told_from_the_header(folder: Path, data: bytes, delimiter: str) -> None:
    found = resolve_sources([write("a.csv", data)])
    assert only(found).delimiter == delimiter
    words = {"\t": "tab"}.get(delimiter, repr(delimiter))
    assert (f"delimiter: {words} (recognised by the header)" in found.guesses) == (delimiter != ",")


@pytest.mark.parametrize("compress", [bytes, gzip.compress, bz2.compress])
def test_standard_input_is_looked_at_and_then_read_whole(
    compress: type[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(stdin_of(compress(JSONL * 500))))
    source = only(resolve_sources(["-"]))
    assert (source.path, source.format, source.text, source.id) == ("-", "jsonl", "text", "id")
    assert sum(len(batch) for batch in read_batches(source, batch_bytes=1000)) == 500


@pytest.mark.parametrize("file_format", [None, "jsonl"])
@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_standard_input_without_a_character_is_no_success(
    compress: type[bytes], file_format: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(stdin_of(compress(b""))))
    with pytest.raises(SourceError, match="empty"):
        list(read_batches(only(resolve_sources(["-"], file_format=file_format))))
