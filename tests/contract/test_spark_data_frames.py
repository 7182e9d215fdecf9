"""Data frames of Spark: what is said of their rows is what one machine says of them, and nothing else changes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pandas
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nearkin
import nearkin.spark
from contract import test_engines_on_a_cluster
from cut_off import CutOff, Cutting
from made_up_prose import Prose
from nearkin.errors import OutputExistsError, ParameterError, ResumeError

ADDED = ["group", "is_principal", "similarity_to_principal", "differs", "copy_of", "keep", "reason"]
PAIRS = ["id_a", "id_b", "jaccard", "containment_a_in_b", "containment_b_in_a", "differs"]
ODD = {
    "array": "array(1, null, 3)",
    "map": "map('k', array(1.5D), 'n', null)",
    "map of structs": "map(named_struct('x', 1), 'y')",
    "struct": "named_struct('p', id, 'q', named_struct('r', 1, 'a.b', cast(null as int)))",
    "deep": "array(named_struct('z', map(1, x'01')))",
    "decimal": "cast(12.5 as decimal(38, 10))",
    "timestamp": "timestamp'2020-01-01 01:02:03.123456'",
    "without zone": "timestamp_ntz'1582-10-15 01:02:03'",
    "date": "date'1500-01-01'",
    "interval": "interval '1 02:03:04.5' day to second",
    "bytes": "x'00ff'",
    "void": "cast(null as void)",
    "nan": "cast('nan' as float)",
    "bit": "cast(null as boolean)",
    "a.b`c": "1",
}


@pytest.fixture(scope="module")
def some_texts() -> list[str | None]:
    """Families, copies, and texts that are null, empty or short."""
    families = [text for _, text in Prose(3).families(12)]
    return [*families, None, "", "short", families[0], families[0].upper(), None]


small = test_engines_on_a_cluster.small
"""Several partitions, so that names travel."""


@pytest.fixture(autouse=True)
def good_executors(monkeypatch, small) -> None:
    """They are known to be good, and need not be asked each time."""
    monkeypatch.setattr(nearkin.spark.work, "check_executors", lambda *asked: None)


def in_rows(table: pa.Table) -> list[str]:
    """Rows that can be sorted whatever is in them."""
    return sorted(map(repr, table.to_pylist()))


def assert_as_one_machine_finds(df, folder: Path, text: str = "text", prefix: str = "", **options: object) -> pa.Table:
    came = df.toArrow()
    expected = nearkin.dedup(came, text=text, **options)
    found = nearkin.spark.dedup_result(df, text=text, work=folder / "work", prefix=prefix, **options)
    said = expected.documents.select(ADDED).rename_columns([prefix + name for name in ADDED])
    annotated = came
    for name in said.column_names:
        annotated = annotated.append_column(name, said[name])
    documents = found.documents.toArrow()
    assert in_rows(documents) == in_rows(annotated)
    assert in_rows(found.pairs.toArrow()) == in_rows(expected.pairs.select(PAIRS))
    assert in_rows(found.kept.toArrow()) == in_rows(expected.kept)
    assert found.kept.schema == df.schema
    assert found.documents.schema.fields[: len(df.columns)] == df.schema.fields
    counts = expected.manifest["counts"]
    assert found.manifest["counts"].items() <= counts.items()
    assert found.manifest["plan"] == expected.manifest["plan"]
    return documents


def frame(spark, some_texts: Sequence[str | None], ids: Sequence[object], n: int, **more: Sequence[object]):
    """Rows with a score, in partitions; some of these are empty."""
    table = pa.table({"id": ids, "text": some_texts, "score": [i % 13 for i in range(len(ids))], **more})
    return spark.createDataFrame(table).repartition(n, "score").sortWithinPartitions("id")


# -- the same is said -------------------------------------------------------------------------------------------------


@pytest.mark.soak
def test_strings_as_ids_and_columns_of_any_type(spark, some_texts, tmp_path):
    df = frame(spark, some_texts, [f"d{i * 7 % 101}" for i in range(len(some_texts))], 4)
    df = df.selectExpr("*", *(f"{value} AS `{name.replace('`', '``')}`" for name, value in ODD.items()))
    footer = " ".join((some_texts[0] or "").split()[:4])
    assert_as_one_machine_finds(df, tmp_path, id="id", threshold=0.6, ignore=[footer], ignore_numbers=True)


@pytest.mark.soak
def test_integers_as_ids_and_a_column_of_a_name_that_is_taken(spark, some_texts, tmp_path):
    df = frame(spark, some_texts, range(1000, 1000 + len(some_texts)), 3).withColumnRenamed("score", "Keep")
    df = df.selectExpr("cast(id as int) AS id", "text AS `a.text`", "Keep")
    with pytest.raises(ParameterError, match=r"no column exists already \(Keep does\). Got: ''"):
        nearkin.spark.dedup(df, text="a.text", id="id", work=tmp_path / "work")
    chosen = {"id": "id", "keep": "max:Keep", "group": "component", "prefix": "near_"}
    assert_as_one_machine_finds(df, tmp_path, "a.text", **chosen)


@pytest.mark.soak
def test_rows_without_ids_from_files(spark, some_texts, tmp_path):
    """More partitions than rows, some of them empty; text of bytes, some of which are no characters."""
    (tmp_path / "in").mkdir()
    for i, start in enumerate(range(0, 24, 3)):
        some = [None if one is None else one.encode() for one in some_texts[start : start + i % 4]]
        pq.write_table(pa.table({"body": pa.array([*some, b"\xff"], pa.binary())}), tmp_path / f"in/{i}.parquet")
    df = spark.read.option("maxPartitionBytes", 1).parquet(str(tmp_path / "in"))
    assert_as_one_machine_finds(df, tmp_path, "body", measure="containment")


# -- a run that is cut off --------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_run_goes_on(spark, some_texts, tmp_path):
    """Dates in strings choose. Integers are read as integers, as the guide says it: Spark's own way turns those with
    nulls into floating point."""
    first, n = 2**53 + 1, len(some_texts)
    days = [("2004-02-03", "2004-02-03T10:00:00Z", None, "2003")[i % 4] for i in range(n)]
    df, work = frame(spark, some_texts, [first + 2 * i for i in range(n)], 3, day=days), tmp_path / "work"
    chosen = {"id": "id", "keep": "max:day", "work": work}
    with pytest.raises(CutOff):
        nearkin.spark.dedup(df, **chosen, progress=Cutting("bands"))
    with pytest.raises(OutputExistsError, match=r"is not empty\. Name a new work folder, or add resume=True"):
        nearkin.spark.dedup(df, **chosen)
    with pytest.raises(ResumeError, match=r"threshold was 0\.7 and is now 0\.5\. Use the original parameters"):
        nearkin.spark.dedup(df, **chosen, threshold=0.5, resume=True)
    with pytest.raises(ResumeError, match=r"columns was \['text', 'id'\] and is now"):
        nearkin.spark.dedup(df, work=work, resume=True)
    progress = Cutting()
    found = nearkin.spark.dedup(df, **chosen, resume=True, progress=progress).select("id", *ADDED).toArrow()
    assert "read" not in progress.begun
    assert "bands" in progress.begun
    expected = nearkin.dedup(df.toArrow(), text="text", id="id", keep="max:day").documents.select(["id", *ADDED])
    assert in_rows(found) == in_rows(expected)
    again = Cutting()
    assert nearkin.spark.dedup(df, **chosen, resume=True, progress=again).where("keep").count() > 10
    assert not {"read", "bands", "matches"} & set(again.begun)
    table = found.to_pandas(types_mapper={pa.int64(): pandas.Int64Dtype()}.get)
    assert set(table["group"].dropna()) <= set(range(first, first + 2 * n, 2))
    assert table["group"].isna().any()


# -- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("columns", "options", "rule"),
    [
        (["id", "text"], {"text": "body"}, r"^text: .*a column of the data frame \(id, text\)\. Got: 'body'"),
        (["id", "text"], {"keep": "max:score"}, r"^keep: .*Got: 'score'"),
        (["id", "text", "1 AS keep"], {}, r"^prefix: .*\(keep does\)\. Got: ''"),
        (["id", "text", "1 AS x", "2 AS x"], {}, r"names of a data frame must be unique\. Got 'x' twice"),
        (["id", "text", "interval '1-2' year to month AS y"], {}, "Column 'y' has the type interval year to month"),
        (["id", "text"], {"work": None}, r"^work: .*given with master spark://.*: a folder that every"),
    ],
)
def test_what_is_refused_before_anything_is_read(spark, tmp_path, columns, options, rule):
    df = spark.range(3).selectExpr("id", "'some text' AS text").selectExpr(*columns)
    with pytest.raises(ParameterError, match=rule):
        nearkin.spark.dedup(df, **{"work": tmp_path / "work"} | options)
    assert not (tmp_path / "work").exists()


# -- Spark Connect ----------------------------------------------------------------------------------------------------

CONNECTED = """
import sys
from pathlib import Path

