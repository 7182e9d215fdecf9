"""Inputs of a run in words: how many of each kind, and of what their digests are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Protocol

from nearkin.nouns import counted

_FILE = "file"
_KINDS = {"collection": "collection", "results": "earlier run", "table": "table in memory"}
"""Names of the inputs that are not files, by format."""
_DIGESTED = {
    _FILE: "the SHA-256 of the file",
    "collection": (
        "the SHA-256 of the collection's own id and of the numbers and sizes of its current documents and texts"
    ),
    "earlier run": "the SHA-256 of the run's manifest.json",
    "table in memory": "the SHA-256 of its ids and texts",
}
_WITH_UNREAD = ", here with those that gave no text, which are counted, too"


class OfFormat(Protocol):
    """An input, of which only the format matters here."""

    @property
    def format(self) -> str | None:
        """Name of a format of files, or the key of another kind of input."""


def counted_inputs(files: Sequence[OfFormat]) -> str:
    """Count the inputs of each kind.

    Examples
    --------
    >>> from nearkin.manifests.stored import InputFile
    >>> counted_inputs([InputFile(format="jsonl"), InputFile(format="results"), InputFile(format="csv")])
    '2 files, 1 earlier run'
    """
    return ", ".join(counted(n, kind, _plural(kind)) for kind, n in _by_kind(files).items())


def digested_text(files: Sequence[OfFormat], *, with_unread: bool = False) -> str:
    """Say of what the digest of each input is the SHA-256.

    Examples
    --------
    >>> from nearkin.manifests.stored import InputFile
    >>> digested_text([InputFile(format="jsonl")])
    'the digest is the SHA-256 of the file'
    >>> digested_text([InputFile(format="jsonl"), InputFile(format="results")])
    "the digest of a file is the SHA-256 of the file; that of an earlier run is the SHA-256 of the run's manifest.json"
    """
    digested = {
        kind: _DIGESTED[kind] + _WITH_UNREAD * (with_unread and kind == "collection") for kind in _by_kind(files)
    }
    if len(digested) == 1:
        return f"the digest is {next(iter(digested.values()))}"
    parts = [f"of {'an' if kind[0] == 'e' else 'a'} {kind} is {of_what}" for kind, of_what in digested.items()]
    return "the digest " + "; that ".join(parts)


def _by_kind(files: Sequence[OfFormat]) -> Counter[str]:
    return Counter(_KINDS.get(str(one.format), _FILE) for one in files)


def _plural(kind: str) -> str:
    return "tables in memory" if kind == "table in memory" else ""
