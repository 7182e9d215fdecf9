"""Pairs of two data frames of Spark: those that `nearkin pairs` finds of the same documents in the same order."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nearkin.spark
from cut_off import CutOff, Cutting
from nearkin.errors import OutputExistsError, ResumeError
from nearkin.options.pairs import PairOptions
from nearkin.workflows.pairing.inputs import PairInput
from nearkin.workflows.pairing.job import pair_files
from nearkin.workflows.reading.request import ReadingRequest
from nearkin.workflows.resources import Resources
from translated_corpus import TranslatedCorpus, translated_corpus

COLUMNS = ["left_id", "right_id", "cosine", "rank", "terms"]
WINDOW = {"method": "window", "bits": 64, "distance": 26, "permutations": 2, "window": 40}
PROSE = [f"{' '.join(f'w{(i * k) % 97}' for k in range(1, 20))} end" for i in range(24)]


@pytest.fixture(autouse=True)
def known_to_be_good(monkeypatch) -> None:
    """The executors."""
    monkeypatch.setattr(nearkin.spark.work, "check_executors", lambda *asked: None)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> TranslatedCorpus:
    return translated_corpus(tmp_path_factory.mktemp("corpus"), n=30)


def on_one_machine(left: pa.Table, right: pa.Table, folder: Path, *, columns=(), table=None, **options: object):
    """What `nearkin pairs` finds of two tables, each in a file."""
    sides = []
    for name, rows, (text, doc_id) in zip(("left", "right"), (left, right), columns or [("text", "id")] * 2):
        pq.write_table(rows, folder / f"{name}.parquet")
        sides.append(ReadingRequest(inputs=[str(folder / f"{name}.parquet")], text=text, doc_id=doc_id))
    given = PairInput(*sides, None if table is None else Path(table))
    pair_files(given, folder / "local", PairOptions(**options), report=False, resources=Resources(2))
    return pq.read_table(folder / "local/pairs.parquet").select(COLUMNS)


def in_rows(table: pa.Table) -> list[dict[str, object]]:
    return sorted(table.to_pylist(), key=lambda row: (str(row["left_id"]), row["rank"]))


def assert_same(found, expected: pa.Table, least: int = 10) -> None:
    assert found.columns == COLUMNS
    assert len(expected) > least, "else equal tables would say little"
    assert in_rows(found.toArrow()) == in_rows(expected)


# -- the same pairs ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_one_language_integers_as_ids_and_texts_that_are_none(spark, tmp_path):
    """Some partitions on the right are empty; a column that Spark does not send is not asked for."""
    odd = [None, "", "one", PROSE[3].encode(), b"\xff" + PROSE[4].encode(), *[one.encode() for one in PROSE[:20]]]
    left = pa.table({"id": range(len(PROSE)), "text": PROSE})
    right = pa.table({"id": pa.array(range(100, 100 + len(odd)), pa.int32()), "text": pa.array(odd, pa.binary())})
    frames = spark.createDataFrame(left), spark.createDataFrame(right).repartition(16, "id")
    frames = frames[0].selectExpr("*", "interval '1-2' year to month AS odd"), frames[1].sortWithinPartitions("id")
    found = nearkin.spark.similar_pairs(*frames, id="id", threshold=0.5, work=tmp_path / "work")
    came = frames[0].select("id", "text").toArrow(), frames[1].toArrow()
    assert_same(found, on_one_machine(*came, tmp_path, threshold=0.5))
    assert [kind for _, kind in found.dtypes][:4] == ["bigint", "bigint", "double", "int"]


# -- a run that is cut off --------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_run_of_two_languages_goes_on(spark, corpus, tmp_path):
    left, right = (spark.read.parquet(str(path)).repartition(n) for path, n in ((corpus.left, 3), (corpus.right, 2)))
    left, right = left.sortWithinPartitions("id"), right.selectExpr("text AS `the.text`", "id AS key")
    chosen = {"id": "id", "right_text": "the.text", "right_id": "key", "table": corpus.table}
    chosen |= {"work": tmp_path / "work", **WINDOW}
    with pytest.raises(CutOff):
        nearkin.spark.similar_pairs(left, right, **chosen, progress=Cutting("pairs-000"))
    with pytest.raises(OutputExistsError, match=r"is not empty\. Name a new work folder, or add resume=True"):
        nearkin.spark.similar_pairs(left, right, **chosen)
    with pytest.raises(ResumeError, match=r"top was not given and is now 3\. Use the original parameters and data, or"):
        nearkin.spark.similar_pairs(left, right, **chosen, top=3, resume=True)
    with pytest.raises(ResumeError, match="command was pairs and is now dedup"):
        nearkin.spark.dedup(left, work=tmp_path / "work", resume=True)
    progress = Cutting()
    found = nearkin.spark.similar_pairs(left, right, **chosen, progress=progress, resume=True)
    assert progress.begun[-2:] == ["pairs-000", "write"]
    assert not {"read-left", "read-right", "weigh-left"} & set(progress.begun)
    columns = [("text", "id"), ("the.text", "key")]
    one = on_one_machine(left.toArrow(), right.toArrow(), tmp_path, columns=columns, table=corpus.table, **WINDOW)
    assert_same(found, one)
    again = Cutting()
    assert_same(nearkin.spark.similar_pairs(left, right, **chosen, progress=again, resume=True), one)
    assert again.begun == []
    assert sorted(path.name for path in (tmp_path / "work").iterdir()) == ["pairs.parquet", "run.json"]


# -- what is refused --------------------------------------------------------------------------------------------------


def test_importing_is_quick():
    """A notebook that only looks for duplicates waits for no compiler."""
    code = "import sys, nearkin.spark; print({'numba', 'pyspark', 'pandas'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"
