"""The shape of what a run writes: files, columns, types, keys. Programs rely on them."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from functional.conftest import FAST, nearkin_here, write_jsonl

DOCUMENTS = {
    "name": pa.large_string(), "row": pa.int64(), "group_row": pa.int64(), "is_principal": pa.bool_(),
    "similarity_to_principal": pa.float64(), "copy_of_row": pa.int64(), "keep": pa.bool_(), "reason": pa.string(),
    "differs": pa.string(),
    "n_characters": pa.int64(), "n_units": pa.int64(), "n_shingles": pa.int64(), "keep_value": pa.float64(),
    "source": pa.string(), "line": pa.int64(), "problem": pa.large_string(),
}  # fmt: skip
PAIRS = (
    {"row_a": pa.int64(), "row_b": pa.int64()}
    | dict.fromkeys(("jaccard", "containment_a_in_b", "containment_b_in_a"), pa.float64())
    | {"differs": pa.string()}
)
GROUPS = {
    "group_row": pa.int64(), "size": pa.int64(), "lowest_similarity": pa.float64(), "is_lowest_exact": pa.bool_(),
    "bridges_refused": pa.int64(), "n_exact_copies": pa.int64(),
}  # fmt: skip


@pytest.fixture(scope="module", params=["integers", "strings", "none", "mixed"])
def run(request, tmp_path_factory) -> tuple[Path, pa.DataType]:
    """A run with a problem in it, for each kind of id."""
    ids = {"integers": [7, 5, 6, 9], "strings": list("abcd"), "none": [None] * 4, "mixed": [1, "x", 2, 3]}
    texts = [FAST, FAST + " again", FAST.upper(), None]
    records = [{"id": one, "text": text} for one, text in zip(ids[request.param], texts, strict=True)]
    folder = tmp_path_factory.mktemp("run")
    path = write_jsonl(folder / "in.jsonl", records)
    ended = nearkin_here("dedup", path, "--out", folder / "out", "-q", "--write-kept")
    ended.assert_quiet("exceptions: 1 (1 empty: ", *["without an id: 4 "] * (request.param == "none"))
    return folder / "out", pa.int64() if request.param == "integers" else pa.large_string()


def columns(path: Path) -> dict[str, pa.DataType]:
    schema = pq.read_schema(path)
    return dict(zip(schema.names, schema.types, strict=True))


def test_files(run):
    names = {path.name for path in run[0].iterdir()}
    tables = {"documents.parquet", "pairs.parquet", "groups.parquet", "problems.parquet"}
    assert names == tables | {"manifest.json", "report.html", "kept", "exceptions.csv"}


def test_columns(run):
    out, id_type = run
    ids = dict.fromkeys(("id", "group", "copy_of"), id_type)
    documents = columns(out / "documents.parquet")
    assert documents == ids | DOCUMENTS
    assert list(documents)[:12] == [
        "id", "name", "row", "group", "group_row", "is_principal", "similarity_to_principal", "differs", "copy_of",
        "copy_of_row",
        "keep", "reason",
    ]  # fmt: skip
    assert columns(out / "pairs.parquet") == dict.fromkeys(("id_a", "id_b"), id_type) | PAIRS
    assert columns(out / "groups.parquet") == dict.fromkeys(("group", "principal"), id_type) | GROUPS
    text = pa.large_string()
    assert columns(out / "problems.parquet") == {
        "source": text, "line": pa.int64(), "id": id_type, "name": text, "problem": text,
    }  # fmt: skip


def test_names_are_unique_and_rows_refer_to_documents(run):
    out, _ = run
    documents, pairs, groups = (pq.read_table(out / f"{name}.parquet") for name in ("documents", "pairs", "groups"))
    names, ids = documents["name"].to_pylist(), documents["id"].to_pylist()
    assert len(set(names)) == len(names) == 4
    assert documents["row"].to_pylist() == [0, 1, 2, 3]
    references = (
        (documents, "group", "group_row"), (documents, "copy_of", "copy_of_row"), (pairs, "id_a", "row_a"),
        (pairs, "id_b", "row_b"), (groups, "group", "group_row"), (groups, "principal", "group_row"),
    )  # fmt: skip
    for table, column, number in references:
        for doc_id, row in zip(table[column].to_pylist(), table[number].to_pylist(), strict=True):
            assert doc_id == (None if row is None else ids[row])


def test_the_table_of_the_other_set(tmp_path):
    mine, theirs = (
        write_jsonl(tmp_path / f"{name}.jsonl", [{"id": i, "text": text} for i, text in enumerate(texts)])
        for name, texts in (("mine", [FAST, FAST + " again"]), ("theirs", [FAST.upper(), "else", None]))
    )
    assert nearkin_here("dedup", mine, "--against", theirs, "--out", tmp_path / "out", "-q").code == 0
    table = pq.read_table(tmp_path / "out/against.parquet")
    assert columns(tmp_path / "out/against.parquet") == {
        "id": pa.int64(), "name": pa.large_string(), "row": pa.int64(), "result": pa.string(),
        "n_documents": pa.int64(), "most_similar": pa.int64(), "most_similar_row": pa.int64(),
        "similarity": pa.float64(), "n_characters": pa.int64(), "n_units": pa.int64(), "n_shingles": pa.int64(),
        "source": pa.string(), "line": pa.int64(), "problem": pa.large_string(),
    }  # fmt: skip
    assert table["result"].to_pylist() == ["match", "too short", "unreadable"]
    assert table["n_documents"].to_pylist() == [2, 0, 0]
    assert table["row"].to_pylist() == [2, 3, 4], "they continue after those of INPUT"
    assert table["most_similar_row"].to_pylist() == [0, None, None], "a row of INPUT"
    assert pq.read_table(tmp_path / "out/pairs.parquet")["row_b"].to_pylist() == [2, 2]
    of_mine = pq.read_table(tmp_path / "out/documents.parquet")
    assert (of_mine["group_row"].to_pylist(), of_mine["copy_of_row"].to_pylist()) == ([2, 2], [2, None])
