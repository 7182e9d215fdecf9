"""Names that several columns have: refused if the column is used, whatever the format; accepted otherwise."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nearkin
from functional.conftest import nearkin_done, nearkin_here
from nearkin.errors import SourceError

HEADERS = {
    "text": (["id", "text", "text"], ()),
    "named text": (["id", "wording", "wording"], ("--text", "wording")),
    "id": (["id", "id", "text"], ()),
    "named id": (["key", "key", "text"], ("--id", "key")),
    "keep": (["id", "text", "rank", "rank"], ("--keep", "max:rank")),
    "carry": (["id", "text", "kind", "kind"], ("--carry", "kind")),
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
    assert said.startswith(f"Error: --{name.removeprefix('named ')}: ")
    assert f"in.{suffix}: 2 columns have the name '{repeated}'" in said


@pytest.mark.filterwarnings("ignore:DataFrame columns are not unique")
@pytest.mark.parametrize("name", ["text", "id", "keep"])
def test_a_used_name_of_a_pandas_frame_is_refused(name):
    names = HEADERS[name][0]
    frame = pd.DataFrame(values(names), columns=names)
    keep = "max:rank" if name == "keep" else "longest"
    with pytest.raises(SourceError) as refused:
        nearkin.dedup(frame, keep=keep)
    assert refused.value.parameter == name
    unused = frame.set_axis(["n", "n", "text", "n"][: len(names)], axis=1)
    assert nearkin.dedup(unused).documents["n_characters"].to_pylist() == frame.iloc[:, 2].str.len().to_list()


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet"])
def test_an_unused_name_may_repeat(tmp_path, suffix):
    path = written(tmp_path, suffix, ["id", "text", "note", "note"])
    nearkin_done("dedup", path, "--out", tmp_path / "out", "-q")
