"""The page of threads, opened in a browser: it fits, asks for nothing from outside, and finds mails."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from docs.pages import ROOT
from docs.test_families_in_a_browser import SCREENSHOT_BYTES, browse
from nearkin.workflows.reading.request import ReadingRequest
from nearkin.workflows.threads.job import thread_files
from nearkin.workflows.threads.judging import ThreadOptions

# Types an id into the search box, chooses a kind of mails, and asks the browser what became of it.
PROBE = """<script>
const page = document.documentElement, all = (what) => [...document.querySelectorAll(what)];
const shown = (what) => all(what).filter((part) => part.getBoundingClientRect().height > 0).length;
const overflow = page.scrollWidth - innerWidth, before = shown("details.thread");
const find = document.getElementById("find"), kind = document.getElementById("kind");
find.value = "28-3.EML"; find.dispatchEvent(new Event("input"));
const threads = shown("details.thread"), found = shown("li.mail");
find.value = "no such id"; find.dispatchEvent(new Event("input"));
const none = shown("details.thread"), said = document.getElementById("found").textContent;
find.value = ""; kind.value = "missing"; kind.dispatchEvent(new Event("change"));
const missing = shown("li.mail"), others = all("li.mail:not(.missing)").filter((row) => !row.hidden).length;
kind.value = ""; kind.dispatchEvent(new Event("change"));
document.body.dataset.probe = JSON.stringify({
  overflow, before, threads, found, none, missing, others, after: shown("details.thread"), said: said.length,
  requests: performance.getEntriesByType("resource").length,
});
</script>"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("mails")
    runpy.run_path(str(ROOT / "examples/mails.py"))["write_mails"](folder)
    inputs = [str(folder / name) for name in ("inbox.mbox", "folders", "sent")]
    thread_files(ReadingRequest(inputs=inputs), folder / "out", ThreadOptions())
    return (folder / "out" / "report.html").read_text(encoding="utf-8")


def test_page_names_nothing_outside_itself(report: str) -> None:
    assert "default-src 'none'" in report
    named = re.findall(r"""(?:src|href|xlink:href|url)\s*(?:=\s*["']?|\()\s*["']?([^"')\s>]+)""", report)
    assert [target for target in named if not target.startswith(("#", "data:"))] == []


@pytest.mark.browser
@pytest.mark.parametrize("width", [1280, 500])
def test_page_fits_and_finds(report: str, width: int, chromium: str, tmp_path: Path) -> None:
    page = tmp_path / "probe.html"
    without_policy = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", report)
    page.write_text(without_policy.replace("</body>", PROBE + "</body>"), encoding="utf-8")
    shown, picture = browse(chromium, page, width, tmp_path)
    probe = re.search(r'data-probe="([^"]*)"', shown)
    assert probe
    told = {name: int(value) for name, value in re.findall(r"(\w+)&quot;:(-?\d+)", probe[1])}
    assert told["overflow"] <= 0
    assert told["before"] == told["after"] == 30
    assert told["threads"] == 1
    assert told["found"] >= 1
    assert told["missing"] == 13
    assert told["none"] == told["others"] == told["requests"] == 0
    assert told["said"] > 10
    assert picture.stat().st_size > SCREENSHOT_BYTES


@pytest.mark.browser
def test_the_policy_lets_the_page_s_own_script_run(report: str, chromium: str, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(report, encoding="utf-8")
    shown, _ = browse(chromium, page, 1280, tmp_path)
    assert '<form id="tools">' in shown  # the script takes "hidden" away
