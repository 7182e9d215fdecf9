"""report.html, opened in a browser: it shows itself, fits the window, and asks for nothing from outside."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

SCREENSHOT_BYTES = 20_000  # a blank page of this size takes 4 kB

# Added to a copy of the page, to ask the browser what became of it.
PROBE = """<script>
const page = document.documentElement, box = (e) => e.getBoundingClientRect();
const find = document.getElementById("find"), entries = [...document.querySelectorAll("[data-find]")];
const seen = () => entries.filter((e) => !e.hidden).length;
const all = seen();
const look = (words) => { find.value = words; find.dispatchEvent(new Event("input")); };
look("no such words");
const none = seen();
look(document.querySelector("tbody[data-find] bdi").textContent.toUpperCase());
const some = seen();
look("");
document.body.dataset.probe = JSON.stringify({
  overflow: page.scrollWidth - innerWidth,
  figures: [...document.querySelectorAll("svg")].filter((svg) => box(svg).width > 100 && box(svg).height > 50).length,
  headings: [...document.querySelectorAll("h2")].filter((h) => box(h).height > 0).length,
  all: all, none: none, some: some, again: seen(),
  requests: performance.getEntriesByType("resource").length,
});
</script>"""


@pytest.fixture(scope="module")
def report(collection: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    from nearkin.cli.main import app

    out = tmp_path_factory.mktemp("report") / "out"
    ran = CliRunner().invoke(app, ["dedup", str(collection / "contracts.jsonl"), "--out", str(out), "--quiet"])
    assert ran.exit_code == 0, ran.output
    return (out / "report.html").read_text(encoding="utf-8")


def test_page_names_nothing_outside_itself(report: str) -> None:
    assert "default-src 'none'" in report
    assert not re.search(r"<script.+src|<link|<iframe|@import", report)
    named = re.findall(r"""(?:src|href|xlink:href|url)\s*(?:=\s*["']?|\()\s*["']?([^"')\s>]+)""", report)
    beside = {"documents.parquet", "pairs.parquet", "groups.parquet", "manifest.json"}
    assert {target for target in named if not target.startswith(("#", "data:"))} <= beside


@pytest.mark.browser
@pytest.mark.parametrize("width", [1280, 500])
def test_page_shows_itself_and_fits(report: str, width: int, chromium: str, tmp_path: Path) -> None:
    page, picture = tmp_path / "probe.html", tmp_path / "page.png"
    without_policy = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", report)
    page.write_text(without_policy.replace("</body>", PROBE + "</body>"), encoding="utf-8")
    command = [
        chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
        f"--user-data-dir={tmp_path / 'profile'}", f"--window-size={width},900", f"--screenshot={picture}",
        "--dump-dom", page.as_uri(),
    ]  # fmt: skip
    ran = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120, check=False)
    probe = re.search(r'data-probe="([^"]*)"', ran.stdout)
    assert probe, ran.stderr[-2000:]
    found = dict(re.findall(r"(\w+)&quot;:(-?\d+)", probe[1]))
    assert int(found["overflow"]) <= 0
    assert int(found["figures"]) >= 2
    assert int(found["headings"]) >= 6
    assert int(found["requests"]) == 0
    assert int(found["none"]) == 0  # what the filter leaves
    assert 0 < int(found["some"]) < int(found["all"]) == int(found["again"])
    assert picture.stat().st_size > SCREENSHOT_BYTES
