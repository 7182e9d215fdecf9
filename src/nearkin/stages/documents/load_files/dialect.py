r"""Encoding and delimiters of a load file, from its header line.

In the usual Concordance DAT the character 0x14 separates fields, þ quotes them, and ® stands for a line end inside a
field. The file is in CP1252 or UTF-8, or in UTF-16 with a byte order mark.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from nearkin.stages.documents.encodings import is_told_by_line, is_utf8

SEPARATOR, QUALIFIER, NEWLINE = "\x14", "þ", "®"
_CSV_QUALIFIER, _CSV_SEPARATORS = '"', ",;\t|"
_OTHER_SEPARATORS = "\x14|^~\x1f\x1e\x1c¶"
"""Separators of headers without a qualifier."""
MAX_COLUMNS = 4_096
_LONGEST_NAME = 200
SINGLE_BYTE = "cp1252"
_SHOWN = {"utf-8": "UTF-8", "utf-16-le": "UTF-16 LE", "utf-16-be": "UTF-16 BE", SINGLE_BYTE: "CP1252"}
_SHOWN_AS_CODE = "\x14\x1c\x1e\x1f"
_NAMED = {",": "comma", ";": "semicolon", "\t": "tab", _CSV_QUALIFIER: "double quote"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    r"""Encoding and delimiters of a load file.

    Parameters
    ----------
    separator : str
        Character between fields.
    qualifier : str
        Character around each field; empty if the header has none.
    newline : str
        Character that stands for a line end inside a field; empty if there is none.
    encoding : str
        Encoding of the characters, such as cp1252 or utf-16-le.

    Examples
    --------
    >>> dialect_of("þDOCIDþ\x14þTEXTPATHþ\r\nþA-1þ\x14þTEXT\\A-1.txtþ\r\n".encode("cp1252")).in_words()
    'Concordance DAT in CP1252, separator 0x14, qualifier þ, newline ®'
    >>> dialect_of(b"^DOCID^|^TEXT^\n").in_words()
    'Concordance DAT in UTF-8, separator |, qualifier ^, no newline character'
    >>> dialect_of(b"DOCID,TEXT\n").in_words()
    'CSV load file in UTF-8, separator comma, qualifier double quote'
    """

    separator: str = SEPARATOR
    qualifier: str = QUALIFIER
    newline: str = NEWLINE
    encoding: str = "utf-8"

    @property
    def is_csv(self) -> bool:
        """Whether it is CSV rather than DAT."""
        return self.qualifier in ("", _CSV_QUALIFIER) and self.separator in _CSV_SEPARATORS and not self.newline

    def in_words(self) -> str:
        """Name the dialect for a message."""
        encoding = _SHOWN.get(self.encoding, self.encoding)
        separator = f"0x{ord(self.separator):02x}" if self.separator in _SHOWN_AS_CODE else self.separator
        separator = _NAMED.get(self.separator, separator)
        qualifier = f"qualifier {_NAMED.get(self.qualifier, self.qualifier)}" if self.qualifier else "no qualifier"
        newline = f", newline {self.newline}" if self.newline else "" if self.is_csv else ", no newline character"
        kind = "CSV load file" if self.is_csv else "Concordance DAT"
        return f"{kind} in {encoding}, separator {separator}, {qualifier}{newline}"


def header_of(line: str) -> tuple[list[str], Dialect] | None:
    r"""Return the column names of a header line and the dialect; None if it is not the header of a load file.

    Examples
    --------
    >>> header_of("^DOCID^|^TEXT^")[0], header_of("DOCID,TEXT")[1].is_csv, header_of("It was a dark night")
    (['DOCID', 'TEXT'], True, None)
    """
    if not line or len(line) < 2 or line.isspace():
        return None
    quote = line[0]
    if (quote.isascii() and (quote.isalnum() or quote in "_ [(")) or quote in _OTHER_SEPARATORS[:1]:
        return _plain_header(line)
    end = line.find(quote, 1)
    if end <= 1 or not line.endswith(quote):
        return None
    separator = line[end + 1 : end + 2] or (SEPARATOR if quote == QUALIFIER else ",")
    names = line[1:-1].split(f"{quote}{separator}{quote}")
    if separator == quote or any(quote in name for name in names) or not _are_names(names):
        return None
    is_dat = quote == QUALIFIER or separator == SEPARATOR
    if quote == _CSV_QUALIFIER and separator in _CSV_SEPARATORS:
        return names, Dialect(separator=separator, qualifier=quote, newline="")
    if not is_dat and separator.isalnum():
        return None
    return names, Dialect(separator=separator, qualifier=quote, newline=NEWLINE if is_dat else "")


def _plain_header(line: str) -> tuple[list[str], Dialect] | None:
    """Return the names of a header without a qualifier."""
    if SEPARATOR in line:
        names = line.split(SEPARATOR)
        return (names, Dialect(qualifier="")) if _are_names(names) else None
    separator = max(_CSV_SEPARATORS, key=line.count)
    names = [one.strip(_CSV_QUALIFIER) for one in line.split(separator)]
    if len(names) < 2 or not _are_names(names):
        return None
    return names, Dialect(separator=separator, qualifier=_CSV_QUALIFIER, newline="")


def _are_names(names: list[str]) -> bool:
    return len(names) <= MAX_COLUMNS and all(
        one.strip() and len(one) < _LONGEST_NAME and one.isprintable() for one in names
    )


def dialect_of(head: bytes, *, encoding: str | None = None) -> Dialect | None:
    """Return the dialect of a load file.

    Parameters
    ----------
    head : bytes
        Its beginning, without a byte order mark; in UTF-8 if it had one.
    encoding : str or None
        Encoding that a byte order mark stands for, or that the user named; None: UTF-8, or CP1252 if the data is not
        UTF-8.
    """
    found = header_of(decoded(head.partition(b"\n")[0].rstrip(b"\r")))
    if found is None:
        return None
    if encoding is None:
        encoding = "utf-8" if is_utf8_so_far(head) else SINGLE_BYTE
    return replace(found[1], encoding=encoding)


def names_in(head: bytes) -> list[str]:
    """Return the column names of a load file's beginning; none if it is not a load file."""
    found = header_of(decoded(head.partition(b"\n")[0].rstrip(b"\r")))
    return [] if found is None else found[0]


def fallback(encoding: str) -> str:
    """Return the encoding of fields that are not UTF-8.

    Examples
    --------
    >>> fallback("utf-8"), fallback("cp1251")
    ('cp1252', 'cp1251')
    """
    return encoding if is_told_by_line(encoding) and not is_utf8(encoding) else SINGLE_BYTE


def decoded(data: bytes, encoding: str = SINGLE_BYTE) -> str:
    """Return the characters of bytes in UTF-8, or else in another encoding."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode(encoding, "replace")


def is_utf8_so_far(head: bytes) -> bool:
    """Whether data is UTF-8 up to a character that may be cut off at its end."""
    try:
        head.decode()
    except UnicodeDecodeError as error:
        return error.reason == "unexpected end of data"
    return True
