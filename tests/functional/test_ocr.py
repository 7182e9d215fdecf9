"""Scans through the commands: --ocr reads them, results say so, and without the language data nothing begins."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import nearkin
from functional.conftest import nearkin_done, nearkin_here
from generator import office_files as make
from nearkin.errors import MissingExtraError
from nearkin.stages.documents.rules import FOLDERS
from page_images import needs_english, png, scan

LEASE = (
    "The tenant pays the rent of 1,250 pounds on the first day of each month, keeps the garden in good order, and "
    "returns the house at the end of the lease as it was at the beginning."
)
OTHER = "It was a dark and stormy night; the rain fell in torrents, except at occasional intervals."


@pytest.fixture(scope="module")
def case(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("ocr") / "case"
    folder.mkdir()
    files = {"lease.docx": make.docx([LEASE]), "scan.pdf": scan(LEASE), "photo.png": png(OTHER)}
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


def flat(text: str) -> str:
    return " ".join(text.split())


@needs_english
def test_a_scan_is_a_copy_of_its_text_and_the_run_says_how_it_was_read(case, tmp_path):
    out = tmp_path / "out"
    told = nearkin_done("dedup", case, "--out", out, "--ocr", "eng")
    assert "extracted from files 3 all completely" in flat(told.out)
    assert "texts by OCR 2 words may be wrong" in flat(told.out)
    rows = {row["id"]: row for row in pq.read_table(out / "documents.parquet").to_pylist()}
    assert rows["scan.pdf"]["group"] == rows["lease.docx"]["group"]
    assert rows["scan.pdf"]["extractor"].startswith("xberg OCR eng ")
    assert "by OCR (eng)" in rows["photo.png"]["warnings"]
    manifest = json.loads((out / "manifest.json").read_text())
    assert (manifest["reading"]["ocr"], manifest["extraction"]["by_ocr"]) == ("eng", 2)
    assert "texts by OCR, in which words may be wrong: 2" in flat((out / "report.html").read_text())
    assert not (out / "exceptions.csv").exists()
    again = nearkin_here("audit", out)  # reads the scans again
    assert again.code == 0, again.err
    nearkin.dedup(case, out=tmp_path / "python", ocr="eng")
    for name in ("documents.parquet", "pairs.parquet", "groups.parquet"):
        assert (tmp_path / "python" / name).read_bytes() == (out / name).read_bytes()


def test_without_the_option_an_exception_names_it(case, tmp_path):
    out = tmp_path / "out"
    told = nearkin_done("dedup", case, "--out", out, "--no-report", "--max-unreadable", "100%")
    assert "OCR" not in told.out
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["reading"]["ocr"] is None
    assert manifest["extraction"]["by_ocr"] is None
    lines = (out / "exceptions.csv").read_text().splitlines()[1:]
    assert len(lines) == 2
    assert all("image only" in line and "use --ocr LANGUAGES" in line for line in lines)


def test_without_language_data_nothing_begins(case, tmp_path):
    out = tmp_path / "out"
    for command in (("dedup", case, "--out", out), ("add", out, case)):
        told = nearkin_here(*command, "--ocr", "xaa")
        assert told.code == 6
        said = flat(told.err)
        assert f"ocr needs the language data of tesseract: xaa.traineddata not found in {', '.join(FOLDERS)}." in said
        assert "apt-get install tesseract-ocr-xaa" in said
        assert not out.exists()
    with pytest.raises(MissingExtraError, match="ocr needs the language data"):
        nearkin.dedup(case, ocr="xaa")
