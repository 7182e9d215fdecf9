"""The folder of work belongs to one run, and to one process at a time."""

from __future__ import annotations

import pytest

from nearkin.errors import OutputExistsError, ResumeError, RunError
from nearkin.spark.work import claimed

NO_SESSION = None  # it is asked only where no folder is named


def test_one_process_at_a_time(tmp_path):
    with claimed(NO_SESSION, tmp_path / "work", {"a": 1}, resume=False, of="f") as folder:
        assert folder == tmp_path / "work"
        with (
            pytest.raises(RunError, match=r"Another run is writing to .*/work\. .* choose another work folder\."),
            claimed(NO_SESSION, folder, {"a": 1}, resume=True, of="f"),
        ):
            pass
    with claimed(NO_SESSION, folder, {"a": 1}, resume=True, of="f"):
        pass
    with (
        pytest.raises(OutputExistsError, match="is not empty"),
        claimed(NO_SESSION, folder, {"a": 1}, resume=False, of="f"),
    ):
        pass
    assert [one.name for one in folder.iterdir()] == ["run.json"]


@pytest.mark.parametrize("stored", ["", "[]", "{", '{"a": 2}'])
def test_what_another_run_was(stored, tmp_path):
    (tmp_path / "run.json").write_text(stored, encoding="utf-8")
    with (
        pytest.raises(ResumeError, match="cannot be resumed"),
        claimed(NO_SESSION, tmp_path, {"a": 1}, resume=True, of="f"),
    ):
        pass
