"""What a run says of standard input that it cannot use, and of standard output that it cannot write."""

from __future__ import annotations

import shlex
import subprocess

import pytest

from commands import command, quick_command
from functional.conftest import Ended
from functional.test_bad_input import assert_refused


@pytest.mark.parametrize(
    ("how", "words"), [("<&-", "standard input is closed"), ("0>file", "Cannot read standard input")]
)
def test_standard_input_that_cannot_be_read(tmp_path, how, words):
    line = f"{shlex.join(command('dedup', '-', '--out', 'out', '-q'))} {how}"
    done = subprocess.run(line, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
    assert_refused(Ended(done.returncode, done.stdout, done.stderr), 3, f"Error: {words}")


def test_a_full_standard_output(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"id": 1, "text": "one two three"}\n')
    with open("/dev/full", "w") as full:
        ran = subprocess.run(
            quick_command("dedup", "a.jsonl", "--out", "out", "--json", "--no-report"),
            cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert ran.returncode == 5, ran.stderr
    assert "standard output" in ran.stderr
    assert (tmp_path / "out/manifest.json").exists()
