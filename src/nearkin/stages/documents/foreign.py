"""Files that are neither plain text nor a supported table, recognised by their first bytes.

There are two kinds. Archives and images contain no readable text; all other bytes that are no text are an unreadable
document when they are read. HTML pages and mailboxes are text with
markup: they are refused as well, because the markup would be compared, but ``--format file`` reads them
unchanged.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath

from nearkin.stages.documents.encodings import looks_binary
from nearkin.stages.documents.markup import EXTRACT, markup_of

PARQUET = b"PAR1"
ARROW_FILE = b"ARROW1\0\0"
ARROW_STREAM = b"\xff\xff\xff\xff"
COMPOUND_FILE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


_ZIP = b"PK\x03\x04"
_ZIPPED = {
    f".{one}": f"{'an' if one[0] in 'eox' else 'a'} {one.upper()} file"
    for one in ("docx", "xlsx", "pptx", "odt", "ods", "odp", "epub")
}
_BINARY = (
    (b"%PDF-", "a PDF file", EXTRACT),
    (b"PK\x05\x06", "an empty ZIP archive", EXTRACT),
    (COMPOUND_FILE, "a file of Word, Excel, PowerPoint or Outlook", EXTRACT),
    (b"!BDN", "an Outlook mailbox", EXTRACT),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", "unpack it first"),
    (b"Rar!\x1a\x07", "a RAR archive", "unpack it first"),
    (b"\x89PNG\r\n\x1a\n", "a PNG image", EXTRACT),
    (b"\xff\xd8\xff", "a JPEG image", EXTRACT),
    (b"II*\0", "a TIFF image", EXTRACT),
    (b"MM\0*", "a TIFF image", EXTRACT),
    (b"\x7fELF", "a program", "omit it"),
)
# These begin like words: they count only if binary bytes follow.
_BINARY_IF_SO = (
    (b"GIF87a", "a GIF image", EXTRACT),
    (b"GIF89a", "a GIF image", EXTRACT),
    (b"BM", "a BMP image", EXTRACT),
    (b"MZ", "a program", "omit it"),
    (_ZIP[:2], "a ZIP archive", EXTRACT),
)
_NO_TEXT = (
    b"\x04\x22\x4d\x18", b"SQLite format 3\0", b"Obj\x01", b"PARE", b"ORC", b"FEA1", b"GGUF", b"RIFF", b"OggS", b"ID3"
)  # fmt: skip
"""First bytes of other files that may have no byte that is not UTF-8: LZ4, SQLite, Avro, Parquet, ORC, sound, video."""
_FIRST_BYTES = tuple(first_bytes for first_bytes, *_ in (*_BINARY, *_BINARY_IF_SO))
_LFS = b"version https://git-lfs.github.com/spec/"
_CMS_OID = b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07"
_TAR_AT = 257
_FOREIGN_BYTES = 1 << 16
FIRST_BYTES = 1 << 12
"""Bytes of a file that suffice to recognise all kinds except markup."""


@dataclass(frozen=True, slots=True)
class Foreign:
    """A kind of file that is not plain text.

    Parameters
    ----------
    name : str
        With its article, such as "a PDF file".
    advice : str
        What to do, as an imperative.
    is_text : bool
        Whether it is text with markup, which ``--format file`` reads unchanged.
    """

    name: str
    advice: str
    is_text: bool = False

    @property
    def problem(self) -> str:
        """Reasons why such a file is not a document, with what to do.

        Examples
        --------
        >>> Foreign("an HTML page", "extract its text first", is_text=True).problem
        'an HTML page; extract its text first, or read it as it is with --format file'
        """
        if self.is_text:
            return f"{self.name}; {self.advice}, or read it as it is with --format file"
        return f"{self.name}; {self.advice}"


def foreign(data: bytes, path: str) -> Foreign | None:
    r"""Return the kind of a file that is not plain text; None if it may be text.

    Parameters
    ----------
    data : bytes
        Its beginning, decompressed: `FIRST_BYTES` or more.
    path : str
        Used only for kinds of ZIP archives, which are distinguished by suffix.

    Examples
    --------
    >>> foreign(b"PK\x03\x04\x14", "letters/offer.docx").problem
    'a DOCX file; extract its text first'
    >>> foreign(b"PK is short for public key", "notes.txt")
    """
    known = _binary(data, path)
    if known is not None:
        return known
    markup = markup_of(data[:_FOREIGN_BYTES])
    return None if markup is None else Foreign(*markup, is_text=True)


def _binary(data: bytes, path: str) -> Foreign | None:
    """Recognise kinds that cannot be read as text."""
    if data.startswith(_ZIP):
        return Foreign(_ZIPPED.get(PurePath(path).suffix.lower(), "a ZIP archive"), EXTRACT)
    if data.startswith(_FIRST_BYTES):
        for first_bytes, name, advice in _BINARY:
            if data.startswith(first_bytes):
                return Foreign(name, advice)
        for first_bytes, name, advice in _BINARY_IF_SO:
            if data.startswith(first_bytes) and looks_binary(data):
                return Foreign(name, advice)
    if data[_TAR_AT : _TAR_AT + 5] == b"ustar":
        return Foreign("a tar archive", "unpack it first, and name its folder")
    if data.startswith(_LFS):
        return Foreign("a pointer of Git LFS", "fetch the file with git lfs pull")
    if data[:1] == b"\x30" and _CMS_OID in data[:64]:
        return Foreign("a signed or encrypted file, PKCS#7", "extract its content first, for example with openssl cms")
    if (data.startswith(_NO_TEXT) or data[4:8] in (b"ftyp", bytes(4))) and looks_binary(data):
        return Foreign("binary data", "convert it to text, JSON Lines or Parquet first")
    return None
