"""Every screen of the review service in a wide, a narrow and a dark window, beside each other in one picture."""

from __future__ import annotations

import sys
from pathlib import Path

from example_pages import ROOT

sys.path.append(str(ROOT / "tests"))
from chromium import Chromium

WINDOWS = ((1400, 950, False), (1000, 700, False), (1400, 950, True))
HEIGHT, GAP = 320, 10
"""Pixels of a window in a picture, and between two."""
SCREENS = {
    "home": ("/", "table.sizes"),
    "search": ("/search?q=confidential", "aside a"),
    "saved": ("/search", "tr[data-row]"),
    "list": ("/list", "tr[data-row]"),
    "document": ("/document?id=nda-00%2Foriginal&q=days", "#histogram svg"),
    "code": ("/code?q=confidential", "#code"),
    "fields": ("/code/layout", "textarea"),
    "batches": ("/batches", "main h1"),
    "groups": ("/groups", "tr[data-row], li[data-row]"),
    "group": ("/group?number=1&member=nda-00%2Fclause-removed", "#comparison .comparison"),
    "compare": ("/compare?a=nda-00%2Foriginal&b=nda-00%2Fclause-removed", "#strip"),
    "representatives": ("/representatives", "li[data-row]"),
    "conflicts": ("/conflicts", "main h1"),
    "threads": ("/threads", "tr[data-row]"),
    "thread": ("/thread?number=7", "ol.tree"),
    "check-in": ("/check-in", "main form"),
    "exceptions": ("/exceptions", "main h1"),
    "log": ("/log", "main h1"),
    "defensibility": ("/defensibility", "main h1"),
    "privilege-log": ("/privilege-log", "main h1"),
}
"""Addresses by name, each with what is there when the page is complete."""


def take_gallery(tab: Chromium, origin: str, folder: Path, images: Path) -> None:
    """Write a picture of each screen of a service, which the tab has signed in to."""
    for name, (path, awaited) in SCREENS.items():
        tab.resize(*WINDOWS[0][:2])
        tab.open(origin + path)
        tab.wait(f"document.querySelector({awaited!r})")
        shots = list[str]()
        for number, (width, height, is_dark) in enumerate(WINDOWS):
            tab.resize(width, height)
            tab.prefer_dark(is_dark)
            shots.append(tab.screenshot(folder / f"{name}-{number}.png").as_uri())
        tab.prefer_dark(False)
        _join(tab, shots, folder / "sheet.html", images / f"{name}.webp")


def _join(tab: Chromium, shots: list[str], sheet: Path, out: Path) -> None:
    sizes = [(round(width * HEIGHT / height), HEIGHT) for width, height, _ in WINDOWS]
    drawn = "".join(f'<img src="{shot}" width={w} height={h}>' for shot, (w, h) in zip(shots, sizes, strict=True))
    style = f"body{{margin:0;display:flex;gap:{GAP}px;background:#888}}"
    sheet.write_text(f"<!doctype html><style>{style}</style>{drawn}", "utf-8")
    tab.resize(sum(width for width, _ in sizes) + GAP * (len(sizes) - 1), HEIGHT)
    tab.open(sheet.as_uri())
    tab.wait("[...document.images].every((one) => one.complete)")
    tab.screenshot(out)
