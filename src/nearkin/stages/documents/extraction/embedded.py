"""Files embedded in office files: as they are, or taken out of the compound file that wraps them."""

from __future__ import annotations

import struct

from nearkin.stages.documents.extraction.blobs import Blob
from nearkin.stages.documents.extraction.kinds import kind_of
from nearkin.stages.documents.extraction.ole import OleError, OleFile
from nearkin.stages.documents.extraction.zip_names import safe_name
from nearkin.stages.documents.foreign import COMPOUND_FILE

_NATIVE = "\x01Ole10Native"


def unwrapped(name: str, data: bytes) -> tuple[str, bytes] | None:
    """Return the name and the bytes of an embedded file; None if there is no file that can be read.

    Parameters
    ----------
    name : str
        Name of the embedded file in the office file.
    data : bytes
    """
    if not data.startswith(COMPOUND_FILE):
        return name, data
    try:
        wrapper = OleFile(data)
        if kind_of(Blob(data), name) != "unsupported":
            return name, data
        native = wrapper.stream(_NATIVE)
        if native is not None:
            return _of_native(name, native)
        for stream in ("Package", "CONTENTS", "EmbeddedOdf"):
            if (content := wrapper.stream(stream)) is not None:
                return name, content
    except (OleError, struct.error):
        return None
    return None


def _of_native(name: str, native: bytes) -> tuple[str, bytes] | None:
    """Return the name and the bytes of a file that was dropped into a document (a "Package" of Windows)."""
    at = 6  # the size of all, and a mark
    own, at = _string(native, at)
    _, at = _string(native, at)
    (n_path,) = struct.unpack_from("<I", native, at + 4)
    at += 8 + n_path
    (size,) = struct.unpack_from("<I", native, at)
    content = native[at + 4 : at + 4 + size]
    if len(content) < size or not size:
        return None
    return safe_name(own) or name, content


def _string(data: bytes, at: int) -> tuple[str, int]:
    """Return a string that ends with a zero byte, and the position after it."""
    end = data.find(b"\0", at)
    if end < 0:
        raise struct.error("a name has no end")
    return data[at:end].decode("cp1252", "replace"), end + 1
