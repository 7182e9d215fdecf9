"""What Nearkin itself wrote into a folder of documents: results are no documents of the next run."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence

from nearkin.nouns import first_of

_COLLECTION = "nearkin.sqlite"
_MANIFESTS = ("manifest.json", "summary.json")
_UNFINISHED = os.path.join(".work", "run.json")
_SHOWN = 3


def is_own(folder: str) -> bool:
    """Whether a folder holds results of Nearkin, a run that is not finished, or a collection."""
    if any(os.path.exists(os.path.join(folder, name)) for name in (_COLLECTION, _UNFINISHED)):
        return True
    return any(_is_manifest(os.path.join(folder, name)) for name in _MANIFESTS)


def _is_manifest(path: str) -> bool:
    """Whether a file is what a command of Nearkin says of its results."""
    if not os.path.isfile(path):  # a pipe would be waited for
        return False
    try:
        with open(path, encoding="utf-8") as file:
            told = json.load(file)
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(told, dict) and "nearkin" in told


def without_own(pattern: str, paths: Sequence[str]) -> tuple[list[str], list[str]]:
    """Of what matches a pattern, all that is and lies in no such folder below what the pattern names; and the folders.

    What the pattern names outright may be results: whoever writes ``clean/*.parquet`` wants to read them.
    """
    named = pattern[: min((pattern.find(sign) for sign in "*?[" if sign in pattern), default=len(pattern))]
    root = os.path.dirname(named)
    known: dict[str, str | None] = {root: None}

    def own(folder: str) -> str | None:
        """The folder of results that a folder is, or lies in."""
        if folder not in known:
            parent = os.path.dirname(folder)
            above = own(parent) if parent != folder else None
            known[folder] = above or (folder if is_own(folder) else None)
        return known[folder]

    kept = [
        path for path in paths if own(path.rstrip(os.sep) if os.path.isdir(path) else os.path.dirname(path)) is None
    ]
    return kept, sorted({folder for folder in known.values() if folder is not None})


def said_of_own(where: str, folders: Iterable[str]) -> str:
    """A sentence that names the folders."""
    named = first_of(sorted(folders), _SHOWN)
    return f"{where}: results of Nearkin are not read: {named}. Name them to read them"
