"""Results are tables and data frames."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

import nearkin
from functional.conftest import FAST
from functional.jobs.conftest import RECORDS
from nearkin.errors import ParameterError
from nearkin.tabular import table_names


def every_result(tmp_path: Path, texts: Path) -> list[object]:
    signed = nearkin.sign(texts)
    run = nearkin.dedup(texts, out=tmp_path / "out")
    with nearkin.Collection.open(tmp_path / "matter", create=True) as matter:
        matter.add([("a", FAST), ("b", f"{FAST} again")])
        labels, text = [("a", "x"), ("b", "y")], f"{FAST} again and again"
        stored = [
            matter.similar("b"), matter.versions("b"), matter.history("b"), matter.groups(), matter.conflicts(labels),
            matter.documents(), matter.search("again"), matter.check(text),
        ]  # fmt: skip
    return [
        *stored,
        run, nearkin.pairs(RECORDS, [*RECORDS], min_occurrences=1), signed, nearkin.neighbours(signed),
        nearkin.families(texts), nearkin.audit(run), nearkin.plan(texts), nearkin.plan_pairs(1000, 1000),
    ]  # fmt: skip


def test_every_result_is_frames(tmp_path: Path, texts: Path) -> None:
    for result in every_result(tmp_path, texts):
        first = getattr(result, table_names(type(result))[0])
        assert isinstance(first, pa.Table)
        assert list(result.to_pandas().columns) == result.to_polars().columns == first.column_names
        assert len(result.to_pandas()) == len(result.to_polars()) == len(first)
        with pytest.raises(ParameterError, match=r"must be one of"):
            result.to_pandas("nothing")
        assert repr(result).startswith(f"{type(result).__name__}(")
        assert len(repr(result)) < 220


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_a_package_that_is_not_installed(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    result = nearkin.dedup(["a b c"])
    monkeypatch.setitem(__import__("sys").modules, package, None)
    with pytest.raises(nearkin.NearkinError, match=f"pip install {package}") as caught:
        getattr(result, f"to_{package}")()
    assert isinstance(caught.value, ImportError)


def test_a_subclass_comes_back_as_it_is() -> None:
    class Own(pd.DataFrame):
        @property
        def _constructor(self) -> type[pd.DataFrame]:
            return Own

    assert type(nearkin.dedup(Own(RECORDS)).kept) is Own


def test_a_password_is_not_shown() -> None:
    with pytest.raises(ParameterError, match="a collection has its documents") as raised:
        nearkin.audit("postgresql://ada:secret@host/matter", documents=RECORDS)
    assert "secret" not in str(raised.value)


def test_compared_texts_are_shown_in_a_line() -> None:
    lease = "The tenant shall pay the rent of {} crowns on the first day of each month to the landlord, without delay."
    found = nearkin.compare(lease.format(900), lease.format(950))
    assert repr(found) == "ComparedTexts(1 difference; Jaccard 0.545, edit 0.990)"
