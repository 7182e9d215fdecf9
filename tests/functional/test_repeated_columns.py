"""Names that several columns have: refused if the column is used, whatever the format; accepted otherwise."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nearkin
from functional.conftest import nearkin_here
from nearkin.errors import SourceError

HEADERS = {
    "text": (["id", "text", "text"], ()),
    "named text": (["id", "wording", "wording"], ("--text", "wording")),
    "id": (["id", "id", "text"], ()),
    "named id": (["key", "key", "text"], ("--id", "key")),
    "keep": (["id", "text", "rank", "rank"], ("--keep", "max:rank")),
    "by": (["id", "text", "kind", "kind"], ("--by", "kind")),
}
WORDS = ["one two three four five", "six seven eight nine ten"]


def values(names: list[str]) -> list[list[str]]:
    return [[str(row) if name == "rank" else f"{word} {i}" for i, name in enumerate(names)] for row, word in
            enumerate(WORDS)]  # fmt: skip


def written(folder: Path, suffix: str, names: list[str]) -> Path:
    path = folder / f"in.{suffix}"
    if suffix == "parquet":
        columns = [pa.array([int(v) for v in of] if name == "rank" else of) for name, of in
                   zip(names, zip(*values(names)))]  # fmt: skip
        pq.write_table(pa.Table.from_arrays(columns, names), path)
        return path
    comma = {"csv": ",", "tsv": "\t"}[suffix]
    path.write_text("".join(f"{comma.join(row)}\n" for row in [names, *values(names)]))
    return path


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet"])
@pytest.mark.parametrize("name", HEADERS)
def test_a_used_name_is_refused_before_anything_is_written(tmp_path, suffix, name):
    names, options = HEADERS[name]
    path, out = written(tmp_path, suffix, names), tmp_path / "out"
    ended = nearkin_here("dedup", path, "--out", out, "-q", *options)
    ended.assert_clean()
    assert (ended.code, out.exists()) == (3, False)
    repeated = next(one for one in names if names.count(one) > 1)
    said = " ".join(ended.err.split())
    assert f"in.{suffix}: 2 columns have the name '{repeated}' (--{name.removeprefix('named ')}); it must be" in said
    assert f"The columns are: {', '.join(names)}." in said


@pytest.mark.parametrize("suffix", ["csv", "tsv"])
def test_standard_input_is_refused_too(tmp_path, suffix):
    data = written(tmp_path, suffix, ["id", "text", "text"]).read_bytes()
    ended = nearkin_here("dedup", "-", "--format", suffix, "--out", tmp_path / "out", "-q", stdin=data)
    assert ended.code == 3
    assert "2 columns have the name 'text'" in " ".join(ended.err.split())


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet"])
def test_an_unused_name_may_repeat(tmp_path, suffix):
    path = written(tmp_path, suffix, ["id", "text", "note", "note"])
    assert nearkin_here("dedup", path, "--out", tmp_path / "out", "-q").code == 0


@pytest.mark.parametrize("names", [["DOCID", "TEXT", "TEXT"], ["DOCID", "DOCID", "TEXT"],
                                   ["DOCID", "PARENTID", "PARENTID", "TEXT"]])  # fmt: skip
def test_load_files(tmp_path, names):
    path = tmp_path / "in.dat"
    path.write_text("".join("\x14".join(f"þ{one}þ" for one in row) + "\n" for row in [names, *values(names)]))
    ended = nearkin_here("dedup", path, "--out", tmp_path / "out", "-q")
    assert ended.code == 3
    assert "2 columns have the name '" in " ".join(ended.err.split())


@pytest.mark.filterwarnings("ignore:DataFrame columns are not unique")
def test_data_frames():
    frame = pd.DataFrame(values(["id", "text", "text"]), columns=["id", "text", "text"])
    for given in ({}, {"text": "text"}):
        with pytest.raises(SourceError, match=r"the table: 2 columns have the name 'text' \(text\); it must be unique"):
            nearkin.dedup(frame, **given)
    with pytest.raises(SourceError, match=r"2 columns have the name 'id' \(id\)"):
        nearkin.dedup(frame.set_axis(["id", "id", "text"], axis=1))
    ranked = pd.DataFrame([["a", WORDS[0], 1, 2]], columns=["id", "text", "rank", "rank"])
    with pytest.raises(SourceError, match=r"2 columns have the name 'rank' \(keep\)"):
        nearkin.dedup(ranked, keep="max:rank")
    assert nearkin.dedup(ranked).documents["id"].to_pylist() == ["a"]


@pytest.mark.parametrize("given", [("--text", "a", "--text=b"), ("--id", "a", "--id", "b")], ids=" ".join)
def test_two_columns_for_one_option_are_refused(tmp_path, given):
    ended = nearkin_here("dedup", tmp_path, *given, "--out", tmp_path / "out")
    said = f"{given[0]} names one column, and was given 2 times. Join several columns into one first."
    assert (ended.code, said in ended.err) == (2, True)
