"""The production of the guide to load files is the same everywhere, and the load file names its texts."""

from __future__ import annotations

import hashlib
import runpy
import sys
from pathlib import Path

import pytest

from docs.pages import ROOT

SHA256 = {
    "ABC.dat": "2966f8a2b622ae7fe0cda7b6d802cea63b900c2b78963c0ffdbc02a79b099d47",
    "ABC.opt": "f028a3957ebed4daddc0a212d4d4127bd4012535349cb2440b0a9656d50914cb",
}


@pytest.fixture(scope="module")
def production(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("production")
    sys.path.insert(0, str(ROOT / "examples"))
    try:
        runpy.run_path(str(ROOT / "examples/production.py"))["write_production"](folder)
    finally:
        sys.path.remove(str(ROOT / "examples"))
    return folder


def test_bytes_are_pinned(production: Path) -> None:
    found = {name: hashlib.sha256((production / name).read_bytes()).hexdigest() for name in SHA256}
    assert found == SHA256


def test_every_text_is_named_in_other_letters(production: Path) -> None:
    lines = (production / "ABC.dat").read_bytes().decode("cp1252").splitlines()
    named = {line.strip("þ").split("þ\x14þ")[-1].removeprefix("TEXT\\") for line in lines[1:]}
    assert {f"{path.stem}.TXT" for path in (production / "TEXT").iterdir()} < named
