from __future__ import annotations

import bz2
import gzip
import io
import json
import os
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nearkin.errors import ParameterError, SourceError
from nearkin.stages.documents.digest import file_sha256
from nearkin.stages.documents.reader import read_batches
from nearkin.stages.documents.sources import Source, SourceSet, resolve_sources
from nearkin.workflows.dedup.kept_corpus import write_kept

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


def test_parquet_by_content_and_never_as_something_else(folder: Path) -> None:
    pq.write_table(pa.table({"docno": [1], "x": ["abc"]}), "a.bin")
    source = only(resolve_sources(["a.bin"]))
    assert (source.format, source.text, source.id) == ("parquet", "x", "docno")
    with pytest.raises(SourceError, match=r"this is a Parquet file, not CSV"):
        resolve_sources(["a.bin"], file_format="csv")


@pytest.mark.parametrize(
    ("record", "text", "doc_id"),
    [
        ({"id": 1, "text": "a", "content": "longer"}, "text", "id"),
        ({"Content": "a", "Doc_ID": "x"}, "Content", "Doc_ID"),
        ({"label": "a", "story": "a long one"}, "story", None),
        ({"story": "a long one", "n": 5}, "story", None),
        ({"text": 5, "body": "a"}, "body", None),
        ({"id": {"$oid": 1}, "text": "a", "url": "u"}, "text", "url"),
        ({"id": 1.5, "text": "a"}, "text", None),
        ({"control number": "c", "raw_content": "t"}, "raw_content", "control number"),
    ],
)
def test_columns_are_guessed_and_the_guess_is_said(
    folder: Path, record: dict[str, object], text: str, doc_id: str | None
) -> None:
    found = resolve_sources([write("a.jsonl", json.dumps(record).encode())])
    assert (only(found).text, only(found).id) == (text, doc_id)
    every = ", ".join(record)
    assert found.guesses[0] == f"text column: '{text}' (guessed from the columns {every})"
    assert found.guesses[1].startswith(f"id column: '{doc_id}' (guessed" if doc_id else "id column: none found among")


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


def test_columns_of_a_first_line_too_long_to_see_whole(folder: Path) -> None:
    line = json.dumps({"id": "a", "meta": {"text": "x"}, "body": "y" * 3_000_000, "text2": "z"}).encode()
    source = only(resolve_sources([write("a.jsonl", line)]))
    assert (source.text, source.id) == ("body", "id")
    assert sum(len(batch) for batch in read_batches(source)) == 1


def test_columns_behind_a_mebibyte_of_others_are_taken_at_their_word(folder: Path) -> None:
    record = {"id": 1, "blob": "x" * 1_500_000, "score": 3, "text": "It was"}
    write("a.jsonl", b"".join(json.dumps(record | {"id": i}).encode() + b"\n" for i in range(2)))
    source = only(resolve_sources(["a.jsonl"], text="text"))
    assert (source.text, source.id) == ("text", "id")
    batches = list(read_batches(source, keep_column="score"))
    assert [text for batch in batches for text in batch["text"].to_pylist()] == [b"It was"] * 2
    with pytest.raises(SourceError, match=r"a\.jsonl: the first record is so long .* \(.*id, blob\)"):
        resolve_sources(["a.jsonl"])
    with open("a.jsonl", "rb") as stdin:
        assert only(resolve_sources(["-"], text="text", stdin=stdin)).text == "text"


def test_an_id_that_is_none_does_not_make_the_column_one_of_others(folder: Path) -> None:
    ids = [1, 1.5, 2, [3], 4, True, "x"]
    write("a.jsonl", b"".join(json.dumps({"id": i, "text": "a"}).encode() + b"\n" for i in ids))
    source = only(resolve_sources(["a.jsonl"]))
    assert source.id == "id"
    found = [doc_id for batch in read_batches(source) for doc_id in batch["doc_id"].to_pylist()]
    assert found == ["1", "1.5", "2", "[3]", "4", "true", "x"]
    write("b.jsonl", b'{"id": 1.5, "text": "a"}\n{"id": 2.5, "text": "a"}\n')
    assert only(resolve_sources(["b.jsonl"])).id is None


