"""Folders as programs leave them: what is read of each, what is left out, and what is refused."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nearkin.errors import SourceError
from nearkin.stages.documents.reader import read_batches
from nearkin.stages.documents.sources import SourceSet, resolve_sources

RECORDS = [{"id": f"d{i}", "text": f"It was a dark and stormy night {i}"} for i in range(4)]
JSONL = "".join(json.dumps(record) + "\n" for record in RECORDS).encode()
CSV = b"id,text\n1,It was\n"


def as_parquet() -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(RECORDS), sink)
    return sink.getvalue()


def as_stream() -> bytes:
    sink = io.BytesIO()
    table = pa.Table.from_pylist(RECORDS)
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


PARQUET, STREAM = as_parquet(), as_stream()
PNG = b"\x89PNG\r\n\x1a\n\0\0"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(files: dict[str, bytes]) -> None:
    for name, data in files.items():
        path = Path("in", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def read(found: SourceSet) -> list[str]:
    return sorted(
        str(one) for source in found.sources for batch in read_batches(source) for one in batch["doc_id"].to_pylist()
    )


def not_read(found: SourceSet) -> list[tuple[str, tuple[str, ...]]]:
    return [(one.reason, one.paths) for one in found.not_read]


# Of each: the files that are read, and those that only accompany them.
LAYOUTS: dict[str, tuple[dict[str, bytes], dict[str, bytes]]] = {
    "a checkout from Hugging Face": (
        {"data/train-00000-of-00001.parquet": PARQUET},
        {"README.md": b"# card", "LICENSE": b"MIT", "dataset_infos.json": b'{"default": {}}', "load.py": b"import x",
         "assets/banner.png": PNG, "croissant.json": b"{}", "requirements.txt": b"datasets"},
    ),
    "datasets.save_to_disk": (
        {"train/data-00000-of-00001.arrow": STREAM},
        {"dataset_dict.json": b"{}", "train/dataset_info.json": b"{}", "train/state.json": b"{}",
         "train/cache-0a1b.arrow": STREAM, "train/indices-7.arrow": STREAM},
    ),
    "Spark, JSON": (
        {"part-00000-1f-c000.json": JSONL},
        {"_SUCCESS": b"", "_committed_12": b"{}", "_started_12": b"", "part-00000-1f-c000.json.crc": b"crc"},
    ),
    "Spark, Parquet, with partitions and an unfinished task": (
        {"lang=en/part-00000-1f.c000.snappy.parquet": PARQUET},
        {"_SUCCESS": b"", "_metadata": PARQUET, "_common_metadata": PARQUET, "_temporary/0/part-1.parquet": PARQUET},
    ),
    "Hive, without suffixes": ({"lang=en/000000_0": PARQUET}, {"_SUCCESS": b""}),
    "Hadoop, lines of JSON without suffixes": ({"part-r-00000": JSONL}, {"_SUCCESS": b""}),
    "Dask": ({"part.0.parquet": PARQUET}, {"_metadata": b"PAR1", "_common_metadata": b"PAR1"}),
    "dbt": ({"seeds/items.csv": CSV}, {"seeds/properties.yml": b"version: 2", "dbt_project.yml": b"name: x"}),
    "DVC": ({"items.csv": CSV}, {"items.csv.dvc": b"outs:", "dvc.lock": b"schema: 2"}),
    "shards with checksums": (
        {"a.jsonl": JSONL}, {"a.jsonl.sha256": b"1f", "MD5SUMS": b"1f", "SHA256SUMS.txt": b"1f", "a.jsonl.asc": b"x"}
    ),
    "Kaggle": ({"train.csv": CSV}, {"dataset-metadata.json": b"{}"}),
}  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
def test_tables_are_read_and_their_company_is_named(folder: Path, layout: str) -> None:
    tables, company = LAYOUTS[layout]
    write({**tables, **company})
    found = resolve_sources(["in"])
    assert [source.path for source in found.sources] == sorted(f"in/{name}" for name in tables)
    assert all(source.format != "file" for source in found.sources)
    n_read = {PARQUET: 4, STREAM: 4, JSONL: 4, CSV: 1}
    assert len(read(found)) == sum(n_read[data] for data in tables.values())
    assert not_read(found) == [("files that are not documents", tuple(sorted(f"in/{name}" for name in company)))]
    by_pattern = {source.path for source in resolve_sources(["in/**/*"]).sources if "_temporary" not in source.path}
    assert by_pattern == {f"in/{name}" for name in tables}


@pytest.mark.parametrize(
    "others",
    [
        {f"letters/{i}.txt": b"Dear all" for i in range(10)}, {f"{i}.md": b"note" for i in range(9)},
        {"c.parquet.incomplete": b"anything"}, {"letter.pdf": b"%PDF-1.4"}, {"data.tar.gz": b"x"}, {"c.xml": b"<a/>"},
    ],
    ids=lambda others: next(iter(others)),
)  # fmt: skip
def test_beside_other_files_a_table_is_one_document(folder: Path, others: dict[str, bytes]) -> None:
    write({"a.csv": CSV, "b/c.parquet": PARQUET, **others})
    found = resolve_sources(["in"])
    assert {source.path for source in found.sources} == {f"in/{name}" for name in ("a.csv", "b/c.parquet", *others)}
    assert {source.format for source in found.sources} <= {"file", "document"}
    assert sum("2 tables beside other files (a.csv, b/c.parquet)" in said for said in found.guesses) == 1
    tables = [source for source in found.sources if source.path in ("in/a.csv", "in/b/c.parquet")]
    texts = [text for source in tables for batch in read_batches(source) for text in batch["text"].to_pylist()]
    assert texts == [CSV, None]


@pytest.mark.skipif(os.name == "nt", reason="there are no such devices")
@pytest.mark.parametrize("file_format", [None, "lines", "jsonl", "file", "text-lines"])
def test_a_device_or_a_pipe_is_no_file_of_documents(folder: Path, file_format: str | None) -> None:
    os.mkfifo("pipe")
    for name in ("/dev/zero", "/dev/null", "/dev/stdin", "pipe"):
        with pytest.raises(SourceError, match=rf"^{name} is not a file of its own\. Name a file, or - for standard"):
            resolve_sources([name], file_format=file_format)


def test_a_table_of_delta_lake_is_refused(folder: Path) -> None:
    write(
        {
            "t/part-0.parquet": PARQUET,
            "t/part-1.parquet": PARQUET,
            "t/_delta_log/0.json": b"{}",
            "t/_delta_log/0.crc": b"",
        }
    )
    with pytest.raises(SourceError, match=r"in/t is a Delta Lake table, .* read every file with 'in/t/\*\.parquet'"):
        resolve_sources(["in"])
    assert len(read(resolve_sources(["in/t/*.parquet"]))) == 8
