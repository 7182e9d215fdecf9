"""The demo runs on what this machine has, and shows groups with their differences."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from docs.pages import ROOT


def test_demo_shows_groups_and_where_to_look(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, ROOT / "examples/demo.py", "--out", "demo-out"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert "kept (principal)" in ran.stdout
    assert "{+" in ran.stdout
    assert (tmp_path / "demo-out/report.html").stat().st_size > 10_000
