"""Who survives: the first in the order of the command line, the oldest and the newest by their dates."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nearkin
from functional.conftest import FAST, results, run_here, write_jsonl
from in_process import InProcess
from nearkin.options.dedup import DedupOptions
from nearkin.runs.progress import Meter, Silent
from nearkin.stages.documents.rules import ReadingRules
from nearkin.stages.documents.sources import resolve_sources
from nearkin.workflows.dedup import job
from nearkin.workflows.dedup.on_spark.job import find
from nearkin.workflows.dedup.regrouping import regroup
from nearkin.workflows.reading import inputs as dedup_inputs
from nearkin.workflows.resources import Resources


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Three files with one text, and a folder of two with the same."""
    monkeypatch.chdir(tmp_path)
    for name in ("b", "c", "a"):
        write_jsonl(
            tmp_path / f"{name}.jsonl", [{"id": name, "text": FAST}, {"id": f"{name}2", "text": f"{FAST} {name}"}]
        )
    (tmp_path / "shards").mkdir()
    for name in ("2", "1"):
        write_jsonl(tmp_path / "shards" / f"{name}.jsonl", [{"id": f"shard {name}", "text": FAST}])
    return ["b.jsonl", "c.jsonl", "a.jsonl"]


def kept(*inputs: str, **options: object) -> list[str]:
    run_here(list(inputs), Path("out"), **options)
    table = pq.read_table("out/documents.parquet")
    same = table.filter(pa.compute.equal(table["n_characters"], len(FAST)))
    principals = set(same["group"].to_pylist())
    for path in Path("out").iterdir():
        path.unlink()
    return sorted(principals)


def test_the_first_is_the_first_on_the_command_line(files):
    assert kept(*files, keep="first") == ["b"]
    assert kept(*files[::-1], keep="first") == ["a"]
    assert kept("c.jsonl", "[ab].jsonl", keep="first") == ["c"]
    assert kept("[ab].jsonl", "c.jsonl", keep="first") == ["a"]  # sorted inside a pattern
    assert kept("shards", *files, keep="first") == ["shard 1"]  # and inside a folder
    assert kept("b.jsonl", "a.jsonl", "b.jsonl", keep="first") == ["b"]  # named twice, read where it was named first


def test_otherwise_the_order_does_not_matter(files):
    for options in ({}, {"keep": "shortest"}):
        run_here(files, Path("one"), **options)
        run_here(files[::-1], Path("other"), **options)
        assert results(Path("one")) == results(Path("other"))
        for folder in (Path("one"), Path("other")):
            for path in folder.iterdir():
                path.unlink()


@pytest.mark.parametrize(("keep", "expected"), [("longest", "says more"), ("shortest", "says less")])
def test_white_space_has_no_length(tmp_path, keep, expected):
    records = [
        {"id": "padded", "text": FAST.replace(" ", " " * 9) + "\u3000" * 99},
        {"id": "says less", "text": FAST[:-4].replace(" ", "\n\n\n")},
        {"id": "says more", "text": f"{FAST} more"},
    ]
    path = write_jsonl(tmp_path / "in.jsonl", records)
    by_both_engines(tmp_path, [str(path)], DedupOptions(keep=keep, threshold=0.6, shingle="words:3"))
    documents = pq.read_table(tmp_path / "local/documents.parquet")
    assert documents["group"].to_pylist() == [expected] * 3
    assert documents["keep_value"].to_pylist() == [len("".join(record["text"].split())) for record in records]
    run_here([str(path)], tmp_path / "out", keep=keep, threshold=0.6)
    again, _ = regroup(tmp_path / "out", threshold=0.65, report=False)
    assert pq.read_table(again / "documents.parquet")["group"].to_pylist() == [expected] * 3


@pytest.mark.parametrize("keep", ["longest", "shortest", "max:score", "min:score"])
@pytest.mark.parametrize("group", ["principal", "component"])
def test_of_documents_equal_by_the_rule_the_first_by_path_and_line_is_kept(tmp_path, monkeypatch, keep, group):
    monkeypatch.chdir(tmp_path)
    for name in ("b", "a"):  # equally long, and with the same score
        rows = [{"id": f"{name}{i}", "text": f"{FAST} {name}{i}", "score": 7} for i in (2, 1)]
        write_jsonl(tmp_path / f"{name}.jsonl", rows)
    for inputs in (["b.jsonl", "a.jsonl"], ["a.jsonl", "b.jsonl"]):
        run_here(inputs, Path("out"), keep=keep, group=group, threshold=0.5)
        assert set(pq.read_table("out/documents.parquet")["group"].to_pylist()) == {"a2"}
        for path in Path("out").iterdir():
            path.unlink()
    rows = [(f"b{i}", f"{FAST} b{i}") for i in (2, 1)]
    if not keep.endswith(":score"):  # documents in memory have an order of their own
        assert nearkin.dedup(rows, keep=keep, group=group, threshold=0.5).kept == rows[:1]


def by_both_engines(folder: Path, files: list[str], options: DedupOptions) -> None:
    """Write the results of one machine and of Spark's steps, which must have the same bytes."""
    sources = resolve_sources(files, in_order=options.keep.rule == "first").sources
    tables = []
    for name, finder in (("local", job.find), ("spark", find)):
        (folder / name / "work").mkdir(parents=True)
        meter = Meter(Silent())
        inputs = dedup_inputs.inputs_of(sources, keep_column=options.keep.column)
        more = (InProcess(),) if name == "spark" else ()
        found = finder(
            inputs,
            None,
            options,
            folder / name / "work",
            *more,
            rules=ReadingRules(on_error="skip"),
            resources=Resources(1),
            meter=meter,
        )
        job.write(found, folder / name, meter)
        tables.append((folder / name / "documents.parquet").read_bytes())
    assert tables[0] == tables[1]