DAMAGED = [
    ("a.pdf", b"%PDF-1.7\n%\xe2\xe3", "pdf", "damaged, or not a PDF"),
    ("a.docx", b"PK\x03\x04\x14\x00\x06\x00", "docx", "damaged, or not of the kind that it claims"),
    ("a.EPUB", b"PK\x03\x04\n\x00", "epub", "damaged, or not of the kind that it claims"),
    ("a.zip", b"PK\x03\x04\n\x00", "zip", "the ZIP archive is damaged"),
    ("a.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\x00", "doc", "damaged, or not of the kind that it claims"),
]


@pytest.mark.parametrize(("name", "data", "kind", "why"), DAMAGED, ids=[name for name, *_ in DAMAGED])
def test_a_document_that_is_damaged_is_a_problem_and_one_in_a_pipe_is_refused(
    folder: Path, name: str, data: bytes, kind: str, why: str
) -> None:
    data += b"\n\x00\x01 endobj" * 99
    write(f"in/{name}", data)
    write("in/b.txt", b"It was")
    rows = [row for s in resolve_sources(["in"]).sources for b in read_batches(s) for row in b.to_pylist()]
    bad, good = rows
    assert (bad["text"], good["text"], good["origin"]) == (None, b"It was", None)
    assert str(bad["problem"]).split(": ", 1)[1].startswith(why)
    assert bad["parent"] == ("a.zip" if name == "a.zip" else None)
    if name != "a.zip":
        assert (bad["origin"]["kind"], bad["origin"]["exception"]) == (kind, "damaged")
    with pytest.raises(SourceError, match=r"^-: this is an? .*(cannot be read from standard input|extract its text)"):
        resolve_sources(["-"], stdin=io.BufferedReader(io.BytesIO(data)))


@pytest.mark.parametrize("file_format", ["document", "html", "eml"])
def test_documents_do_not_come_through_a_pipe(folder: Path, file_format: str) -> None:
    with pytest.raises(SourceError, match=r"cannot be read from standard input\. Save the file, and name it\."):
        resolve_sources(["-"], stdin=io.BufferedReader(io.BytesIO(b"%PDF-1.7")), file_format=file_format)


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
    assert ("links out of the folder", ("in/outer.txt",)) in [(one.reason, one.paths) for one in found.not_read]
    assert [one.name for one in resolve_sources(["in/o*"]).sources] == ["in/outer.txt"]
    os.makedirs("only")
    os.symlink("../secret.txt", "only/outer.txt")
    with pytest.raises(SourceError, match=r"holds no files .*1 link out of it or to folders not followed"):
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
        ("links to missing files", ("in/dangling",)),
        ("links to folders", ("in/a/loop",)),
        ("named pipes, sockets or devices", ("in/pipe",)),
    ]
    assert [b["doc_id"].to_pylist() for s in found.sources for b in read_batches(s)] == [
        ["a/x"],
        ["b.txt"],
        ["readme.md"],
    ]


def test_a_folder_of_tables_and_a_format_for_all(folder: Path) -> None:
    write("in/a.jsonl", JSONL)
    write("in/b/c.csv", b"id,text\n1,a\n")
    assert [s.format for s in resolve_sources(["in"]).sources] == ["jsonl", "csv"]
    assert [s.format for s in resolve_sources(["in"], file_format="file").sources] == ["file", "file"]
    with pytest.raises(
        ParameterError,
        match=r"must be one of jsonl, .*, file, subrip, wikipedia, load-file, document, html, eml. Got 'xml'",
    ):
        resolve_sources(["in"], file_format="xml")


def test_a_glob_of_folders(folder: Path) -> None:
    write("in/one/a.txt", b"a")
    write("in/two/b.txt", b"b")
    assert [s.path for s in resolve_sources(["in/*"]).sources] == ["in/one/a.txt", "in/two/b.txt"]


def test_a_name_with_the_signs_of_a_glob_is_a_name(folder: Path) -> None:
    write("a[1].jsonl", JSONL)
    assert only(resolve_sources(["a[1].jsonl"])).path == "a[1].jsonl"


