"""Pictures of the review screen: the example contracts and mails in a collection, served and opened in chromium."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from example_pages import ROOT, run
from review_gallery import take_gallery

from nearkin.web.screens.coding import EXAMPLE

sys.path.append(str(ROOT / "tests"))
from behind_nginx import served_behind_nginx
from chromium import Chromium

SIZE = {"width": 1280, "height": 570}
NEARKIN = [sys.executable, "-m", "nearkin"]
MAILS = "mails/inbox.mbox"
PAGES = {
    "review-home": ("/", "table.sizes"),
    "review-document": ("/document?id=nda-00%2Foriginal", "#histogram svg"),
    "review-group": ("/group?number=1&member=nda-00%2Fclause-removed", "#comparison .comparison"),
    "review-code": ("/code?q=confidential", "#code"),
    "review-conflicts": ("/conflicts", "li[data-row]"),
    "review-thread": ("/thread?number=7", "ol.tree"),
}
"""Addresses by the names of pictures, each with what is there when the page is complete."""


def take_review(browser: str, folder: Path, images: Path) -> None:
    """Serve a collection, and photograph its pages."""
    fill(folder)
    command = [*NEARKIN, "serve", "matter", "--by", "ada"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        try:
            photograph(browser, folder, link_of(process), images)
        finally:
            process.terminate()
    take_sign_in(browser, folder, images)


def take_sign_in(browser: str, folder: Path, images: Path) -> None:
    """Serve the collection for a team, and photograph the page to sign in."""
    add = [*NEARKIN, "users", "matter", "add", "ada", "--role", "reviewer", "--users-file", "users.json"]
    subprocess.run(add, cwd=folder, input=b"correct horse battery\n", check=True, capture_output=True)
    with (
        served_behind_nginx(folder, folder / "matter", folder / "users.json") as proxied,
        Chromium(browser, folder, width=SIZE["width"], height=420) as tab,
    ):
        tab.trust_every_certificate()
        tab.open(f"{proxied.url}/sign-in")
        tab.wait("document.querySelector('#password')")
        tab.screenshot(images / "review-sign-in.png")


def fill(folder: Path) -> None:
    """Add contracts and mails, compute the groups, and tag some documents, two of them differently."""
    for script, out in (("generate.py", "collection"), ("mails.py", "mails")):
        run([sys.executable, str(ROOT / "examples" / script), out], folder)
    lines = (folder / "collection/contracts.jsonl").read_text("utf-8").splitlines()
    group = [one["id"] for one in map(json.loads, lines) if one["id"].startswith("nda-00/")]
    (folder / "layout.toml").write_text(EXAMPLE, "utf-8")
    for command in (
        ["add", "matter", "collection/contracts.jsonl", "--wave", "contracts", "-q"],
        ["add", "matter", MAILS, "--wave", "mails", "-q"],
        ["groups", "matter", "--threshold", "0.5", "-q"],
        ["coding", "matter", "layout.toml", "-q"],
        ["search", "matter", "confidential (liquidated OR penalty*)", "--save", "damages", "--by", "ada", "-q"],
        ["tag", "matter", "responsive=yes", *group[1:], "--by", "ada", "-q"],
        ["tag", "matter", "responsive=no", group[0], "--by", "bo", "-q"],
    ):
        run([*NEARKIN, *command], folder)


def link_of(process: subprocess.Popen[str]) -> str:
    """Return the link that a service prints."""
    for line in process.stdout or ():
        if found := re.search(r"http://\S+link=\S+", line):
            return found[0]
    sys.exit("nearkin serve printed no link")


def photograph(browser: str, folder: Path, link: str, images: Path) -> None:
    """Open each page as a visitor, and take its picture."""
    with Chromium(browser, folder, **SIZE) as tab:
        tab.open(link)
        origin = tab.js("location.origin")
        tab.open(f"{origin}/threads")
        tab.js("document.querySelector('form[action=\"/threads/update\"] button').click()")
        tab.wait("document.querySelector('tr[data-row]')")
        for name, (path, awaited) in PAGES.items():
            tab.open(origin + path)
            tab.wait(f"document.querySelector({awaited!r})")
            tab.screenshot(images / f"{name}.png")
        (images / "screens").mkdir(exist_ok=True)
        take_gallery(tab, origin, folder, images / "screens")
