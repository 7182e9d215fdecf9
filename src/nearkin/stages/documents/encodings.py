"""Character encodings of files: valid UTF-8 takes precedence; other text is in the named encoding.

With one byte per character (cp1252, latin-1, …) each line is judged separately, because files are concatenated; other
encodings are judged by the first `WINDOW_BYTES`.
"""

from __future__ import annotations

import codecs
import re
from functools import lru_cache

from nearkin.errors import ParameterError, quoted
from nearkin.stages.documents.rules import RecordFault

# UTF-32 first, because its little-endian mark begins with that of UTF-16
BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
WINDOW_BYTES = 1 << 20
WIDE = ("utf-16", "utf-32")
_OF_NAMES = ("idna", "punycode")
"""Encodings of domain names, which are not used for texts."""
_FEWEST_ZEROS = 4
ADVICE = "repeat the command and add --encoding"
"""Advice in the problem of a file that another encoding may be able to read; the encoding follows."""
_BINARY_BYTES = 1 << 12
# except those between the fields of load files, and the escape of East Asian encodings
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f\b\x14\x15\x1b"))
_BLANKS = b" \r\n"


def check_encoding(encoding: str) -> str:
    """Return the canonical name of an encoding; raise ParameterError if Python does not know it."""
    try:
        name = codecs.lookup(encoding).name
        "".encode(name)
        codecs.getincrementaldecoder(name)
        if name in _OF_NAMES:
            raise LookupError(name)
    except (LookupError, TypeError, ValueError) as error:
        raise ParameterError(
            "The encoding (encoding) must be the name of a character encoding such as utf-8, cp1252 or "
            f"utf-16. Got {quoted(encoding)} instead."
        ) from error
    return name


def with_byte_order(encoding: str) -> str:
    """Return the encoding for a file without a byte order mark: little-endian, as on usual machines."""
    return f"{encoding}-le" if encoding in WIDE else encoding


def is_utf8(encoding: str) -> bool:
    """Whether the name is one of UTF-8's; ASCII is a part of it."""
    return codecs.lookup(encoding).name in ("utf-8", "utf-8-sig", "ascii")


@lru_cache
def is_told_by_line(encoding: str) -> bool:
    """Whether each byte is a character and those below 128 are ASCII, lines and quotes among them.

    Examples
    --------
    >>> [is_told_by_line(encoding) for encoding in ("cp1252", "utf-16", "shift_jis")]
    [True, False, False]
    """
    if is_utf8(encoding) or not _keeps_ascii(encoding):
        return False
    for byte in range(128, 256):
        decoder = codecs.getincrementaldecoder(encoding)("replace")
        characters = decoder.decode(bytes([byte]))  # the first byte of a longer character gives nothing yet
        if len(characters) != 1 or characters.isascii():
            return False
    return True


@lru_cache
def _keeps_ascii(encoding: str) -> bool:
    ascii_bytes = bytes(range(128))
    try:
        return ascii_bytes.decode(encoding) == ascii_bytes.decode("ascii")
    except ValueError:
        return False


def is_taken_as_utf8(data: bytes, encoding: str, *, is_all: bool) -> bool:
    """Whether a file that begins with ``data`` is read as UTF-8 although another encoding was named."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data, final=is_all)
    except UnicodeDecodeError:
        return False
    if encoding.startswith(WIDE):
        return b"\0" not in data
    # in UTF-7 and similar encodings all characters are written in ASCII
    return _keeps_ascii(encoding) or not data.isascii()


ESCAPE = "nearkin.escape"
"""Error handler: bytes that are no character become unpaired surrogates, which the UTF-8 check rejects, and return."""


def _escaped(error: UnicodeError) -> tuple[str | bytes, int]:
    if isinstance(error, UnicodeDecodeError):
        return "".join(chr(0xDC00 + byte) for byte in error.object[error.start : error.end]), error.end
    if isinstance(error, UnicodeEncodeError):
        return bytes(ord(character) & 0xFF for character in error.object[error.start : error.end]), error.end
    raise error


codecs.register_error(ESCAPE, _escaped)


def into_utf8(data: bytes, encoding: str) -> bytes:
    """Convert all of a text to UTF-8; undecodable bytes stay so."""
    if is_utf8(encoding):
        return data
    return data.decode(encoding, ESCAPE).encode("utf-8", "surrogatepass")


def back_from_utf8(data: bytes, encoding: str) -> bytes:
    """Reverse :func:`into_utf8`."""
    return data.decode("utf-8", "surrogatepass").encode(encoding, ESCAPE)


def lines_into_utf8(data: bytes, encoding: str) -> bytes:
    r"""Convert whole lines to UTF-8; only those that are not UTF-8 yet are decoded, or their parts between þ in UTF-8.

    Examples
    --------
    >>> lines_into_utf8("née\n".encode() + "née\n".encode("cp1252"), "cp1252").decode()
    'née\nnée\n'
    """
    if _is_valid(data):
        return data
    lines = data.splitlines(keepends=True)
    parts = (part for line in lines for part in re.split("(þ)".encode(), line))
    return b"".join(part if _is_valid(part) else into_utf8(part, encoding) for part in parts)


def _is_valid(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def why_not_utf8(data: bytes, encoding: str, mark: bytes = b"") -> RecordFault | None:
    r"""Return why a text cannot be used, with advice; None if it can."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        marked = dict(BYTE_ORDER_MARKS).get(mark)
        if marked is not None or encoding.startswith(WIDE):
            return RecordFault("damaged", f"not valid {marked or with_byte_order(encoding)}")
        if not is_utf8(encoding):
            return RecordFault("wrong encoding", f"neither valid UTF-8 nor valid {encoding}")
        if looks_binary(data):
            return RecordFault("not text", "binary data")
        place = f"not valid UTF-8 at byte {error.start} (0x{data[error.start]:02x})"
        return RecordFault("wrong encoding", f"{place}; if it is older Western text, {ADVICE} cp1252")
    return None


def kind_of_plain(kind: str, problem: str | None) -> str:
    """Return the kind of a file that was to be read as text: "unsupported" if it is no text.

    Examples
    --------
    >>> kind_of_plain("text", "not text: a program"), kind_of_plain("text", "wrong encoding: not valid UTF-8")
    ('unsupported', 'text')
    """
    return "unsupported" if kind == "text" and problem is not None and problem.startswith("not text") else kind


def looks_binary(data: bytes) -> bool:
    r"""Whether data begins with bytes that do not occur in text.

    Examples
    --------
    >>> looks_binary(b"words\n"), looks_binary("Wörter".encode("cp1252")), looks_binary(b"\x00\x01\x02\x03abc")
    (False, False, True)
    """
    head = data[:_BINARY_BYTES]
    n_controls = len(head) - len(head.translate(None, _CONTROLS))
    return n_controls > len(head) // 50


def looks_like_utf16(data: bytes) -> str | None:
    """Return advice for a file that looks like UTF-16 without a byte order mark; None otherwise."""
    head = data[: len(data[:_BINARY_BYTES]) // 2 * 2]
    for name, low, high in (("utf-16-le", head[::2], head[1::2]), ("utf-16-be", head[1::2], head[::2])):
        n_zeros = high.count(0)
        if n_zeros >= max(_FEWEST_ZEROS, len(high) // 16) and 20 * low.count(0) <= n_zeros:
            beside_blanks = bytes(byte for byte, beside in zip(high, low, strict=True) if beside in _BLANKS) or high
            if beside_blanks.count(0) > 0.9 * len(beside_blanks):
                return f"looks like UTF-16 without a byte order mark: {ADVICE} {name}"
    return None