def test_what_is_not_there_is_named_with_what_to_do(folder: Path) -> None:
    (folder / "empty").mkdir()
    for argument, message in {
        "gone.jsonl": "Cannot open gone.jsonl: No such file or directory. Check the path.",
        "*.jsonl": "no file matches. Check the pattern",
        "data[1]/*.jsonl": "no file matches.*If a name contains [, escape it as [[].",
        "empty": "the folder holds no files",
    }.items():
        with pytest.raises(SourceError, match=re.escape(message).replace(r"\.\*", ".*")):
            resolve_sources([argument])
    with pytest.raises(SourceError, match="No input was named"):
        resolve_sources([])
    with pytest.raises(SourceError, match=r"this is one JSON array"):
        resolve_sources([write("a.json", b"[{}]")])
    with pytest.raises(SourceError, match=r"the first object has several lines.*jq -c \."):
        resolve_sources([write("b.json", b'{\n  "text": "a"\n}\n')])


def test_an_unreadable_file_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **options: object) -> None:
        raise PermissionError(13, "Permission denied")

    write("a.jsonl", JSONL)
    monkeypatch.setattr("nearkin.stages.documents.sniffing.open", refuse, raising=False)
    with pytest.raises(SourceError, match=r"Cannot open .*a.jsonl: Permission denied. Give yourself permission"):
        resolve_sources(["a.jsonl"])


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


@pytest.mark.parametrize("file_format", [None, "jsonl", "file"])
def test_empty_standard_input_is_refused(file_format: str | None) -> None:
    for stdin in (stdin_of(b""), io.BytesIO()):
        with pytest.raises(SourceError, match="standard input is empty"):
            resolve_sources(["-"], file_format=file_format, stdin=stdin)
    source = Source(path="-", name="-", format="file")
    with pytest.raises(SourceError, match="standard input is empty"):
        next(read_batches(source, stdin=stdin_of(b"")))


def test_lines_on_standard_input_of_which_one_is_broken() -> None:
    stdin = stdin_of(b"a\tIt was\nbroken\nb\ta dark night\n")
    found = resolve_sources(["-"], stdin=stdin)
    assert only(found).format == "lines"
    said = "-: read as lines of ID<TAB>TEXT (recognised by its content)"
    assert found.guesses == (said,)


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


def test_csv_with_semicolons_is_read_and_kept(folder: Path) -> None:
    data = b'id;text\n1;"a;b"\n2;c,d\n3;e\n'
    source = only(resolve_sources([write("a.csv", data)]))
    (batch,) = read_batches(source)
    assert (batch["doc_id"].to_pylist(), batch["text"].to_pylist()) == ([1, 2, 3], [b"a;b", b"c,d", b"e"])
    unseen = replace(source, delimiter=None)
    assert list(read_batches(unseen)) == [batch]
    mask = np.array([False, False, False, True, True])
    for one in (source, unseen):
        (written,) = write_kept([one], lambda _: mask, folder / "out").values()
        assert written.read_bytes() == b"id;text\n2;c,d\n3;e\n"
    assert only(resolve_sources(["a.csv"], text="id;text")).delimiter == ","


def test_a_named_column_may_be_missing_where_it_is_optional(folder: Path) -> None:
    write("a.jsonl", JSONL)
    found = resolve_sources(["a.jsonl"], text="question", doc_id="url", optional=("text", "doc_id"))
    assert (only(found).text, only(found).id) == ("text", "url")
    assert found.guesses[0] == "a.jsonl: there is no column 'question', so another column is guessed"
    assert found.guesses[1].startswith("text column: 'text' (guessed")
    assert resolve_sources(["a.jsonl"], text="url", doc_id="id", optional=("text", "doc_id")).guesses == ()


@pytest.mark.parametrize("compress", [bytes, gzip.compress, bz2.compress])
def test_standard_input_is_looked_at_and_then_read_whole(compress: type[bytes]) -> None:
    stdin = stdin_of(compress(JSONL * 500))
    source = only(resolve_sources(["-"], stdin=stdin))
    assert (source.path, source.format, source.text, source.id) == ("-", "jsonl", "text", "id")
    assert sum(len(batch) for batch in read_batches(source, stdin=stdin, batch_bytes=1000)) == 500


