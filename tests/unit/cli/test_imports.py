"""What a command loads: each library costs its start so long."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from nearkin.cli.main import run

ASKED = {
    "jinja2", "numba", "numpy", "py4j", "pyarrow", "pydantic", "pyspark", "rapidfuzz", "rich", "scipy", "sqlalchemy",
    "starlette",
}  # fmt: skip
QUESTION = {"numpy", "pyarrow", "rich", "sqlalchemy"}
"""Libraries of a question to a collection."""
LOADING = """
import atexit, sys
from nearkin.cli.main import run
atexit.register(lambda: open("loaded.txt", "w").write(" ".join(sys.modules)))
run(sys.argv[1:])
"""
DOCUMENTS = [f"{i} is the number of this document, and {i * i} is its square, which nobody needs" for i in range(100)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("loaded")
    lines = [json.dumps({"id": f"d{i}", "text": text}) for i, text in enumerate(DOCUMENTS)]
    (folder / "in.jsonl").write_text("\n".join(lines))
    (folder / "question.txt").write_text(DOCUMENTS[5])
    with pytest.raises(SystemExit):
        run(["add", str(folder / "matter"), str(folder / "in.jsonl"), "-q"])
    return folder


@pytest.mark.parametrize(
    ("arguments", "allowed"),
    [
        (["--help"], set()),
        (["dedup", "--help"], set()),
        (["info", "matter"], QUESTION),
        (["check", "matter", "question.txt"], QUESTION | {"rapidfuzz"}),
        (["compare", "question.txt", "in.jsonl"], {"numpy", "pyarrow", "rich", "rapidfuzz"}),
        (["dedup", "in.jsonl", "--out", "out", "--no-report", "-q"], {"numpy", "pyarrow", "rich"}),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_a_command_loads_what_it_needs(arguments, allowed, folder) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", LOADING, *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    assert ended.returncode in (0, 10), ended.stderr
    assert set((folder / "loaded.txt").read_text().split()) & ASKED <= allowed
