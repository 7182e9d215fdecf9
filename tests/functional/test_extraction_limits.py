"""Limits of extraction: an exception names the limit that refused a file, and with a higher one the file is read."""

from __future__ import annotations

import csv
import gzip
import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from functional.conftest import nearkin_done
from generator import office_files as make
from made_up_prose import Prose

PROSE = Prose(29)
TEXT = PROSE.text(80)
LONG = " ".join([TEXT] * 2_600)
MIB = 1 << 20


def tar(files: dict[str, bytes]) -> bytes:
    sink = io.BytesIO()
    with tarfile.open(fileobj=sink, mode="w") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return sink.getvalue()


FILES: dict[str, tuple[str, Callable[[], bytes], str, str]] = {
    "time=1": ("x.html", lambda: b"<html><body>" + b"<div>" * 30_000, "time-out", "x.html"),
    "memory=400MiB": ("x.html", lambda: b"<html><body>" + b"It was. " * (20 * MIB), "too large", "x.html"),
    "size=1MiB": ("x.zip", lambda: make.zipped({"a.txt": LONG}, compression=0), "too large", "x.zip!a.txt"),
    "total=100": ("x.zip", lambda: make.zipped({"a.txt": TEXT}), "too large", "x.zip!a.txt"),
    "disk=1MiB": ("x.tgz", lambda: gzip.compress(tar({"a.txt": bytes(65 * MIB), "b.txt": TEXT.encode()})), "too large",
                  "x.tgz"),
    "files=1": ("x.zip", lambda: make.zipped({"a.txt": TEXT, "b.txt": TEXT}), "too large", "x.zip!#2"),
    "levels=1": ("x.zip", lambda: make.zipped({"a.zip": make.zipped({"a.txt": TEXT})}), "too large", "x.zip!a.zip!#1"),
    "ratio=2": ("x.zip", lambda: make.zipped({"a.txt": LONG}), "too large", "x.zip!a.txt"),
}  # fmt: skip
"""Names and what is in them, made when a test asks: some are large; the exception, and the document that has it."""


def exceptions_in(run: Path) -> dict[str, tuple[str, str]]:
    if not (run / "exceptions.csv").exists():
        return {}
    with (run / "exceptions.csv").open(encoding="utf-8", newline="") as file:
        return {row["id"]: (row["exception"], row["sentence"]) for row in csv.DictReader(file)}


@pytest.mark.parametrize("limit", FILES)
def test_an_exception_names_the_limit_that_refused_the_file(tmp_path, limit):
    name, content, exception, doc_id = FILES[limit]
    (tmp_path / "case").mkdir()
    (tmp_path / "case" / name).write_bytes(content())
    (tmp_path / "case/beside.txt").write_text(TEXT)
    lower = ("--extraction-limit", limit, "--extraction-limit", "ratio=100000") if "ratio" not in limit else (
        "--extraction-limit", limit
    )  # fmt: skip
    nearkin_done("dedup", tmp_path / "case", "--out", tmp_path / "out", "--no-report", *lower)
    found = exceptions_in(tmp_path / "out")
    assert list(found) == [doc_id]
    assert found[doc_id][0] == exception
    assert f"; raise it with --extraction-limit {limit.partition('=')[0]}=" in found[doc_id][1]


def test_what_a_limit_refused_is_read_with_a_higher_one_and_the_run_remembers_it(tmp_path):
    """An audit and another threshold read the files again: with the limits of the run, else they find other files."""
    folder, out = tmp_path / "case", tmp_path / "out"
    folder.mkdir()
    (folder / "x.zip").write_bytes(make.zipped({"a.zip": make.zipped({"a.txt": TEXT, "b.txt": f"{TEXT} More."})}))
    (folder / "y.txt").write_text(TEXT)
    usual = ("--no-report", "--threshold", "0.5")
    nearkin_done("dedup", folder, "--out", out, *usual, "--extraction-limit", "levels=1")
    assert list(exceptions_in(out)) == ["x.zip!a.zip!#1"]
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["reading"]["extraction_limits"] == {"levels": 1}
    nearkin_done("audit", out)
    nearkin_done("dedup", folder, "--out", out, *usual, "--overwrite")
    assert exceptions_in(out) == {}
    assert json.loads((out / "manifest.json").read_text())["reading"]["extraction_limits"] is None
    ids = pq.read_table(out / "documents.parquet")["id"].to_pylist()
    assert sorted(ids) == ["x.zip!a.zip!a.txt", "x.zip!a.zip!b.txt", "y.txt"]
