"""Run Nearkin on the examples, and keep the pages that it writes: ``python scripts/example_pages.py FOLDER``.

The site shows them as they are, and ``make screenshots`` takes their pictures. The words that the pictures begin with
are kept beside them: if those of a page differ, the picture is out of date, and this script fails.
"""

from __future__ import annotations

import html
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = {
    "report": "clean/report.html",
    "families": "forms/report.html",
    "comparison": "changes.html",
    "pairs": "pairs/report.html",
}
"""Pages by the names of their pictures."""
SHOWN = ROOT / "docs/images/shown.txt"
N_SHOWN = 900
"""Characters of a page that its picture has to show as they are."""
WHEN = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC · took [\d.,]+ \w+")
"""Date and duration of a run: all that differs between two runs."""
CHAINS = (
    ("dedup collection/contracts.jsonl collection/oddities.jsonl --out clean --threshold 0.8 -q",),
    ("families collection/contracts.jsonl --out forms -q",),
    (
        "align train translations/sentences.tsv --source de --target en --out de-en.table -q",
        "pairs --left translations/bulletins.de.jsonl --right translations/bulletins.en.jsonl --table de-en.table "
        "--known same-ids --top 1 --out pairs -q",
    ),
    (
        "add matter collection/contracts.jsonl -q",
        "compare matter nda-00/original nda-00/clause-removed --out changes.html -q",
    ),
)
"""Commands; those of a chain need the ones before them."""


def write_pages(folder: Path) -> dict[str, Path]:
    """Write the results of all commands into a folder, and return the pages among them."""
    for script, out in (("generate.py", "collection"), ("translations.py", "translations")):
        run([sys.executable, str(ROOT / "examples" / script), out], folder)

    def follow(chain: tuple[str, ...]) -> None:
        for command in chain:
            run([sys.executable, "-m", "nearkin", *command.split()], folder)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(follow, CHAINS))
    return {name: folder / page for name, page in PAGES.items()}


def shown(pages: dict[str, Path]) -> str:
    """Return the first words of each page, as a reader sees them."""
    parts = []
    for name, page in pages.items():
        body = page.read_text("utf-8").partition("<body>")[2]
        text = html.unescape(re.sub(r"<(?:svg|script).*?</(?:svg|script)>|<[^>]+>", " ", body, flags=re.DOTALL))
        parts.append(f"{name}: {WHEN.sub('…', ' '.join(text.split()))[:N_SHOWN]}\n")
    return "\n".join(parts)


def run(command: list[str], folder: Path) -> None:
    """Run a command in a folder; exit with its output if it fails."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")


def main(out: Path) -> None:
    """Keep the pages in a folder, under their names."""
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        pages = write_pages(Path(name))
        for page, written in pages.items():
            shutil.copyfile(written, out / f"{page}.html")
        if shown(pages) != SHOWN.read_text("utf-8"):
            sys.exit(f"The pictures beside {SHOWN} show other words than their pages: make screenshots")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
