"""The page of a comparison, opened in a browser: it fits, asks for nothing from outside, goes from mark to mark."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from chromium import Chromium
from nearkin.reports.comparison.page import comparison_html
from nearkin.stages.differences.comparing import compare_texts

SCREENSHOT_BYTES = 20_000  # a blank page of this size takes 4 kB

# Presses keys and buttons, and asks the browser which difference it stands at.
PROBE = """<script>
const press = (key) => document.dispatchEvent(new KeyboardEvent("keydown", {key}));
const at = () => Number((document.querySelector(".here") || {dataset: {n: 0}}).dataset.n);
const seen = [at()];
for (const key of "nnpp") { press(key); seen.push(at()); }
document.getElementById("next").click(); seen.push(at());
document.getElementById("previous").click(); seen.push(at());
const marked = document.querySelectorAll(".here").length;
document.body.dataset.probe = [seen.join("-"), marked, document.getElementById("place").textContent,
  document.documentElement.scrollWidth - innerWidth, performance.getEntriesByType("resource").length].join("|");
scrollTo(0, 0);
</script>"""


@pytest.fixture(scope="module")
def html() -> str:
    lines = [f"{i}. The tenant pays the rent of {100 + i} crowns on the first day of month {i}." for i in range(300)]
    other = [line.replace("rent of 150", "rent of 250").replace("120 crowns", "120 Crowns") for line in lines]
    other[250:251] = ["x" * 3000, "<script>alert(1)</script> \u202e and two", "lines more"]
    pair = compare_texts("\n".join(lines), "\n".join(other))
    return comparison_html(pair, name_a="n" * 400, name_b="lease, signed", facts=[("Edit similarity", "0.98")])


def test_page_names_nothing_outside_itself(html: str) -> None:
    assert "default-src 'none'" in html
    assert not re.search(r"<link|<iframe|@import|<script src", html)
    assert not re.search(r"(?:src|href|url)\s*[=(]", html.replace("default-src", "").replace("script-src", ""))
    assert "<script>alert" not in html


def browse(chromium: str, html: str, folder: Path, width: int) -> tuple[str, Path]:
    page, picture = folder / "page.html", folder / "page.png"
    page.write_text(html, encoding="utf-8")
    command = [
        chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
        f"--user-data-dir={folder / 'profile'}", f"--window-size={width},900", f"--screenshot={picture}",
        "--dump-dom", page.as_uri(),
    ]  # fmt: skip
    ran = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120, check=False)
    return ran.stdout, picture


@pytest.mark.browser
@pytest.mark.parametrize("width", [1280, 500])
def test_page_fits_and_goes_from_mark_to_mark(html: str, width: int, chromium: str, tmp_path: Path) -> None:
    without_policy = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", html)
    shown, picture = browse(chromium, without_policy.replace("</body>", PROBE + "</body>"), tmp_path, width)
    probe = re.search(r'data-probe="([^"]*)"', shown)
    assert probe
    seen, marked, status, overflow, requests = probe[1].split("|")
    assert seen == "0-1-2-1-3-1-3"
    assert status == "Place 3 of 3"
    assert int(marked) == 4  # a line of A, three of B
    assert int(overflow) <= 0
    assert requests == "0"
    assert picture.stat().st_size > SCREENSHOT_BYTES


@pytest.mark.browser
def test_the_policy_lets_the_page_s_own_script_run(html: str, chromium: str, tmp_path: Path) -> None:
    shown, _ = browse(chromium, html, tmp_path, 1280)
    assert '<div id="tools">' in shown  # the script takes "hidden" away


@pytest.mark.browser
def test_only_the_chosen_kinds_are_marked_and_gone_to(chromium: str, tmp_path: Path) -> None:
    a = "The tenant pays 100 crowns.\nHe does not smoke.\n" + "The same line.\n" * 9 + "Rent is due to Ada Kern."
    b = a.replace("100", "250").replace("not ", "").replace("Kern", "Berg")
    page = tmp_path / "page.html"
    page.write_text(comparison_html(compare_texts(a, b), name_a="a", name_b="b"), encoding="utf-8")
    with Chromium(chromium, tmp_path, width=1024) as browser:
        browser.open(page.as_uri())
        place = "document.getElementById('place').textContent"
        kinds = "[...document.querySelectorAll('#kinds input')].map((box) => box.value).join()"
        assert (browser.js(place), browser.js(kinds)) == ("3 places", "numbers,names,negations")
        browser.js("document.querySelector('#kinds [value=names]').click()")
        browser.js("document.querySelector('#kinds [value=negations]').focus()")
        browser.press(" ")
        assert browser.js(place) == "1 place"
        shown = "[...document.querySelectorAll('.view')].map((view) => view.offsetParent !== null).join()"
        assert browser.js(shown) == "true,false"
        browser.press("n", "n")
        assert browser.js("document.querySelector('.here').textContent").endswith("100]")
        assert browser.errors == []
