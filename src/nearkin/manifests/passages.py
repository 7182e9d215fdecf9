"""Manifest of ``nearkin passages``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from nearkin.manifests.dedup import ExtractionCounts, KeptFile
from nearkin.manifests.stored import DamagedFile, HowRead, InputFile, Manifest, Stored
from nearkin.stages.documents.source import NotRead


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageCounts(Stored):
    """Numbers of documents, passages and characters.

    Parameters
    ----------
    too_short
        Readable documents of the input with fewer words than a passage.
    inside_one_document
        Passages whose occurrences are all in one document.
    repeated_characters, copied_characters, own_characters
        Characters in passages; in those that stand in an earlier document; that repeat what stands earlier in the same
        one.
    items_found
        Documents of the other set with a passage that stands in the input.
    cut_characters, emptied
        Characters that were cut, and documents of which no word is left.
    """

    documents: int = 0
    others: int = 0
    unreadable: int = 0
    too_short: int = 0
    with_passages: int = 0
    passages: int = 0
    occurrences: int = 0
    inside_one_document: int = 0
    longest_words: int = 0
    most_documents: int = 0
    characters: int = 0
    repeated_characters: int = 0
    copied_characters: int = 0
    own_characters: int = 0
    boilerplate: int = 0
    items_found: int | None = None
    cut_characters: int | None = None
    emptied: int | None = None
    dropped: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PassagesManifest(Manifest):
    """``manifest.json`` of a run of passages."""

    command: str = "passages"
    inputs: tuple[InputFile, ...] = ()
    against: tuple[InputFile, ...] | None = None
    encoding: str | None = None
    engine: Mapping[str, object] | None = None
    reading: HowRead | None = None
    counts: PassageCounts = field(default_factory=PassageCounts)
    written: tuple[KeptFile, ...] | None = None
    extraction: ExtractionCounts | None = None
    damaged_files: tuple[DamagedFile, ...] | None = None
    not_read: tuple[NotRead, ...] | None = None
