"""Names of files, and why the system refuses one."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from nearkin.errors import OutputError, SourceError
from nearkin.paths import check_input, check_output, on_disk, printable, shown_path

URLS = [
    "s3://bucket/x",
    "gs://b",
    "hdfs:///x",
    "https://host/a.jsonl",
    "abfss://c@a.dfs.core.windows.net/x",
    "file:///x",
]
PATHS = ["x", "/x", "./s3/x", "a:b", "C:/x", "s3:", "x:y/z", "über/x", "a//b", "-"]


@pytest.mark.parametrize("url", URLS)
def test_urls_are_refused_as_they_were_typed(url):
    for place in (url, Path(url)):
        with pytest.raises(SourceError, match=r"not supported yet\. Copy the files to this machine") as caught:
            check_input(place)
        assert isinstance(place, Path) or str(caught.value).startswith(f"{url}: ")
        with pytest.raises(OutputError, match=r"not supported yet\. Write to a path of this machine"):
            check_output(place)


def test_a_password_is_not_told():
    with pytest.raises(SourceError) as caught:
        check_input("s3://key:hidden-word@bucket/x")
    assert "hidden-word" not in str(caught.value)


@pytest.mark.parametrize("path", PATHS)
def test_paths_pass(path):
    for place in (path, Path(path)):
        check_input(place)
        check_output(place)


def test_inputs_may_have_any_name():
    check_input(Path("x\udcff"))


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are bytes")
def test_a_name_that_is_not_utf_8_is_found_again_from_its_printed_form(tmp_path):
    name = os.fsdecode(os.fsencode(tmp_path) + b"/odd-\xff\xfe.txt")
    printed = printable(name)
    assert printed == rf"{tmp_path}/odd-\xff\xfe.txt"
    assert on_disk(printed) == printed
    Path(name).touch()
    assert on_disk(printed) == name
    assert shown_path(name) == printed
    Path(printed).touch()
    assert (on_disk(printed), shown_path(name)) == (name, printed)
    escaped = rf"{tmp_path}/odd-\x5cxff\x5cxfe.txt"
    assert (shown_path(printed), on_disk(escaped)) == (escaped, printed)
    Path(name).unlink()
    assert (shown_path(printed), on_disk(printed), on_disk(escaped)) == (printed, printed, printed)
    assert on_disk(rf"{tmp_path}/\x41.txt") == rf"{tmp_path}/\x41.txt"
