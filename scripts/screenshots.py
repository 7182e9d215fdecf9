"""Take the pictures of the documentation, of the example collection and the benchmark's table: ``make screenshots``.

Pages are drawn by chromium, the chart from the figures of ``benchmarks/README.md``: a picture shows what the program
and the benchmark show.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from pathlib import Path

from example_pages import SHOWN, run, shown, write_pages
from review_pictures import take_review

from nearkin.reports.plots import element, picture
from nearkin.reports.theme import ACCENT, INK, SOFT, SURFACE

ROOT = Path(__file__).parents[1]
WIDTH = 760  # pixels of the chart
IMAGES = ROOT / "docs" / "images"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SIZES = {"report": (1280, 1000), "families": (1280, 900), "comparison": (1280, 700), "pairs": (1280, 1000)}
ROW = re.compile(r"^\| ([^|]+) \| ([\d.]+)[^|]* \|[^|]*\|[^|]*\| ([\d.]+) \| ([\d.]+|–) \|", re.MULTILINE)


def take_pages(browser: str) -> None:
    """Run the commands on the examples, and photograph their pages."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pages = write_pages(folder)
        SHOWN.write_text(shown(pages), "utf-8")
        for picture, page in pages.items():
            width, height = SIZES[picture]
            options = ["--headless", "--no-sandbox", "--hide-scrollbars", "--disable-gpu", f"--user-data-dir={name}/b"]
            size, place = f"--window-size={width},{height}", f"--screenshot={IMAGES / picture}.png"
            run([browser, *options, size, place, page.as_uri()], folder)


def draw_benchmark() -> None:
    """Draw the table of the benchmark: time as bars, recall and precision beside them."""
    page = (ROOT / "benchmarks/README.md").read_text("utf-8")
    table = page[page.index("| tool |") : page.index("\n\n", page.index("| tool |"))]
    rows = sorted(ROW.findall(table), key=lambda row: float(row[1]))
    slowest = max(float(times) for _, times, *_ in rows)
    title = "Time of the whole process, as a multiple of Nearkin's; 50,000 documents with 24,042 true pairs"
    parts = [element("rect", fill=SURFACE, width=WIDTH, height="100%")]
    parts.append(element("text", title, fill=INK, x=12, y=24, font_size=13, font_weight="bold"))
    for i, (tool, times, recall, precision) in enumerate(rows):
        y, length = 38 + 24 * i, (WIDTH - 430) * float(times) / slowest
        words = f"{times} × · recall {recall} · precision {precision}"
        colour = ACCENT if tool.strip() == "Nearkin" else SOFT
        parts.append(element("text", tool.strip(), fill=INK, x=150, y=y + 14, text_anchor="end", font_size=12))
        parts.append(element("rect", fill=colour, x=158, y=y, width=length, height=20))
        parts.append(element("text", words, fill=INK, x=length + 164, y=y + 14, font_size=12))
    drawn = picture(*parts, width=WIDTH, height=48 + 24 * len(rows), origin=(0, 0), name="benchmark", label=title)
    (IMAGES / "benchmark.svg").write_text(drawn + "\n", "utf-8")


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    draw_benchmark()
    chromium = next(filter(None, map(shutil.which, BROWSERS)), None) or sys.exit("There is no chromium: make browser")
    take_pages(chromium)
    with tempfile.TemporaryDirectory() as name:
        take_review(chromium, Path(name), IMAGES)
