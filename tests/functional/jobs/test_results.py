"""Results are tables, data frames and pages of a notebook."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

import nearkin
from functional.conftest import FAST, nearkin_here
from functional.jobs.conftest import RECORDS
from nearkin.errors import ParameterError, SourceError
from nearkin.results import AuditResult, DedupResult


def every_result(tmp_path: Path, texts: Path) -> list[object]:
    signed = nearkin.sign(texts)
    run = nearkin.dedup(texts, out=tmp_path / "out")
    return [
        run, nearkin.pairs(RECORDS, [*RECORDS], min_occurrences=1), signed, nearkin.neighbours(signed),
        nearkin.families(texts), nearkin.audit(run), nearkin.plan(texts), nearkin.plan(1000, 1000),
    ]  # fmt: skip


def test_every_result_is_frames_and_a_page(tmp_path: Path, texts: Path) -> None:
    for result in every_result(tmp_path, texts):
        first = getattr(result, result.tables[0])
        assert isinstance(first, pa.Table)
        assert list(result.to_pandas().columns) == result.to_polars().columns == first.column_names
        assert len(result.to_pandas()) == len(result.to_polars()) == len(first)
        assert repr(result) in result._repr_html_().replace("&lt;", "<").replace("&#x27;", "'")
        assert "<script" not in result._repr_html_()
        with pytest.raises(ParameterError, match=r"must be one of"):
            result.to_pandas("nothing")


def test_a_page_shows_no_markup_of_documents() -> None:
    evil = "<img src=x onerror=alert(1)>\u202e&\"'"
    result = nearkin.dedup([(evil, FAST), (f"{evil}2", FAST + " again")])
    for page in (result._repr_html_(), nearkin.sign([(evil, FAST)])._repr_html_()):
        assert "<img" not in page
        assert "&lt;img" in page
        assert "⟨U+202E⟩" in page
    assert "pairs by Jaccard" in result._repr_html_()


@pytest.mark.parametrize(
    ("measure", "title", "bar"), [("jaccard", "Jaccard", "0.7–0.8"), ("containment", "containment", "0.9–1.0")]
)
def test_a_pair_is_in_the_bar_that_its_similarity_begins(measure: str, title: str, bar: str) -> None:
    words = [f"w{i}" for i in range(10)]
    result = nearkin.dedup([" ".join(words), " ".join(words[:7])], shingle="words:1", threshold=0.1, measure=measure)
    page = result._repr_html_()
    assert f"pairs by {title}" in page
    assert re.search(rf"<td>{bar}</td>.*?<td>1</td>", page)


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_a_package_that_is_not_installed(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    result = nearkin.dedup(["a b c"])
    monkeypatch.setitem(__import__("sys").modules, package, None)
    with pytest.raises(nearkin.NearkinError, match=f"pip install {package}") as caught:
        getattr(result, f"to_{package}")()
    assert isinstance(caught.value, ImportError)


def test_results_without_pairs_are_shown() -> None:
    lonely = [("a", FAST)]
    signed = nearkin.sign(lonely)
    assert "0 rows" not in nearkin.neighbours(signed)._repr_html_()
    for result in (nearkin.dedup([]), nearkin.dedup(lonely), nearkin.families(lonely), nearkin.sign([]), signed):
        assert result._repr_html_().startswith("<div><p>")
        assert len(result.to_pandas()) == len(getattr(result, result.tables[0]))


def test_documents_in_memory_may_be_divided_otherwise(tmp_path: Path) -> None:
    table = pa.table({"id": range(len(RECORDS)), "text": [one["text"] for one in RECORDS]})
    result = nearkin.dedup(table, out=tmp_path / "out")
    chunked = pa.concat_tables([table.slice(0, 2), table.slice(2)])
    assert nearkin.audit(result, chunked).recall == nearkin.audit(result, table).recall
    other = table.set_column(1, "text", pa.array(["changed", *table["text"].to_pylist()[1:]]))
    with pytest.raises(SourceError, match="The given documents differ"):
        nearkin.audit(result, other)


def test_a_subclass_comes_back_as_it_is() -> None:
    class Own(pd.DataFrame):
        @property
        def _constructor(self) -> type[pd.DataFrame]:
            return Own

    assert type(nearkin.dedup(Own(RECORDS)).kept) is Own


def test_a_password_is_not_shown() -> None:
    with pytest.raises(ParameterError, match="a collection has its documents") as raised:
        nearkin.audit("postgresql://ada:secret@host/matter", RECORDS)
    assert "secret" not in str(raised.value)


def test_a_name_with_a_colon_is_no_url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, texts: Path) -> None:
    monkeypatch.chdir(tmp_path)
    ended = nearkin_here("dedup", texts, "--out", "run-17:00", "-q")
    assert (ended.code, ended.err) == (0, "")
    assert DedupResult.open("run-17:00").documents.num_rows == 60
    assert nearkin_here("regroup", "run-17:00", "--threshold", "0.9", "--out", "again:9", "-q").code == 0


def test_a_recall_is_never_rounded_up_to_1() -> None:
    audited = AuditResult(
        recall=0.99999, low=0.99996, high=0.999999, is_exact=False, n_sampled=9, n_true=100_000, n_found=99_999,
        predicted_recall=None, missed=pa.table({"similarity": [0.8]}), definition="", manifest={},
    )  # fmt: skip
    said = "AuditResult(recall 0.9999, 95% interval 0.9999 to 0.9999; 99,999 of 100,000 true pairs found)"
    assert repr(audited) == said
    assert repr(replace(audited, recall=1.0, is_exact=True)).startswith("AuditResult(recall 1.0000, exact; ")
