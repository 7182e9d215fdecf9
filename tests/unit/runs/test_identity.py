"""Differences between two commands name options, files and values as the user wrote them."""

from __future__ import annotations

import pytest

from nearkin.runs.identity import differences

FILE, CHANGED = "10 bytes, changed 2026-01-01", "12 bytes, changed 2026-01-02"


def listed(n_files: int, files: dict[str, str], state: str) -> dict[str, object]:
    return {"n_files": n_files, "files": files, "state": state}


@pytest.mark.parametrize(
    ("was", "now", "told"),
    [
        ({"engine": "local"}, {"engine": "local"}, ""),
        ({"engine": "local"}, {"engine": "spark"}, "--engine was local and is now spark"),
        ({"nearkin": "1"}, {"nearkin": "2"}, "the version of Nearkin was 1 and is now 2"),
        ({"ocr": "eng"}, {}, "--ocr was eng and is now not given"),
        ({"parameters": {"stems": True}}, {"parameters": {"stems": False}}, "--stems was on and is now off"),
        ({"parameters": {"min_terms": 3}}, {"parameters": {"min_terms": 4}}, "--min-terms was 3 and is now 4"),
        (
            {"left_encoding": "utf-8", "right_encoding": "utf-8"},
            {"left_encoding": "cp1252", "right_encoding": "cp1252"},
            "--encoding was utf-8 and is now cp1252",
        ),
        (
            {"extraction_limits": {"time": 30, "disk": 1 << 20}},
            {"extraction_limits": {"time": 60, "disk": 1000}},
            "--extraction-limit disk was 1MiB and is now 1,000 bytes; --extraction-limit time was 30 and is now 60",
        ),
        ({"table": "a"}, {"table": "b"}, "--table is another translation table"),
        ({"table": None}, {"table": "b"}, "--table was not given and is now b"),
        (
            {"parameters": dict.fromkeys("abcde", 1)},
            {"parameters": dict.fromkeys("abcde", 2)},
            "--a was 1 and is now 2; --b was 1 and is now 2; --c was 1 and is now 2; 2 more differences",
        ),
    ],
)
def test_options(was, now, told):
    assert differences(was, now) == told


@pytest.mark.parametrize(
    ("was", "now", "told"),
    [
        (
            listed(1, {"a": FILE}, "x"),
            listed(1, {"a": CHANGED}, "y"),
            f"a in the input has changed: it was {FILE} and is now {CHANGED}",
        ),
        (
            listed(1, {"a": FILE}, "x"),
            listed(1, {"b": FILE}, "y"),
            "a was in the input and no longer is; b was not in the input",
        ),
        (
            listed(2, {"a": FILE, "b": FILE}, "x"),
            listed(2, {"a": FILE, "b": FILE}, "y"),
            "the files of the input come in another order, or are read with another format or other columns",
        ),
        (listed(150, {}, "x"), listed(160, {}, "y"), "the input had 150 files and now has 160"),
        (
            listed(1, {}, "x"),
            listed(1, {}, "y"),
            "what the input names has changed, or is read with another format or other columns",
        ),
    ],
)
def test_files(was, now, told):
    assert differences({"inputs": was}, {"inputs": now}) == told


def test_options_come_before_files_and_a_file_of_pairs_is_in_words():
    was = {"left": {"l.csv": "9 bytes, body, 1700000000000000000"}, "seed": 0}
    now = {"left": {"l.csv": "9 bytes, text, 1700000000000000000"}, "seed": 1}
    assert differences(was, now) == (
        "--seed was 0 and is now 1; l.csv in --left has changed: it was 9 bytes, column body, changed 2023-11-14 "
        "22:13:20+00:00 and is now 9 bytes, column text, changed 2023-11-14 22:13:20+00:00"
    )
