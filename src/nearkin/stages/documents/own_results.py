"""Recognition of Nearkin's own files in a folder of documents, since results are not input of the next run."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence

from nearkin.nouns import first_of
from nearkin.stages.documents.not_read import NotRead

_COLLECTION = "nearkin.sqlite"
_MANIFESTS = ("manifest.json", "summary.json")
_UNFINISHED = os.path.join(".work", "run.json")
_SHOWN = 3


def is_own(folder: str) -> bool:
    """Whether a folder contains results of Nearkin, an unfinished run, or a collection."""
    if any(os.path.exists(os.path.join(folder, name)) for name in (_COLLECTION, _UNFINISHED)):
        return True
    return any(_is_manifest(os.path.join(folder, name)) for name in _MANIFESTS)


def _is_manifest(path: str) -> bool:
    """Whether a file is the manifest of a command of Nearkin."""
    if not os.path.isfile(path):  # reading a pipe would block
        return False
    try:
        with open(path, encoding="utf-8") as file:
            told = json.load(file)
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(told, dict) and "nearkin" in told


def without_own(pattern: str, paths: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the matches of a pattern that are not in folders of results, and these folders.

    Results that the pattern names explicitly are kept: a user who writes ``clean/*.parquet`` wants to read them.
    """
    named = pattern[: min((pattern.find(sign) for sign in "*?[" if sign in pattern), default=len(pattern))]
    root = os.path.dirname(named)
    known: dict[str, str | None] = {root: None}

    def own(folder: str) -> str | None:
        """Return the folder of results that contains a folder, or is it."""
        if folder not in known:
            parent = os.path.dirname(folder)
            above = own(parent) if parent != folder else None
            known[folder] = above or (folder if is_own(folder) else None)
        return known[folder]

    kept = [
        path for path in paths if own(path.rstrip(os.sep) if os.path.isdir(path) else os.path.dirname(path)) is None
    ]
    return kept, sorted({folder for folder in known.values() if folder is not None})


def said_of_own(where: str, folders: Iterable[str]) -> NotRead:
    """Return the folders as what is not read."""
    paths = sorted(folders)
    sentence = f"{where}: skipped results of Nearkin: {first_of(paths, _SHOWN)}. Name them explicitly to read them"
    return NotRead(place=where, reason="results of Nearkin", paths=tuple(paths), sentence=sentence)