def test_bzip2_on_standard_input_shows_nothing_before_a_whole_block() -> None:
    lines = b"".join(JSONL.replace(b"It was", os.urandom(30).hex().encode()) for _ in range(20_000))
    packed = bz2.compress(lines)
    with pytest.raises(SourceError, match=r"in a pipe cannot be detected\. Name it with --format"):
        resolve_sources(["-"], stdin=stdin_of(packed))
    stdin = stdin_of(packed)
    source = only(resolve_sources(["-"], file_format="jsonl", stdin=stdin))
    assert (source.compression, source.text) == ("bzip2", None)
    assert sum(len(batch) for batch in read_batches(source, stdin=stdin)) == 20_000


def test_a_text_that_begins_like_bzip2_is_a_text(folder: Path) -> None:
    for data in (b"BZh9", b"BZh9 is how bzip2 begins", b"BZhA1AY&SY"):
        source = only(resolve_sources([write("a.txt", data)]))
        assert (source.format, source.compression) == ("file", "none")


def test_standard_input_that_can_be_wound_back_is_left_where_it_was() -> None:
    stdin = io.BytesIO(gzip.compress(JSONL, mtime=0))
    source = only(resolve_sources(["-"], stdin=stdin))
    assert (stdin.tell(), source.compression, source.text) == (0, "gzip", "text")


def test_a_damaged_file_is_refused_when_it_is_looked_at(folder: Path) -> None:
    with pytest.raises(SourceError, match=r"^a.jsonl: the gzip stream is damaged: "):
        resolve_sources([write("a.jsonl", b"\x1f\x8bnothing of the kind")])


def test_columns_of_standard_input_may_be_guessed_late() -> None:
    stdin = stdin_of(json.dumps({"meta": "m" * 20_000, "id": 7, "text": "t"}).encode())
    source = Source(path="-", name="-", format="jsonl")
    (batch,) = read_batches(source, stdin=stdin)
    assert (batch["doc_id"].to_pylist(), batch["text"].to_pylist()) == ([7], [b"t"])


def test_parquet_does_not_come_through_a_pipe() -> None:
    source = Source(path="-", name="-", format="parquet", text="text")
    with pytest.raises(SourceError, match="Parquet cannot be read from a pipe"):
        next(read_batches(source, stdin=stdin_of(b"PAR1")))


def test_the_digest_of_a_file(folder: Path) -> None:
    assert file_sha256(write("a", b"abc")).startswith("ba7816bf8f01cfea")
    with pytest.raises(SourceError, match=r"Cannot read .*gone"):
        file_sha256("gone")


@pytest.mark.parametrize(("n_texts", "n_lines"), [(3, 3), (4, 4), (150, 2)])
def test_a_sentence_about_many_files_of_a_pattern_comes_once(folder: Path, n_texts: int, n_lines: int) -> None:
    for i in range(n_texts):
        write(f"{i:03}.txt", b"Dear Ada")
    for i in range(n_lines):
        write(f"{i:03}z.txt", b"a\tDear Ada\nb\tDear Bob\n")
    found = resolve_sources(["*.txt"])
    expected: list[str] = []
    for n_files, end, words in ((n_texts, "", "one text document"), (n_lines, "z", "lines of ID<TAB>TEXT")):
        names = (
            [f"{i:03}{end}.txt" for i in range(n_files)] if n_files < 4 else [f"000{end}.txt and {n_files - 1} more"]
        )
        each = "each " * (n_files >= 4)
        expected += [f"{name}: {each}read as {words} (recognised by its content)" for name in names]
    assert sorted(found.guesses) == sorted(expected)


def test_guesses_that_are_not_those_of_all_files_name_theirs(folder: Path) -> None:
    write("a.jsonl", b'{"url": "u", "content": "Dear Ada"}\n')
    for name in "bcdef":
        write(f"{name}.csv", b"uid;content\n1;Dear Bob\n")
    found = resolve_sources(["*.jsonl", "*.csv"])
    of_csv = "b.csv, c.csv, d.csv and 2 more"
    assert found.guesses == (
        "a.jsonl: text column: 'content' (guessed from the columns url, content)",
        "a.jsonl: id column: 'url' (guessed from the columns url, content)",
        f"{of_csv}: delimiter: ';' (recognised by the header)",
        f"{of_csv}: text column: 'content' (guessed from the columns uid, content)",
        f"{of_csv}: id column: none found among the columns uid, content; documents are named file:line",
    )
    assert not any("b.csv" in guess for guess in resolve_sources(["b.csv", "c.csv"]).guesses)  # the same for all
