"""Files that hold a text and are none: word processors' files, PDF, archives, told by their first bytes."""

from __future__ import annotations

from pathlib import PurePath

_ZIP = b"PK\x03\x04"
_OF_FIRST_BYTES = {
    b"%PDF-": "a PDF file",
    _ZIP: "a ZIP archive",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "a file of Word, Excel, PowerPoint or Outlook",
}
_ZIPPED = (".docx", ".xlsx", ".pptx", ".odt", ".ods", ".odp", ".epub")
MAGIC_BYTES = max(map(len, _OF_FIRST_BYTES))


def why_not_text(data: bytes, path: str) -> str | None:
    r"""What a file is whose text must be extracted first, and what to do; None where that is not known of it.

    Examples
    --------
    >>> why_not_text(b"PK\x03\x04\x14", "letters/offer.docx")
    'a DOCX file, not text; extract its text first'
    >>> why_not_text(b"PK is short for public key", "notes.txt")
    """
    for first_bytes, kind in _OF_FIRST_BYTES.items():
        if data.startswith(first_bytes):
            suffix = PurePath(path).suffix.lower()
            if first_bytes == _ZIP and suffix in _ZIPPED:
                kind = f"{'an' if suffix[1] in 'eox' else 'a'} {suffix[1:].upper()} file"
            return f"{kind}, not text; extract its text first"
    return None
