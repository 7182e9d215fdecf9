"""Coding by keyboard alone: key presses a document, the next text, calls made twice, and a service that is killed."""

from __future__ import annotations

import json
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from accessibility import faults
from chromium import Chromium
from commands import quick_command
from nearkin.collection.collection import Collection
from prefork import KILL

pytestmark = pytest.mark.browser
LAYOUT = """
[[fields]]
name = "responsive"
kind = "yes-no"
required = true
colours = ["green", "grey"]

[[fields]]
name = "privileged"
values = ["no", "counsel"]
colours = ["grey", "red"]
sensitive = true
"""
_ID = "document.querySelector('#code [name=id]')?.value"


class Reviewer:
    """A browser of one reviewer and its service; counts key presses, and measures times to the next text."""

    def __init__(self, place: Path, name: str, browser: Chromium) -> None:
        self.place, self.name, self.browser, self.keys = place, name, browser, 0
        self.times, self.process = list[float](), None

    def begin(self, queue: str) -> None:
        """Start a service, sign in, and open a queue."""
        self.process = subprocess.Popen(
            quick_command("serve", self.place, "--by", self.name), stdout=subprocess.PIPE, text=True
        )
        link = next(found[0] for line in self.process.stdout if (found := re.search(r"http://\S+link=\S+", line)))
        self.browser.open(link)
        self.browser.wait("document.querySelector('h1')")
        self.browser.open(self.browser.js("location.origin") + queue)
        self.browser.wait(f"{_ID} !== undefined")

    def press(self, *keys: str) -> None:
        self.keys += len(keys)
        self.browser.press(*keys)

    def code(self, *keys: str) -> str:
        """Press keys and Enter; wait for the next text; return the document."""
        doc_id = self.browser.js(_ID)
        self.press(*keys)
        started = time.perf_counter()
        self.press("Enter")
        self.browser.wait(
            f"document.readyState === 'complete' && ({_ID} ?? {json.dumps(doc_id)}) !== {json.dumps(doc_id)}"
        )
        self.times.append(time.perf_counter() - started)
        return str(doc_id)

    def end(self) -> None:
        self.process.send_signal(KILL)
        self.process.wait()


@contextmanager
def reviewing(place: Path, name: str, chromium: str, folder: Path) -> Iterator[Reviewer]:
    (folder / name).mkdir()
    with Chromium(chromium, folder / name, width=1400, height=950) as browser:
        reviewer = Reviewer(place, name, browser)
        try:
            yield reviewer
        finally:
            reviewer.end()


def matter_of(folder: Path, n_documents: int) -> Path:
    """A collection with a batch of documents for each of two reviewers, and the fields."""
    with Collection.open(folder / "matter", create=True) as opened:
        texts = [
            (f"{'ab'[i % 2]}{i:04d}", f"Letter {i} about a delivery.\n\n" + "Terms. " * (i % 90))
            for i in range(n_documents)
        ]
        opened.add(texts)
        opened.coding(LAYOUT, by="ada")
    return folder / "matter"


@pytest.mark.parametrize("n_each", [12, pytest.param(200, marks=pytest.mark.soak)])
def test_two_reviewers_code_with_three_keys_a_document_and_lose_no_call(n_each, chromium: str, tmp_path: Path) -> None:
    place, expected = matter_of(tmp_path, 2 * n_each), dict[str, dict[str, str]]()
    with reviewing(place, "ada", chromium, tmp_path) as ada, reviewing(place, "ben", chromium, tmp_path) as ben:
        ada.begin("/code?id=a*")
        ben.begin("/code?id=b*")
        for i in range(n_each - 1):
            if i in (n_each // 3, 2 * n_each // 3):  # killed, with calls stored before
                ada.end()
                ada.begin("/code?id=a*")
            yes, counsel = i % 3 == 0, i % 5 == 0
            for reviewer in (ada, ben):
                doc_id = reviewer.code("1" if yes else "2", "4" if counsel else "3")
                expected[doc_id] = {
                    "responsive": "yes" if yes else "no", "privileged": "counsel" if counsel else "no"
                }  # fmt: skip
        assert ada.keys + ben.keys == 3 * 2 * (n_each - 1)
        assert not faults(ada.browser)
        ada.browser.resize(1000, 700)
        assert ada.browser.js("document.documentElement.scrollWidth <= innerWidth")
    with Collection.open(place) as opened:
        assert {one: dict(opened.details(one).tags) for one in expected} == expected
        calls = [(one.by, one.changes[0].subject) for one in opened.log() if one.kind == "code"]
        assert sorted(calls) == sorted((("ada" if one[0] == "a" else "ben"), one) for one in expected)
    times = sorted(ada.times + ben.times)
    print(f"key to next text: p50 {times[len(times) // 2]:.3f} s, p95 {times[int(len(times) * 0.95)]:.3f} s")


def test_a_call_that_would_replace_another_is_announced(chromium: str, tmp_path: Path) -> None:
    place = matter_of(tmp_path, 4)
    with reviewing(place, "ada", chromium, tmp_path) as ada, reviewing(place, "ben", chromium, tmp_path) as ben:
        ada.begin("/code?id=a*")
        ben.begin("/code?id=a*")
        first = ada.code("1", "4")
        ben.press("1", "3", "Enter")
        ben.browser.wait("document.querySelector('h1').textContent.startsWith('Not stored')")
        assert "ada" in ben.browser.js("document.querySelector('table').textContent")
    with Collection.open(place) as opened:
        assert opened.details(first).tags == {"responsive": "yes", "privileged": "counsel"}


def test_keys_choose_go_back_and_skip(chromium: str, tmp_path: Path) -> None:
    place = matter_of(tmp_path, 6)
    with reviewing(place, "ada", chromium, tmp_path) as ada:
        ada.begin("/code")
        browser, checked = ada.browser, "[...document.querySelectorAll('#code :checked')].map((one) => one.value)"
        ada.press("4", "3", "1")
        assert browser.js(checked) == ["yes", "no"]
        ada.press("3")  # what is not required is taken back
        assert browser.js(checked) == ["yes"]
        first = ada.code()
        ada.press("Shift+Enter")
        browser.wait(f"{_ID} === {json.dumps(first)}")
        ada.press("j")
        browser.wait(f"{_ID} === 'a0002'")
        ada.press("Enter")  # a required field has no value
        time.sleep(0.3)
        assert browser.js(_ID) == "a0002"
    with Collection.open(place) as opened:
        assert opened.details(first).tags == {"responsive": "yes"}
        assert opened.details("a0002").tags == {}
