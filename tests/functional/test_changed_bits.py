"""A bit that changed in what a run wrote is noticed: in its tables, its manifest, and the work it goes on with."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from functional.conftest import nearkin_done, nearkin_here, run_here, write_jsonl
from nearkin.errors import RunError, SourceError
from nearkin.stages.signatures.statistics import Statistics
from nearkin.workflows.auditing.audit import AuditOptions, audit
from nearkin.workflows.dedup.regrouping import regroup
from nearkin.workflows.signing.signature_file import SignatureFile
from oracles.texts import versions

TABLES = ("documents.parquet", "pairs.parquet", "groups.parquet", "problems.parquet", "manifest.json")


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> str:
    texts = versions(5, n_bases=25, n_words=60, n_versions=3, max_edits=5)
    rows: list[dict[str, object]] = [{"id": f"d{i}", "text": text} for i, text in enumerate(texts)]
    path = tmp_path_factory.mktemp("in") / "in.jsonl"
    write_jsonl(path, rows)
    with open(path, "a") as file:
        file.write("{broken\n")
    return str(path)


@pytest.fixture(scope="module")
def finished(small, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("run") / "out"
    run_here([small], out)
    return out


def flipped(path: Path, n: int) -> Iterator[int]:
    """The file with one bit changed, at ``n`` places spread over it, one after another; then as it was."""
    before = path.read_bytes()
    times = os.stat(path).st_mtime_ns
    try:
        for i in range(n):
            place = (len(before) - 1) * i // max(1, n - 1)
            changed = bytearray(before)
            changed[place] ^= 1 << (i * 5 % 8)
            path.write_bytes(changed)
            yield place
    finally:
        path.write_bytes(before)
        os.utime(path, ns=(times, times))


@pytest.mark.parametrize("name", TABLES)
def test_tables_of_a_run(finished, tmp_path, name):
    """Whatever the bit is: in a page, in the schema, in a statistic that nobody reads."""
    out = shutil.copytree(finished, tmp_path / "out")
    for place in flipped(out / name, 60):
        for look in (lambda: regroup(out, threshold=0.9, report=False), lambda: audit(out, AuditOptions(sample=5))):
            with pytest.raises(RunError) as refused:
                look()
            assert name in str(refused.value) or "damaged" in str(refused.value), place
    regroup(out, threshold=0.9, report=False)
    ended = nearkin_done("audit", out, "--sample", "5")
    for _ in flipped(out / name, 1):
        ended = nearkin_here("regroup", out, "--threshold", "0.95")
        assert (ended.code, ended.out) == (5, "")
        ended.assert_clean()


def test_files_of_signatures_and_statistics(small, tmp_path):
    out = tmp_path / "signatures.parquet"
    nearkin_done("sign", small, "--out", out, "--method", "minhash", "--bits", "64", "-q")
    whole = SignatureFile.load(out)
    n_noticed = 0
    for _ in flipped(out, 150):
        try:
            found = SignatureFile.load(out)
        except SourceError:
            n_noticed += 1
        else:
            assert found.about == whole.about
            assert found.documents.equals(whole.documents)
            assert (found.signatures.packed == whole.signatures.packed).all()
    assert n_noticed > 60
    statistics = tmp_path / "statistics.parquet"
    nearkin_done("statistics", small, "--out", statistics, "-q")
    told = Statistics.load(statistics).fingerprint
    n_noticed = 0
    for _ in flipped(statistics, 60):
        try:
            assert Statistics.load(statistics).fingerprint == told
        except SourceError:
            n_noticed += 1
    assert n_noticed > 40
