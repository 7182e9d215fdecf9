from __future__ import annotations

import csv
import gzip
import io
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nearkin.formats import zstd
from nearkin.records import Bool
from nearkin.stages.documents.reader import read_batches
from nearkin.stages.documents.readers import delimited
from nearkin.stages.documents.rules import ReadingRules
from nearkin.stages.documents.sources import Source, resolve_sources
from nearkin.workflows.dedup.kept_corpus import write_kept

shared_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
PACK: dict[str, Callable[[bytes], bytes]] = {"": bytes, ".gz": gzip.compress, ".zst": zstd.compress}
UNPACK: dict[str, Callable[[bytes], bytes]] = {
    "": bytes, ".gz": gzip.decompress,
    ".zst": zstd.decompress
}  # fmt: skip


def lines_kept(*lines: int) -> Callable[[int], Bool]:
    mask = np.zeros(max(lines, default=0) + 1, np.bool_)
    mask[list(lines)] = True
    return lambda source: mask


def kept_files(sources: Sequence[Source], lines: Callable[[int], Bool], out: Path) -> list[Path]:
    return list(write_kept(sources, lines, out).values())


@pytest.mark.parametrize("suffix", list(PACK))
@pytest.mark.parametrize("line_end", [b"\n", b"\r\n"])
def test_lines_are_kept_byte_for_byte(tmp_path: Path, suffix: str, line_end: bytes) -> None:
    lines = [b'{"text" :  "%d \xff"} ' % i + line_end for i in range(9)]
    lines[4] = line_end
    lines[8] = lines[8].rstrip()
    path = tmp_path / f"in/a.jsonl{suffix}"
    path.parent.mkdir()
    path.write_bytes(PACK[suffix](b"\xef\xbb\xbf" + b"".join(lines)))
    sources = resolve_sources([str(path)], text="text").sources
    (written,) = kept_files(sources, lines_kept(1, 2, 4, 9), tmp_path / "out")
    assert written == tmp_path / f"out/a.jsonl{suffix}"
    assert UNPACK[suffix](written.read_bytes()) == b"\xef\xbb\xbf" + lines[0] + lines[1] + lines[3] + lines[8]
    first = written.read_bytes()
    write_kept(sources, lines_kept(1, 2, 4, 9), tmp_path / "out")
    assert written.read_bytes() == first
    assert os.listdir(tmp_path / "out") == [written.name]


@shared_folder
@given(
    st.lists(st.tuples(st.text(st.sampled_from('a",\n\r é')), st.booleans()), min_size=1, max_size=8),
    st.sampled_from(["\n", "\r\n"]),
    st.integers(1, 50),
)
def test_csv_keeps_header_and_records(
    tmp_path: Path, records: list[tuple[str, bool]], line_end: str, block: int
) -> None:
    file = io.StringIO()
    csv.writer(file, lineterminator=line_end, quoting=csv.QUOTE_ALL).writerows([("text", "n"), *records])
    path = tmp_path / "a.csv"
    path.write_bytes(file.getvalue().encode())
    sources = resolve_sources([str(path)]).sources
    rows = [line for batch in read_batches(sources[0]) for line in batch["line"].to_pylist()]
    lines = [line for line, (_, is_kept) in zip(rows, records, strict=True) if is_kept]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(delimited, "_COPIED_BYTES", block)
        (written,) = kept_files(sources, lines_kept(*lines), tmp_path / "out")
    found = list(csv.reader(io.StringIO(written.read_bytes().decode(), newline="")))
    assert found == [["text", "n"], *([text, str(is_kept)] for text, is_kept in records if is_kept)]


def test_other_encodings_go_back_to_what_they_were(tmp_path: Path) -> None:
    for encoding in ("utf-16", "cp1252"):
        path = tmp_path / "a.tsv"
        path.write_bytes("id\ttext\n1\tnée\n2\tß\n".encode(encoding))
        sources = resolve_sources([str(path)], encoding=encoding).sources
        (written,) = kept_files(sources, lines_kept(3), tmp_path / "out")
        assert written.read_bytes() == "id\ttext\n2\tß\n".encode(encoding)


def test_parquet_keeps_columns_and_schema(tmp_path: Path) -> None:
    table = pa.table(
        {
            "id": pa.array(range(10), pa.int32()),
            "text": pa.array([str(i) for i in range(10)]).dictionary_encode(),
            "nested": [{"a": [i, None]} for i in range(10)],
        }
    ).replace_schema_metadata({"made": "by hand"})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=4, compression="gzip")
    sources = resolve_sources([str(tmp_path / "a.parquet")]).sources
    (written,) = kept_files(sources, lines_kept(1, 2, 10), tmp_path / "out")
    found = pq.read_table(written)
    assert found.equals(table.take([0, 1, 9]))
    assert found.schema.equals(pq.read_schema(tmp_path / "a.parquet"), check_metadata=True)
    metadata = pq.ParquetFile(written).metadata
    assert metadata.num_row_groups == 2
    assert {metadata.row_group(0).column(i).compression for i in range(3)} == {"ZSTD"}
    (empty,) = kept_files(sources, lines_kept(), tmp_path / "out")
    assert pq.read_table(empty).equals(table.slice(0, 0))


def test_names_stay_apart_and_inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("in/a/x.txt", "in/b/x.txt", "work/y.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    monkeypatch.chdir(tmp_path / "work")
    sources = resolve_sources(["../in/a", "../in/b", "y.txt"]).sources
    out = tmp_path / "out"
    written = kept_files(sources, lines_kept(1), out)
    assert [str(path.relative_to(out)) for path in written] == ["in/a/x.txt", "in/b/x.txt", "work/y.txt"]
    assert [path.read_text() for path in written] == ["in/a/x.txt", "in/b/x.txt", "work/y.txt"]
    assert kept_files(sources, lines_kept(), tmp_path / "none") == []


def test_a_file_cut_short_keeps_what_could_be_read(tmp_path: Path) -> None:
    lines = b"".join(b"%d\t%s\n" % (i, os.urandom(50).hex().encode()) for i in range(1000))
    (tmp_path / "a.tsv.gz").write_bytes(gzip.compress(lines)[:-5000])
    sources = resolve_sources([str(tmp_path / "a.tsv.gz")], rules=ReadingRules(on_error="skip")).sources
    (written,) = kept_files(sources, lambda source: np.ones(200, np.bool_), tmp_path / "out")
    found = gzip.decompress(written.read_bytes())
    assert lines.startswith(found)
    assert found.endswith(b"\n")


def test_what_is_not_copied_becomes_json_lines(tmp_path: Path) -> None:
    table = pa.table({"id": [7, 8, 9], "text": ["a b", "c d", "ü"], "n": [1, 2, 3]})
    for name in ("a.arrow", "b.arrow"):
        with pa.ipc.new_file(tmp_path / name, table.schema) as writer:
            writer.write_table(table)
    sources = resolve_sources([str(tmp_path / name) for name in ("a.arrow", "b.arrow")]).sources
    first, second = kept_files(sources, lambda source: np.array([False, True, False, source == 1]), tmp_path / "out")
    assert (first.name, second.name) == ("a.arrow.jsonl", "b.arrow.jsonl")
    assert first.read_bytes() == b'{"id": 7, "text": "a b"}\n'
    assert second.read_text() == '{"id": 7, "text": "a b"}\n{"id": 9, "text": "ü"}\n'
