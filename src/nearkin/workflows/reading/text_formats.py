"""Formats that convert a text file, such as subtitles, to its text, in folders and archives."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from nearkin.errors import DocumentError
from nearkin.stages.documents.formats import FORMAT_OF_SUFFIX, FORMATS
from nearkin.stages.documents.formats.whole_file import WholeFile
from nearkin.stages.documents.head import HEAD_BYTES, Head
from nearkin.stages.documents.streams import ByteStream, StreamFault

if TYPE_CHECKING:
    from nearkin.stages.documents.extraction.nodes import ExtractedNode


def text_format_of(name: str, data: bytes) -> WholeFile | None:
    """Return the format of a text file by its suffix, or else by its beginning; None if its content is the text.

    Parameters
    ----------
    name : str
    data : bytes
        Its beginning, in UTF-8 or with a byte order mark.
    """
    found = {one.name: one for one in FORMATS.values() if isinstance(one, WholeFile) and _converts(one)}
    if not found:  # without a format of one's own
        return None
    suffix = os.path.splitext(name.lower())[1]
    if suffix:
        return found.get(FORMAT_OF_SUFFIX.get(suffix, ""))
    try:
        text = ByteStream(io.BytesIO(data[:HEAD_BYTES]), "none").read(HEAD_BYTES)
    except StreamFault:
        return None
    head = Head(data=text, compression="none", is_all=len(data) < HEAD_BYTES)
    return next((one for one in found.values() if one.is_begun_by(head)), None)


def by_text_formats(nodes: Iterator[ExtractedNode]) -> Iterator[ExtractedNode]:
    """Yield what a worker extracted; convert unchanged texts by the formats of their names."""
    for node in nodes:
        is_text = node.kind == "text" and node.text is not None and node.exception is None
        form = text_format_of(node.name or "", node.text or b"") if is_text else None
        yield node if form is None else _by_format(node, form)


def _by_format(node: ExtractedNode, form: WholeFile) -> ExtractedNode:
    try:
        return replace(node, text=form.text_of((node.text or b"").decode()).encode())
    except (ValueError, DocumentError) as error:
        return replace(node, text=None, exception="corrupt", sentence=str(error).rstrip("."))


def _converts(form: WholeFile) -> bool:
    return type(form).text_of is not WholeFile.text_of
