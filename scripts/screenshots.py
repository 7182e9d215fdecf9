"""Take the pictures of the documentation, of the example collection and the benchmark's table: ``make screenshots``.

Pages are drawn by chromium, the chart from the figures of ``benchmarks/README.md``: a picture shows what the program
and the benchmark show.
"""

from __future__ import annotations

import contextlib
import io
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import altair as alt
import vl_convert

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
PAGES = {
    "report": ("clean/report.html", 1280, 1000),
    "families": ("forms/report.html", 1280, 900),
    "comparison": ("changes.html", 1280, 700),
    "pairs": ("pairs/report.html", 1280, 1000),
}
COMMANDS = (
    "dedup collection/contracts.jsonl collection/oddities.jsonl --out clean --threshold 0.8 -q",
    "families collection/contracts.jsonl --out forms -q",
    "add matter collection/contracts.jsonl -q",
    "compare matter nda-00/original nda-00/clause-removed --html changes.html -q",
    "align train translations/sentences.tsv --source de --target en --aligner model-1 --out de-en.table -q",
    "pairs --left translations/bulletins.de.jsonl --right translations/bulletins.en.jsonl --table de-en.table "
    "--known same-ids --top 1 --out pairs -q",
)
ROW = re.compile(r"^\| ([^|]+) \| ([\d.]+)[^|]* \|[^|]*\|[^|]*\| ([\d.]+) \| ([\d.]+|–) \|", re.MULTILINE)


def take_pages() -> None:
    """Run the commands on the examples, and photograph their pages."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None) or sys.exit("There is no chromium: make browser")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for script, out in (("generate.py", "collection"), ("translations.py", "translations")):
            _run([sys.executable, str(ROOT / "examples" / script), out], folder)
        for command in COMMANDS:
            _run([sys.executable, "-m", "nearkin", *command.split()], folder)
        for picture, (page, width, height) in PAGES.items():
            options = ["--headless", "--no-sandbox", "--hide-scrollbars", "--disable-gpu", f"--user-data-dir={name}/b"]
            size, place = f"--window-size={width},{height}", f"--screenshot={IMAGES / picture}.png"
            _run([browser, *options, size, place, (folder / page).as_uri()], folder)


def draw_benchmark() -> None:
    """Draw the table of the benchmark: time as bars, recall and precision beside them."""
    page = (ROOT / "benchmarks/README.md").read_text("utf-8")
    table = page[page.index("| tool |") : page.index("\n\n", page.index("| tool |"))]
    rows = [
        {"tool": tool.strip(), "times": float(times), "words": f"{times} × · recall {recall} · precision {precision}"}
        for tool, times, recall, precision in ROW.findall(table)
    ]
    order = [str(row["tool"]) for row in sorted(rows, key=lambda row: float(str(row["times"])))]
    base = alt.Chart(alt.Data(values=rows)).encode(y=alt.Y("tool:N", sort=order, title=None))
    bars = base.mark_bar().encode(
        x=alt.X("times:Q", title="time of the whole process, as a multiple of Nearkin's"),
        color=alt.condition(alt.datum.tool == "Nearkin", alt.value("#2f6f4f"), alt.value("#b9bdb6")),
    )
    labelled = base.mark_text(align="left", dx=4).encode(x="times:Q", text="words:N")
    chart = (bars + labelled).properties(width=520, title="50,000 documents, found against 24,042 true pairs")
    with contextlib.redirect_stdout(io.StringIO()):
        drawn = vl_convert.vegalite_to_svg(chart.configure_view(stroke=None).to_dict())
    (IMAGES / "benchmark.svg").write_text(drawn, "utf-8")


def _run(command: list[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    draw_benchmark()
    take_pages()
