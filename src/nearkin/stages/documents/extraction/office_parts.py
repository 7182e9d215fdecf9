"""XML files inside an office file that hold its text: whether each is complete.

If the XML of a document of Word is truncated, xberg returns its first part and reports nothing; the same holds for some
sheets of Excel. In files of other kinds it omits a slide or a header that it cannot read, with a warning.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from xml.parsers import expat

MAY_END_EARLY = ("docx", "xlsx")
"""Kinds whose truncated XML may cause no warning."""
_WITH_TEXT = re.compile(
    r"word/(?:document|header|footer|footnotes|endnotes|comments)\w*\.xml"
    r"|xl/(?:workbook|sharedStrings|comments\w*|(?:comments|worksheets|threadedComments)/[^/]+)\.xml"
    r"|ppt/(?:slides|notesSlides|comments|diagrams|charts)/[^/]+\.xml"
    r"|content\.xml|styles\.xml"
)
_PAGE_OF_BOOK = re.compile(r".+\.x?html?", re.IGNORECASE)
_PIECE_BYTES = 1 << 20
_AT_END = frozenset(
    expat.errors.codes[one]
    for one in (
        expat.errors.XML_ERROR_NO_ELEMENTS,
        expat.errors.XML_ERROR_UNCLOSED_TOKEN,
        expat.errors.XML_ERROR_PARTIAL_CHAR,
        expat.errors.XML_ERROR_UNCLOSED_CDATA_SECTION,
    )
)
"""Errors that only the end of a file causes."""


def incomplete_part(archive: zipfile.ZipFile, kind: str) -> str | None:
    """Return why text of an office file may be missing: the first of its XML files that is incomplete.

    Parameters
    ----------
    archive : ZipFile
    kind : str
        Pages of a book (``epub``) are often HTML that is not XML, and are read nevertheless. They are incomplete only
        if they are truncated.

    Returns
    -------
    str or None
        A sentence; None if all are complete.

    Examples
    --------
    >>> import io
    >>> with zipfile.ZipFile(io.BytesIO(), "w") as archive:
    ...     archive.writestr("word/document.xml", "<w:document><w:t>It was.</w:t>")
    ...     incomplete_part(archive, "docx")
    'its word/document.xml is truncated: text may be missing'
    """
    is_book = kind == "epub"
    pattern = _PAGE_OF_BOOK if is_book else _WITH_TEXT
    for entry in archive.infolist():
        if pattern.fullmatch(entry.filename) is None:
            continue
        fault = _fault(archive, entry, is_book=is_book)
        if fault is not None:
            return f"its {entry.filename} {fault}: text may be missing"
    return None


def _fault(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, *, is_book: bool) -> str | None:
    parser = expat.ParserCreate()
    if is_book:
        parser.UseForeignDTD()  # unknown entities, such as &nbsp;, are no errors
    try:
        with archive.open(entry) as file:
            while piece := file.read(_PIECE_BYTES):
                parser.Parse(piece, False)
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        if error.code in _AT_END:
            return "is truncated"
        return None if is_book else f"is not well-formed XML ({expat.errors.messages[error.code]})"
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError):
        return "cannot be read"
    except ValueError:  # an encoding that the parser does not know
        return None
    return None
