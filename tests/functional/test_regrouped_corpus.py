"""The cleaned corpus of a run that is grouped again has the bytes of a fresh run at that threshold."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import shutil
import zipfile
from functools import partialmethod
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nearkin
from functional.conftest import Ended, listing, nearkin_done, nearkin_here, write_jsonl
from nearkin.collection.collection import Collection
from nearkin.errors import SourceError
from nearkin.runs.run import JobRun
from nearkin.workflows.dedup.regrouping import regroup

WORDS = "the tenant of the flat above the harbour shall pay the whole rent on the first day of each month"
LOW, HIGH = ("--threshold", "0.3"), ("--threshold", "0.7")
FORMATS = "jsonl", "csv", "parquet", "gz", "load", "texts", "zip"


def texts_of(about: str) -> list[str]:
    """Texts of which all are near-duplicates at 0.3, and some at 0.7."""
    own = [f"{word}{about}" for word in WORDS.split()]
    return [" ".join([*own[:-n], *(f"other{n}{i}" for i in range(n))]) for n in (1, 2, 6, 7)]


def input_of(kind: str, folder: Path) -> Path:
    """Write documents in a format."""
    texts = texts_of(kind)
    rows = [{"id": f"{kind}-{i}", "text": text, "more": i / 3} for i, text in enumerate(texts)]
    path = folder / f"in.{kind}"
    if kind == "jsonl":
        return write_jsonl(path, rows)
    if kind == "gz":
        path = folder / "packed.jsonl.gz"
        path.write_bytes(gzip.compress(write_jsonl(folder / "packed.jsonl", rows).read_bytes()))
    elif kind == "csv":
        with path.open("w", encoding="cp1252", newline="") as file:
            writer = csv.writer(file, delimiter=";")
            writer.writerows([["id", "text", "é"], *([row["id"], row["text"], "line\nä"] for row in rows)])
    elif kind == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=3)
    elif kind == "load":
        path = folder / "load.dat"
        lines = ["þDOCIDþ\x14þEXTRACTEDTEXTþ", *(f"þ{row['id']}þ\x14þ{row['text']}þ" for row in rows)]
        path.write_bytes("".join(f"{line}\r\n" for line in lines).encode("cp1252"))
    elif kind == "texts":
        path = folder / kind
        for i, text in enumerate(texts):
            (path / str(i)).mkdir(parents=True)
            (path / str(i) / "same name.txt").write_text(text)
    else:
        with zipfile.ZipFile(path, "w") as packed:
            for i, text in enumerate(texts):
                packed.writestr(f"{i}.txt", text)
    return path


def bytes_below(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def ran(*arguments: str | Path) -> Ended:
    return nearkin_done(*arguments)


def run_at_both(folder: Path, *inputs: str | Path) -> tuple[Path, Path]:
    """A run at the low threshold, and one at the high threshold with the cleaned corpus."""
    low, high = folder / "low", folder / "high"
    ran("dedup", *inputs, "--out", low, *LOW, "--no-report", "-q")
    ran("dedup", *inputs, "--out", high, *HIGH, "--no-report", "-q", "--write-kept")
    return low, high


def test_it_has_the_bytes_of_a_fresh_run_in_every_format(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    inputs = [input_of(kind, tmp_path / "in") for kind in FORMATS]
    low, high = run_at_both(tmp_path, *inputs, "--encoding", "cp1252")
    out = tmp_path / "cut"
    said = ran("regroup", low, *HIGH, "--out", out, "--write-kept", "--overlay", "plain").out
    assert "cleaned corpus" not in said
    fresh = bytes_below(high / "kept")
    assert bytes_below(out / "kept") == fresh
    assert len(fresh) == 6 + 3
    assert fresh["in.zip.jsonl"].count(b"\n") == fresh["in.jsonl"].count(b"\n") == 3
    told, expected = (json.loads((one / "manifest.json").read_text()) for one in (out, high))
    assert told["kept"] == expected["kept"]
    assert {f"kept/{name}" for name in fresh} | {"overlay.dat"} <= set(told["files"])
    for one in inputs:  # the results are complete without the input of the run
        os.rename(one, tmp_path / one.name)
    for results in (out, high):
        ran("dedup", results, "--out", tmp_path / f"again {results.name}", *HIGH, "--no-report", "-q")
    tables = [(tmp_path / f"again {one}/documents.parquet").read_bytes() for one in ("cut", "high")]
    assert len(pq.read_table(io.BytesIO(tables[0]))) == expected["counts"]["kept"]
    ran("add", tmp_path / "matter", out, "-q")
    nearkin_done("regroup", low, *HIGH, "--out", out, "--overwrite", "-q")
    assert not (out / "kept").exists()


def test_a_collection(tmp_path: Path) -> None:
    with Collection.open(tmp_path / "matter", create=True) as collection:
        collection.add([(f"d{i}", text) for i, text in enumerate(texts_of(""))])
    low, high = run_at_both(tmp_path, tmp_path / "matter")
    out, _ = regroup(low, threshold=0.7, write_kept=True, report=False)
    assert bytes_below(out / "kept") == bytes_below(high / "kept")
    with Collection.open(tmp_path / "matter") as collection:
        collection.add([("more", "It was")])
    regroup(low, threshold=0.7, write_kept=True, report=False, overwrite=True)  # with the documents of that time
    assert bytes_below(out / "kept") == bytes_below(high / "kept")


def test_standard_input_and_documents_in_memory_cannot_be_read_again(tmp_path: Path) -> None:
    data = input_of("jsonl", tmp_path).read_bytes()
    nearkin_here("dedup", "-", "--out", tmp_path / "low", *LOW, "--no-report", "-q", stdin=data).assert_done()
    ended = nearkin_here("regroup", tmp_path / "low", *HIGH, "--write-kept")
    assert (ended.code, "standard input" in ended.err) == (3, True)
    nearkin.dedup(texts_of(""), threshold=0.3, out=tmp_path / "held")
    with pytest.raises(SourceError, match="in the memory of a program"):
        regroup(tmp_path / "held", threshold=0.7, write_kept=True)


def test_a_killed_one_looks_unfinished_and_can_be_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran("dedup", input_of("jsonl", tmp_path), "--out", tmp_path / "low", *LOW, "--no-report", "-q")
    whole, left = tmp_path / "whole", list[Path]()

    def remembered(self, done, *given):
        if self.is_unfinished:
            left.append(tmp_path / f"left {len(left)}")
            shutil.copytree(whole, left[-1])
        return done(self, *given)

    with monkeypatch.context() as patched:
        patched.setattr(JobRun, "finish", partialmethod(remembered, JobRun.finish))
        regroup(tmp_path / "low", threshold=0.7, out=whole, write_kept=True, report=False)
    assert len(left) == 1
    for out in left:  # as a process leaves them that is killed there
        ended = nearkin_here("dedup", out, "--out", tmp_path / "again", "-q")
        assert "holds an unfinished run" in " ".join(ended.err.split())
        regroup(tmp_path / "low", threshold=0.7, out=out, write_kept=True, report=False)
        assert listing(out) == listing(whole)
        assert bytes_below(out / "kept") == bytes_below(whole / "kept")
