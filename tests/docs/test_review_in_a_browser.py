"""The review screen in a browser, by keyboard alone: a document, a tolerance, a comparison, a group, tags, undo."""

from __future__ import annotations

import json
import re
import subprocess
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from pypdf import PdfReader

import nearkin
from accessibility import faults
from chromium import Chromium
from commands import quick_command
from extracted_documents import HEADERS, add_extracted, origin, unread
from nearkin.collection.collection import Collection
from nearkin.collection.decisions.batches import make_batches
from nearkin.collection.decisions.deciding import tag
from nearkin.collection.decisions.log import ChangeRequest
from nearkin.collection.tolerance import Tolerance

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


WIDTHS = "[...document.querySelectorAll('.adds')].map((one) => one.offsetWidth / one.closest('li').offsetWidth)"
"""Of the texts that members of a group add or lack: shares of the width of their row."""


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
        browser.open(browser.js("location.origin") + PATHS[2])
        browser.wait("document.querySelector('#tools:not([hidden])')")
        browser.press("n")
        n_places = browser.js("document.querySelector('#place').textContent.split(' of ')[1]")
        browser.press("b")
        browser.wait("document.querySelector('.view.both') && document.querySelector('#tools:not([hidden])')")
        browser.press("n", "n")
        assert browser.js("document.querySelector('#place').textContent") == f"Place 2 of {n_places}"
        ticks = browser.js("document.querySelectorAll('#strip .tick').length")
        last = "document.querySelector('#strip .tick:last-of-type')"
        browser.js(f"{last}.dispatchEvent(new MouseEvent('click', {{bubbles: true}}))")
        assert ticks > 1
        assert browser.js(f"{last}.classList.contains('here')")

        browser.open(browser.js("location.origin") + "/groups")
        browser.js("document.querySelector('form[action=\"/groups/update\"] button').click()")
        browser.wait("document.querySelector('tr[data-row]')")
        browser.save_downloads(tmp_path)
        browser.press("o")
        overlay = tmp_path / "groups.zip"
        browser.wait_for(overlay.is_file)
        with zipfile.ZipFile(overlay) as archive:
            lines = archive.read("overlay.dat").decode("utf-8-sig").splitlines()
        assert len(lines) == 1 + 60
        browser.press("j", "Enter")
        browser.wait("location.pathname === '/group'")
        browser.wait("document.querySelector('#comparison .comparison')")
        assert browser.js(f"{WIDTHS}.length && {WIDTHS}.every((share) => share > 0.9)")
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
        browser.press("Alt+u")
        browser.wait("document.querySelector('.done')?.textContent.includes('undo activity 1')")
        assert browser.js("document.querySelectorAll('.members-list .chip').length") == 0

        browser.press("c", "Enter")  # no tag: nothing is sent
        assert browser.js("document.activeElement.id + location.pathname") == "tag/group"
        browser.press("Escape", "m")
        browser.write("2")
        browser.press("Enter")
        browser.wait("document.querySelector('.done')?.textContent.includes('same group: ')")
        assert browser.js("document.querySelectorAll('.done a[href^=\"/group?\"]').length") == 2
        browser.press("Alt+u")
        browser.wait("document.querySelector('.done')?.textContent.includes('undo activity 3')")

        origin = browser.js("location.origin")
        with Collection.open(served.place) as opened:
            opened.tag(["nda-00/original"], "responsive", "yes")
            opened.tag(["nda-00/reordered"], "responsive", "no")
        browser.press("g", "x")
        browser.wait("location.pathname === '/conflicts' && document.querySelector('li[data-row]')")
        browser.press("r")  # the first row is selected
        browser.wait("document.querySelector('h1').textContent.includes('Would change')")
        browser.wait("document.activeElement.closest('.main')")
        browser.press("Enter")
        browser.wait("document.querySelector('.done') && !document.querySelector('li[data-row]')")
        browser.open(origin + "/group?number=1")
        browser.wait("document.querySelector('#comparison .comparison')")

        browser.press("?")
        browser.wait("document.querySelector('dialog[open]')")
        words = browser.js("document.querySelector('dialog').textContent")
        assert ("Split" in words, "Space" in words) == (True, True)
        assert browser.js("document.querySelector('dialog').scrollTop") == 0
        browser.press("Escape")
        assert browser.errors == []


def test_words_typed_into_no_field_change_nothing(served: Served, chromium: str, tmp_path: Path) -> None:
    with Chromium(chromium, tmp_path) as browser, Collection.open(served.place) as opened:
        browser.open(served.link())
        principals = [one.principal for one in opened.groups().groups]
        n_activities = len(opened.log())
        browser.open(browser.js("location.origin") + "/group?number=1")
        browser.wait("document.querySelector('#comparison .comparison')")
        for word in ("responsive", "Proposed", "express undo"):
            browser.press(*word)  # a member is selected
            browser.press("Escape")
        assert browser.js("location.pathname") == "/group"
        assert (len(opened.log()), [one.principal for one in opened.groups().groups]) == (n_activities, principals)
        browser.press("j", "Alt+p")
        browser.wait("document.querySelector('.done')")
        assert opened.log()[-1].kind == "principal"
        browser.press("Alt+u")
        browser.wait("document.querySelector('.done')?.textContent.includes('undo')")
        assert [one.kind for one in opened.log()[n_activities:]] == ["principal", "undo"]


