"""Results of Nearkin in a folder of documents are left out, and named; what is named outright is read."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from nearkin.stages.documents.sources import resolve_sources


def finished(folder: Path) -> None:
    (folder / "manifest.json").write_text(json.dumps({"nearkin": "0.1.0", "command": "dedup"}))


def measured(folder: Path) -> None:
    (folder / "summary.json").write_text(json.dumps({"nearkin": "0.1.0"}))


def unfinished(folder: Path) -> None:
    (folder / ".work").mkdir()
    (folder / ".work/run.json").write_text("{}")


def stored(folder: Path) -> None:
    (folder / "nearkin.sqlite").write_bytes(b"SQLite format 3\0")


@pytest.fixture
def documents(tmp_path, monkeypatch) -> Callable[..., None]:
    """A folder of documents with a folder of something in it."""
    monkeypatch.chdir(tmp_path)

    def make(fill: Callable[[Path], None]) -> None:
        for name in ("docs/a.txt", "docs/deep/b.txt", "docs/deep/out/report.txt", "docs/deep/out/kept/a.txt"):
            path = Path(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"The text of {name}.")
        fill(Path("docs/deep/out"))

    return make


def read(*arguments: str, file_format: str | None = None) -> tuple[list[str], list[tuple[str, tuple[str, ...]]]]:
    found = resolve_sources(arguments, file_format=file_format)
    own = [(one.place, one.paths) for one in found.not_read if one.reason == "results of Nearkin"]
    return [source.path for source in found.sources], own


@pytest.mark.parametrize("fill", [finished, measured, unfinished, stored])
def test_results_are_left_out_and_named(documents, fill):
    documents(fill)
    out = ("docs/deep/out",)
    assert read("docs") == (["docs/a.txt", "docs/deep/b.txt"], [("docs", out)])
    assert read("docs/**") == (["docs/a.txt", "docs/deep/b.txt"], [("docs/**", out)])
    assert read("docs/*/*") == (["docs/deep/b.txt"], [("docs/*/*", out)])
    assert read("do*/d*") == (["docs/deep/b.txt"], [("docs/deep", out)])


@pytest.mark.parametrize("fill", [finished, stored])
def test_what_is_named_is_read(documents, fill):
    documents(fill)
    assert "docs/deep/out/report.txt" in read("docs/deep/out", file_format="file")[0]
    assert read("docs/deep/out/r*.txt") == (["docs/deep/out/report.txt"], [])
    assert read("docs/deep/out/report.txt") == (["docs/deep/out/report.txt"], [])
    assert read("docs/deep/out/kept") == (["docs/deep/out/kept/a.txt"], [])
