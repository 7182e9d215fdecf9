"""Results of a finished run, read again."""

from __future__ import annotations

from pathlib import Path

import pytest

from nearkin.errors import RunError
from nearkin.manifests.dedup import DedupManifest
from nearkin.runs.run import JobRun, manifest_if_any, read_manifest, read_results


def finished(place: Path) -> Path:
    run = JobRun(place)
    with run.claimed({"command": "dedup"}, resume=False, overwrite=False):
        (run.results / "documents.parquet").write_bytes(b"a table")
        run.finish(DedupManifest())
    return place


def test_what_was_written_is_read(tmp_path):
    stored = read_results(finished(tmp_path / "run"))
    assert (stored["command"], [*stored["digests"]]) == ("dedup", ["documents.parquet"])
    assert manifest_if_any(tmp_path / "run") == stored
    (tmp_path / "run/documents.parquet").unlink()  # the job that needs it says so
    assert read_results(tmp_path / "run") == stored


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (Path.unlink, "holds no finished run"),
        (a_folder, "holds no finished run"),
        (lambda path: path.write_text("[]"), "manifest.json was changed"),
        (lambda path: path.write_text("{"), r"manifest.json cannot be read \("),
        (lambda path: path.write_bytes(b"\xff"), r"manifest.json cannot be read \("),
        (lambda path: path.write_text("[" * 100_000), r"manifest.json cannot be read \("),
        (lambda path: path.write_text(path.read_text().replace("dedup", "pairs")), "manifest.json was changed"),
        (lambda path: (path.parent / "documents.parquet").write_bytes(b"x"), "documents.parquet was changed"),
    ],
)
def test_a_run_that_is_damaged(tmp_path, damage, words):
    damage(finished(tmp_path / "run") / "manifest.json")
    with pytest.raises(RunError, match=words):
        read_results(tmp_path / "run")


def test_a_run_that_is_not_finished(tmp_path):
    (tmp_path / ".work").mkdir()
    with pytest.raises(RunError, match="is not finished"):
        read_manifest(tmp_path)
    assert manifest_if_any(tmp_path) is None
