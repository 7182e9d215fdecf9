"""``--resume`` after the reading of a folder of documents was interrupted: the line says what is read again."""

from __future__ import annotations

import os

import pytest

from nearkin.runs.progress import Silent
from nearkin.workflows.dedup.files import Delivery, dedup_files
from nearkin.workflows.dedup.options import DedupOptions
from nearkin.workflows.reading.request import ReadingRequest
from nearkin.workflows.resources import Resources


class Said(Silent):
    """What a run says."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, message: str) -> None:
        self.lines.append(message)


def test_files_of_a_folder_count_as_read_when_all_of_them_are(tmp_path, monkeypatch):
    (tmp_path / "in").mkdir()
    for name in ("a", "b", "c"):
        (tmp_path / "in" / f"{name}.txt").write_text(f"A letter about {name}, and about the rain.")
    rename = os.replace

    def cutting(a: str, b: str) -> None:
        if "000000000.json" in str(b):
            raise KeyboardInterrupt
        rename(a, b)

    said = Said()
    asked = ReadingRequest(inputs=[str(tmp_path / "in")]), tmp_path / "out", DedupOptions.of(threshold=0.8)
    monkeypatch.setattr(os, "replace", cutting)
    with pytest.raises(KeyboardInterrupt):
        dedup_files(*asked, delivery=Delivery(report=False), resources=Resources(1))
    monkeypatch.setattr(os, "replace", rename)
    dedup_files(*asked, delivery=Delivery(report=False, resume=True), resources=Resources(1), progress=said)
    (told,) = [line for line in said.lines if line.startswith("--resume")]
    assert told == (
        "--resume: found 0 of 3 files read; continuing with a.txt and 2 more, which count as read when all of them are"
    )
