"""Load files whose text files change: a run that goes on notices it, and another state is another input."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from functional.conftest import Ended, nearkin_here
from nearkin.workflows.dedup import job


def dedup(path: Path, tmp_path: Path, *options: str) -> Ended:
    return nearkin_here("dedup", path, "--out", tmp_path / "o", "--no-report", "-q", *options)


@pytest.fixture
def production(tmp_path: Path) -> Path:
    """A folder with texts and two equal load files that name them."""
    folder = tmp_path / "vol"
    folder.mkdir()
    for name in ("1", "2"):
        (folder / f"{name}.txt").write_text(f"The tenant shall pay the rent on the first day of month {name}.")
    rows = [["DOCID", "TEXTPATH"], ["A-1", "1.txt"], ["A-2", "2.txt"]]
    for name in ("load.dat", "other.dat"):
        content = "".join("þ" + "þ\x14þ".join(row) + "þ\r\n" for row in rows)
        (folder / name).write_bytes(content.encode("cp1252"))
    return folder


def test_a_text_file_that_was_edited_behind_an_equal_size_and_time(production: Path, tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(job, "write_tables", lambda *asked: 1 / 0)
        with pytest.raises(ZeroDivisionError):  # interrupted
            dedup(production / "load.dat", tmp_path)
    text = production / "2.txt"
    before = text.stat()
    text.write_text(text.read_text().replace("rent", "loan"))
    os.utime(text, ns=(before.st_atime_ns, before.st_mtime_ns))
    ended = dedup(production / "load.dat", tmp_path, "--resume")
    ended.assert_clean()
    assert ended.code == 5
    told = " ".join(ended.err.split())
    assert "load.dat has other bytes" in told
    assert dedup(production / "load.dat", tmp_path, "--overwrite").code == 0
