"""The page of families, opened in a browser: it fits, asks for nothing from outside, and finds a document by its id."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

SCREENSHOT_BYTES = 20_000  # a blank page of this size takes 4 kB

# Types an id into the search box, chooses a relation, and asks the browser what became of it.
PROBE = """<script>
const page = document.documentElement, all = (what) => [...document.querySelectorAll(what)];
const shown = (what) => all(what).filter((part) => part.getBoundingClientRect().height > 0).length;
const overflow = page.scrollWidth - innerWidth, before = shown("details.family");
const find = document.getElementById("find"), relation = document.getElementById("relation");
find.value = "NDA-00/reordered"; find.dispatchEvent(new Event("input"));
const found = shown("details.family"), hits = shown("li.hit");
find.value = "no such id"; find.dispatchEvent(new Event("input"));
const none = shown("details.family"), said = document.getElementById("found").textContent;
find.value = ""; relation.value = "exact copy"; relation.dispatchEvent(new Event("change"));
const others = all("li.kin").filter((row) => !row.hidden && row.dataset.relation !== "exact copy").length;
relation.value = ""; relation.dispatchEvent(new Event("change"));
document.body.dataset.probe = JSON.stringify({
  overflow, before, found, hits, none, others, after: shown("details.family"), said: said.length,
  requests: performance.getEntriesByType("resource").length,
});
</script>"""


@pytest.fixture(scope="module")
def report(collection: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    from nearkin.cli.main import app

    out = tmp_path_factory.mktemp("report") / "out"
    ran = CliRunner().invoke(app, ["families", str(collection / "contracts.jsonl"), "--out", str(out), "--quiet"])
    assert ran.exit_code == 0, ran.output
    return (out / "report.html").read_text(encoding="utf-8")


def test_page_names_nothing_outside_itself(report: str) -> None:
    assert "default-src 'none'" in report
    assert not re.search(r"<link|<iframe|@import|<script src", report)
    named = re.findall(r"""(?:src|href|xlink:href|url)\s*(?:=\s*["']?|\()\s*["']?([^"')\s>]+)""", report)
    assert [target for target in named if not target.startswith(("#", "data:"))] == []


def browse(chromium: str, page: Path, width: int, folder: Path) -> tuple[str, Path]:
    picture = folder / "page.png"
    command = [
        chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
        f"--user-data-dir={folder / 'profile'}", f"--window-size={width},900", f"--screenshot={picture}",
        "--dump-dom", page.as_uri(),
    ]  # fmt: skip
    ran = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120, check=False)
    return ran.stdout, picture


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
    assert told["before"] == told["after"] > 5
    assert told["found"] == told["hits"] == 1
    assert told["none"] == told["others"] == told["requests"] == 0
    assert told["said"] > 10
    assert picture.stat().st_size > SCREENSHOT_BYTES


@pytest.mark.browser
def test_the_policy_lets_the_page_s_own_script_run(report: str, chromium: str, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(report, encoding="utf-8")
    shown, _ = browse(chromium, page, 1280, tmp_path)
    assert '<form id="tools">' in shown  # the script takes "hidden" away
