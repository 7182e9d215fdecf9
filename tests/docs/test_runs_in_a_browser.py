"""Runs beside a collection in a browser: pairs decided by keys, and a report that reaches nothing of the service."""

from __future__ import annotations

import json
import re
import subprocess
from contextlib import ExitStack
from pathlib import Path

import pytest

from accessibility import faults
from chromium import Chromium
from commands import quick_command
from nearkin import pairs
from review_client import small_collection

pytestmark = pytest.mark.browser
SIDES = {
    "left": ["harbour ferry island storm captain lantern rope", "garden tenant lease owner key term order"],
    "right": ["harbour ferry island storm captain lantern sail", "garden tenant lease owner key term " + "last" * 60],
}
REACHES = "fetch('/index.json').then(() => 'reached', () => 'refused')"


def test_pairs_are_decided_by_keys_and_a_report_is_in_a_sandbox(chromium: str, tmp_path: Path) -> None:
    small_collection(tmp_path).close()
    for side, texts in SIDES.items():
        lines = [json.dumps({"id": f"{side}-{i}", "text": text}) for i, text in enumerate(texts)]
        (tmp_path / f"{side}.jsonl").write_text("\n".join(lines), "utf-8")
    files = tmp_path / "left.jsonl", tmp_path / "right.jsonl"
    pairs(*files, min_terms=2, min_occurrences=1, out=tmp_path / "run", report=True)
    command = quick_command("serve", tmp_path / "matter", "--by", "ada", "--run", tmp_path / "run")
    with ExitStack() as ends:
        process = ends.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
        ends.callback(process.terminate)
        browser = ends.enter_context(Chromium(chromium, tmp_path, width=640))
        assert process.stdout is not None
        link = re.search(r"http://\S+link=\S+", process.stdout.readline())
        assert link is not None
        browser.open(link[0])
        browser.wait("document.querySelector('h1')")
        browser.press("g", "p")
        browser.wait("document.querySelector('h1').textContent.includes('2 pairs undecided')")
        assert faults(browser) == []
        assert browser.js("document.documentElement.scrollWidth <= innerWidth")
        browser.press("a")
        browser.wait("document.querySelector('h1').textContent.includes('1 pair undecided')")
        browser.press("x")
        browser.wait("document.querySelector('h1').textContent.includes('0 pairs undecided')")
        assert "1 accepted · 1 rejected" in browser.js("document.querySelector('.facts-line').textContent")
        browser.press("g", "r")
        browser.wait("location.pathname === '/reports' && document.readyState === 'complete'")
        assert faults(browser) == []
        assert browser.js(REACHES) == "reached"
        browser.js("document.querySelector('a[href^=\"/reports.html\"]').click()")
        browser.wait(
            "location.pathname === '/reports.html' && !document.getElementById('tools').hidden"
        )  # its script ran
        assert browser.errors == []
        assert browser.js("origin") == "null"
        assert (
            browser.js("getComputedStyle(document.querySelector('.bar')).display") != "inline"
        )  # and its styles count
        assert browser.js(REACHES) == "refused"
        assert browser.js("(() => { try { return document.cookie; } catch (error) { return error.name; } })()") == (
            "SecurityError"
        )