import pyarrow as pa
from pyspark.sql import SparkSession

import nearkin
from nearkin.engines.local import LOCAL
from nearkin.engines.spark.session import Cluster
from nearkin.errors import NearkinError
from nearkin.spark import dedup_result
from nearkin.options.dedup import Delivery
from nearkin.workflows.dedup.files import dedup_files
from nearkin.workflows.reading.request import ReadingRequest
from nearkin.options.dedup import DedupOptions
from nearkin.workflows.resources import Resources

url, folder = sys.argv[1], Path(sys.argv[2])
spark = SparkSession.builder.remote(url).getOrCreate()
texts = [f"one two three four five six seven eight nine ten {i // 2}" for i in range(9)]
df = spark.createDataFrame(pa.table({"id": range(9), "text": texts}))
found = dedup_result(df, id="id", keep_apart="numbers")
expected = nearkin.dedup(df.toArrow(), text="text", id="id", keep_apart="numbers")
added = ["id", "group", "copy_of", "similarity_to_principal", "differs", "reason"]
rows = found.documents.select(*added).orderBy("id").toArrow().to_pylist()
print("documents", rows == expected.documents.select(added).to_pylist())
print("pairs", found.pairs.count() == len(expected.pairs), "kept", found.kept.count() == len(expected.kept))
try:
    dedup_result(df.selectExpr("1 AS id", "text"), id="id")
