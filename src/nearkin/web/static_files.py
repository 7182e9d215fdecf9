"""Styles and scripts of the pages, read once; no path from a request reaches the file system."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files

from nearkin.reports.pages import page_environment

_SCRIPTS = ("htmx.min.js", "review.js", "keys.js")


@dataclass(frozen=True, slots=True)
class StaticFile:
    """File that pages refer to."""

    content: bytes
    kind: str

    @property
    def digest(self) -> str:
        """Short digest; a page names it, so that a browser never keeps an old file."""
        return hashlib.sha256(self.content).hexdigest()[:16]


class StaticFilesOfPages:
    """All files that pages refer to, by name."""

    def __init__(self) -> None:
        self.by_name: Mapping[str, StaticFile] = {
            "review.css": StaticFile(_stylesheet().encode(), "text/css; charset=utf-8"),
            **{name: StaticFile(_read("nearkin.web", "static", name), "text/javascript") for name in _SCRIPTS},
            "icon.svg": StaticFile(_read("nearkin.web", "static", "icon.svg"), "image/svg+xml"),
            "comparison.js": StaticFile(_read("nearkin.reports", "templates", "comparison.js"), "text/javascript"),
        }
        self._addresses = {name: f"/static/{name}?v={one.digest}" for name, one in self.by_name.items()}

    def address(self, name: str) -> str:
        """Return the address of a file."""
        return self._addresses[name]


def _stylesheet() -> str:
    """Return the styles of all report pages, of comparisons, and of the screens."""
    environment = page_environment("nearkin.web")
    return "\n".join(
        environment.get_template(name).render() for name in ("style.css.j2", "comparison.css", "review.css.j2")
    )


def _read(package: str, *names: str) -> bytes:
    return files(package).joinpath(*names).read_bytes()
