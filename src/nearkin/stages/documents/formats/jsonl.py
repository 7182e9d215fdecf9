"""JSON Lines: one object per line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from nearkin.stages.documents.formats.lines import LineFormat
from nearkin.stages.documents.head import SAMPLE_RECORDS, Head
from nearkin.stages.documents.source import OpenedSource

if TYPE_CHECKING:
    import pyarrow as pa

    from nearkin.stages.documents.streams import ByteStream


class JsonLines(LineFormat):
    """Each line is an object; columns are its members."""

    name = "jsonl"
    listed = "JSON Lines"
    in_words = "JSON Lines"
    suffixes = (".jsonl", ".ndjson", ".json")
    has_columns = True
    has_types = True

    def is_begun_by(self, head: Head) -> bool:
        """Whether the first line that is not blank begins an object."""
        lines = head.first_lines
        return bool(lines) and lines[0].lstrip().startswith(b"{")

    def problem(self, head: Head) -> str | None:
        """Return the problem of a JSON array, or of objects in several lines: neither is JSON Lines."""
        first, second = ([line.strip() for line in head.first_lines[:2]] + [b"", b""])[:2]
        if first.startswith(b"{") and first.endswith((b"{", b"[", b",")) and second.startswith(b'"'):
            return (
                "each line must be one JSON object, but the first object has several lines. Turn it into JSON Lines, "
                "for example with: jq -c ."
            )
        if not head.data.lstrip().startswith(b"["):
            return None
        return (
            "this is one JSON array instead of one object per line. "
            "Turn it into JSON Lines, for example with: jq -c '.[]'"
        )

    def records(self, head: Head, delimiter: str | None) -> Sequence[dict[str, object]]:
        """Return the objects in the first lines, and the visible part of an incomplete line."""
        return list(_first_objects(head))

    def is_cut(self, head: Head) -> bool:
        """Whether even the first line is incomplete."""
        return head.is_cut_record

    def batches(self, stream: ByteStream, opened: OpenedSource) -> Iterator[pa.RecordBatch]:
        """Yield batches of documents; see `StreamFormat`."""
        from nearkin.stages.documents.jsonl import read_jsonl

        source = opened.source
        return read_jsonl(
            stream,
            text=source.text if source.text is not None else "text",
            doc_id=source.id,
            keep=opened.keep,
            carry=opened.carry,
            batch_bytes=opened.batch_bytes,
            max_document_bytes=source.max_document_bytes,
        )


def _first_objects(head: Head) -> Iterator[dict[str, object]]:
    """Yield the objects in the first lines, and the visible part of an incomplete line."""
    n_found = 0
    for line in head.lines:
        if not line.strip():
            continue
        characters = line.decode("utf-8", "replace")
        try:
            record = json.loads(characters)
        except (ValueError, RecursionError):
            record = dict(_first_members(characters)) if not n_found else None
        if isinstance(record, dict) and record:
            yield record
            n_found += 1
        if n_found == SAMPLE_RECORDS:
            return


def _first_members(characters: str) -> Iterator[tuple[str, object]]:
    """Yield the members of an object up to the end of an incomplete line.

    >>> list(_first_members('{"id": 7, "text": "It was a'))
    [('id', 7), ('text', 'It was a')]
    """
    decoder = json.JSONDecoder()
    place = 0
    while opening := re.compile(r'\s*[{,]\s*(?=")').match(characters, place):
        try:
            key, place = decoder.raw_decode(characters, opening.end())
            colon = re.compile(r"\s*:\s*").match(characters, place)
            if colon is None:
                return
        except (ValueError, RecursionError):
            return
        try:
            value, place = decoder.raw_decode(characters, colon.end())
        except (ValueError, RecursionError):
            if characters.startswith('"', colon.end()):
                yield key, characters[colon.end() + 1 :]
            return
        yield key, value