except NearkinError as error:
    print(f"{type(error).__name__}: {error}")

(folder / "in.jsonl").write_text("".join(f'{{"id": {i}, "text": "{text}"}}\\n' for i, text in enumerate(texts)))
for name, engine in (("local", LOCAL), ("spark", Cluster(url))):
    dedup_files(
        ReadingRequest(inputs=[str(folder / "in.jsonl")]), folder / name, DedupOptions(),
        delivery=Delivery(report=False), resources=Resources(1), engine=engine,
    )
names = ("documents", "pairs", "groups")
local, connected = ([(folder / one / f"{name}.parquet").read_bytes() for name in names] for one in ("local", "spark"))
print("files", local == connected)
"""


@pytest.mark.slow
def test_spark_connect(connect_url, tmp_path):
    """A process that spoke to its server can open no other session, so it is one of its own."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CONNECTED, connect_url, str(tmp_path)],
        env=os.environ | {"TMPDIR": str(tmp_path)}, capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert done.stdout.splitlines() == [
        "documents True",
        "pairs True kept True",
        "ParameterError: Ids must be unique, and in column 'id' 8 are repeated: row 2 has the id of row 1. "
        "Choose another column, or omit id to number the rows.",
        "files True",
    ], done.stderr
    assert done.stderr == ""
    assert not list(tmp_path.glob("nearkin-spark-*")), "the folders of work are gone"
