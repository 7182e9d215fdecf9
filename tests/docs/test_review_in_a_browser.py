"""The review screen in a browser, by keyboard alone: a document, a tolerance, a comparison, a group, tags, undo."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from chromium import Chromium
from commands import quick_command
from extracted_documents import HEADERS, add_extracted, origin, unread
from nearkin.collection.collection import Collection

pytestmark = pytest.mark.browser
_N_DOCUMENTS = 60


@dataclass(frozen=True)
class Served:
    """A service in a process of its own: each link that it printed."""

    process: subprocess.Popen[str]
    place: Path

    def link(self) -> str:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if found := re.search(r"http://\S+link=\S+", line):
                return found[0]
        raise AssertionError("no link")


@pytest.fixture(scope="module")
def served(collection: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    place = tmp_path_factory.mktemp("review") / "matter"
    lines = (collection / "contracts.jsonl").read_text("utf-8").splitlines()[:_N_DOCUMENTS]
    with Collection.open(place, create=True) as opened:
        opened.add([(one["id"], one["text"]) for one in map(json.loads, lines)], wave="january")
    command = quick_command("serve", place, "--by", "ada")
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        yield Served(process, place)
        process.terminate()


def fits(browser: Chromium) -> bool:
    return browser.js("document.documentElement.scrollWidth <= innerWidth")


def test_the_main_path_by_keyboard(served: Served, chromium: str, tmp_path: Path) -> None:
    with Chromium(chromium, tmp_path) as browser:
        browser.open(served.link())
        browser.wait("document.querySelector('h1')?.textContent.includes('60 documents')")
        assert browser.js("location.pathname") == "/"

        browser.press("/")
        browser.write("nda-00/original")
        browser.press("Enter")
        browser.wait("location.pathname === '/search'")
        browser.press("j", "Enter")
        browser.wait("location.pathname === '/document'")
        browser.wait("document.querySelector('#histogram svg')")
        before = browser.js("document.querySelectorAll('ol.alike li').length")
        browser.press(*"]" * 38)
        browser.wait(f"document.querySelectorAll('ol.alike li').length < {before}")
        browser.press(*"[" * 38)
        browser.wait(f"document.querySelectorAll('ol.alike li').length === {before}")
        browser.press("j", "j", "Enter")
        browser.wait("location.pathname === '/compare' && document.querySelector('#tools:not([hidden])')")
        browser.press("n")
        browser.wait("document.querySelector('.comparison .here')")

        browser.open(browser.js("location.origin") + "/groups")
        browser.js("document.querySelector('form[action=\"/groups/update\"] button').click()")
        browser.wait("document.querySelector('tr[data-row]')")
        browser.press("j", "Enter")
        browser.wait("location.pathname === '/group'")
        browser.wait("document.querySelector('#comparison .comparison')")
        first = browser.js("document.querySelector('#comparison').textContent")
        browser.press("j")
        browser.wait(f"document.querySelector('#comparison').textContent !== {first!r}")

        browser.press("c")
        browser.write("responsive=yes")
        browser.press("Enter")
        browser.wait("document.querySelector('h1').textContent.includes('Would change')")
        browser.wait("document.activeElement.closest('.main')")
        browser.press("Enter")
        browser.wait("document.querySelector('.done')")
        assert "responsive=yes" in browser.js("document.querySelector('.done').textContent")
        browser.press("u")
        browser.wait("document.querySelector('.done')?.textContent.includes('undo activity 1')")
        assert browser.js("document.querySelectorAll('.members-list .chip').length") == 0

        origin = browser.js("location.origin")
        with Collection.open(served.place) as opened:
            opened.tag(["nda-00/original"], "responsive", "yes")
            opened.tag(["nda-00/reordered"], "responsive", "no")
        browser.press("g", "x")
        browser.wait("location.pathname === '/conflicts' && document.querySelector('li[data-row]')")
        browser.press("j", "r")
        browser.wait("document.querySelector('h1').textContent.includes('Would change')")
        browser.wait("document.activeElement.closest('.main')")
        browser.press("Enter")
        browser.wait("document.querySelector('.done') && !document.querySelector('li[data-row]')")
        browser.open(origin + "/group?number=1")
        browser.wait("document.querySelector('#comparison .comparison')")

        browser.press("?")
        browser.wait("document.querySelector('dialog[open]')")
        assert "Split" in browser.js("document.querySelector('dialog').textContent")
        browser.press("Escape")
        assert browser.errors == []


@pytest.mark.parametrize(("width", "dark"), [(1024, False), (640, True)])  # 640: 1280 at 200 %
def test_every_screen_fits(served: Served, chromium: str, tmp_path: Path, width: int, dark: bool) -> None:
    with Chromium(chromium, tmp_path, width=width, dark=dark) as browser:
        browser.open(served.link())
        browser.wait("document.querySelector('h1')")
        here = browser.js("location.origin")
        with Collection.open(served.place) as opened:  # a mail with a long line, and a file without a text
            mail = origin("a", kind="eml", mail=replace(HEADERS, subject="Re: " + "lease" * 60))
            add_extracted(opened, [("a.eml", "Yes.", mail, None), ("b" * 200 + ".pdf", None, unread("b"), None)])
        browser.open(here + "/threads")
        browser.js("document.querySelector('form[action=\"/threads/update\"] button').click()")
        browser.wait("document.querySelector('tr[data-row]')")
        for path in (
            "/", "/document?id=nda-00%2Foriginal", "/compare?a=nda-00%2Foriginal&b=nda-00%2Freordered", "/groups",
            "/group?number=1", "/conflicts", "/check-in", "/history?id=nda-00%2Foriginal", "/since", "/defensibility",
            "/list", "/search?q=silence", "/log", "/threads", "/thread?id=a.eml", "/exceptions", "/jobs", "/users",
            "/no-such-page",
        ):  # fmt: skip
            browser.open(here + path)
            browser.wait("document.querySelector('h1')")
            assert fits(browser), path
        assert all("404" in one for one in browser.errors), browser.errors
