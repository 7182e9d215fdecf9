"""The page of ``nearkin pairs``, opened in a browser: it fits and asks for nothing from outside."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from translated_corpus import translated_corpus

SCREENSHOT_BYTES = 20_000  # a blank page of this size takes 4 kB

# Finds the last pair, which is folded; then unfolds all, and asks the browser whether it fits and what it loaded.
PROBE = """<script>
const rows = [...document.querySelectorAll(".matches [data-find]")], find = document.getElementById("find");
find.value = rows[rows.length - 1].children[1].textContent;
find.dispatchEvent(new Event("input"));
const shown = rows.filter((row) => row.checkVisibility()).length;
find.value = "";
find.dispatchEvent(new Event("input"));
const unfiltered = rows.filter((row) => row.checkVisibility()).length;
for (const part of document.querySelectorAll("details")) part.open = true;
const page = document.documentElement, bars = [...document.querySelectorAll(".weight")];
document.body.dataset.probe = JSON.stringify({
  overflow: page.scrollWidth - innerWidth, bars: bars.filter((bar) => bar.getBoundingClientRect().width > 1).length,
  figures: [...document.querySelectorAll("svg")].filter((svg) => svg.getBoundingClientRect().width > 200).length,
  found: shown, unfiltered: unfiltered, rows: rows.length,
  requests: performance.getEntriesByType("resource").length,
});
</script>"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    from nearkin.cli.main import app

    folder = tmp_path_factory.mktemp("pairs")
    corpus = translated_corpus(folder, n=60)
    given = ["--left", corpus.left, "--right", corpus.right, "--table", corpus.table, "--left-translated", corpus.right]
    options = ["--known", "same-ids", "--method", "window", "--out", folder / "out", "--quiet"]
    ran = CliRunner().invoke(app, ["pairs", *map(str, [*given, *options])])
    assert ran.exit_code == 0, ran.output
    return (folder / "out/report.html").read_text(encoding="utf-8")


@pytest.mark.browser
@pytest.mark.parametrize("width", [1280, 500])
def test_page_fits(report: str, width: int, chromium: str, tmp_path: Path) -> None:
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
    assert probe
    told = {name: int(value) for name, value in re.findall(r"(\w+)&quot;:(-?\d+)", probe[1])}
    assert told["overflow"] <= 0
    assert told["bars"] > 50
    assert told["found"] == 1
    assert told["found"] < told["unfiltered"] < told["rows"]  # folded again
    assert told["figures"] == 3
    assert told["requests"] == 0
    assert picture.stat().st_size > SCREENSHOT_BYTES