BY_BEN = ChangeRequest(by="ben", may_resolve=False)
PATHS = (
    "/", "/document?id=nda-00%2Foriginal", "/compare?a=nda-00%2Foriginal&b=nda-00%2Freordered", "/groups",
    "/group?number=1", "/group/history?number=1", "/conflicts", "/check-in", "/history?id=nda-00%2Foriginal", "/since",
    "/defensibility", "/list", "/search?q=silence", "/log", "/threads", "/thread?id=a.eml", "/exceptions", "/jobs",
    "/users", "/pairs", "/reports", "/no-such-page", "/representatives", "/groups?min_documents=3",
    "/compare?a=nda-00%2Foriginal&b=nda-00%2Freordered&view=sides", "/since?show=documents",
    "/batches?q=silence", "/privilege-log", "/conflicts?field=privileged",
    "/passage?number=0",
)  # fmt: skip


# Sends a form with a file, and follows it; the address that it leads to.
SENT = """(async () => {
  const form = new FormData(document.querySelector("form[action='%s']"));
  form.set("file", new File(["%s"], "%s"));
  return (await fetch("%s", {method: "POST", body: form})).url;
})()"""


def sent(browser: Chromium, here: str, page: str, action: str, text: str, name: str) -> str:
    browser.open(here + page)
    return str(browser.js(SENT % (action, text, name, action))).removeprefix(here)


@pytest.fixture(scope="module")
def paths(served: Served, chromium: str, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Addresses of all screens, of a collection with mails, files without a text, groups, threads and audits."""
    with Chromium(chromium, tmp_path_factory.mktemp("filling")) as browser:
        return filled(served, browser, signed_in(served, browser))


def signed_in(served: Served, browser: Chromium) -> str:
    """Sign in; the origin of the service."""
    browser.open(served.link())
    browser.wait("document.querySelector('h1')")
    return str(browser.js("location.origin"))


def filled(served: Served, browser: Chromium, here: str) -> list[str]:
    with Collection.open(served.place) as opened:
        mail = origin("a", kind="eml", mail=replace(HEADERS, subject="Re: " + "lease" * 60))
        rows = [("a.eml", "Yes.", mail, None), *((f"{'b' * 200}{i}.pdf", None, unread(i), None) for i in "bc")]
        add_extracted(opened, rows)
        store, ids = opened.opened.store, ["a.eml", "nda-00/original"]
        opened.tag(ids, "privileged", "counsel", by="ada")
        tag(store, ids, "privileged", "no", group=None, tolerance=Tolerance.of(), options=BY_BEN)
        make_batches(store, ids, "a name " * 12, 1, options=BY_BEN)
    nearkin.passages(served.place, min_words=8, store=True)
    for path, shown in (
        ("/groups", "tr[data-row]"),
        ("/threads", "tr[data-row]"),
        ("/defensibility", "h3 ~ dl.facts"),
    ):
        browser.open(here + path)
        browser.js("document.querySelector('main form button').click()")
        browser.wait(f"document.querySelector('{shown}') || location.pathname === '/jobs'")
    browser.wait("![...document.querySelectorAll('#jobs td')].some((one) => one.textContent === 'running')")
    checked = sent(browser, here, "/check-in", "/check-in/file", "A text that nobody has stored.", "a.txt")
    again = sent(browser, here, "/exceptions", "/exceptions/read", "Some text.", f"{'b' * 200}b.pdf")
    assert ("key=" in checked, "job=" in again) == (True, True)
    return [*PATHS, checked, again]


@pytest.mark.parametrize(("width", "dark"), [(1024, False), (640, True)])  # 640: 1280 at 200 %
def test_every_screen_fits(
    served: Served, paths: list[str], chromium: str, tmp_path: Path, width: int, dark: bool
) -> None:
    with Chromium(chromium, tmp_path, width=width, dark=dark) as browser:
        here = signed_in(served, browser)
        for path in paths:
            browser.open(here + path)
            browser.wait("document.querySelector('h1')")
            assert fits(browser), path
            assert dark or faults(browser) == [], path
        assert all("404" in one for one in browser.errors), browser.errors


@pytest.mark.soak
@pytest.mark.parametrize("width", [1024, 640])
def test_every_screen_is_accessible_in_the_dark(
    served: Served, paths: list[str], chromium: str, tmp_path: Path, width: int
) -> None:
    with Chromium(chromium, tmp_path, width=width, dark=True) as browser:
        here = signed_in(served, browser)
        for path in paths:
            browser.open(here + path)
            browser.wait("document.querySelector('h1')")
            assert faults(browser) == [], path


def test_faults_are_found(chromium: str, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(
        "<!doctype html><title>t</title><html lang=en><main><h1>t</h1><img src=x><input><p style='color:#aaa'>pale</p>"
        "<p><a href=x style='display:inline-block;height:8px'>a</a> <a href=y style='display:inline-block'>b</a></main>"
    )
    with Chromium(chromium, tmp_path) as browser:
        browser.open(page.as_uri())
        assert {one[0] for one in faults(browser)} == {"image-alt", "label", "color-contrast", "target-size"}


@pytest.mark.usefixtures("paths")
def test_the_page_of_defensibility_is_printed_whole(served: Served, chromium: str, tmp_path: Path) -> None:
    with Chromium(chromium, tmp_path, dark=True) as browser:
        browser.open(signed_in(served, browser) + "/defensibility")
        browser.wait("document.querySelector('.digest')")
        told = browser.js("[...document.querySelectorAll('.digest code')].map((one) => one.textContent)")
        printed = PdfReader(browser.pdf(tmp_path / "page.pdf"))
    words = "".join("".join(page.extract_text().split()) for page in printed.pages)
    assert len(told) == 3  # a digest, the command that verifies it, and the digest of the log
    for expected in (*("".join(one.split()) for one in told), "truepairs", "Bywording", "Versions", "uvicorn"):
        assert expected in words, expected
    assert "Check-in" not in words  # links and buttons of the screen
    assert "Checktheintegrity" not in words
