"""Text in a wide encoding that breaks off within a character, or has a value that is no character."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from nearkin.errors import TruncatedInputError
from nearkin.stages.documents.extraction.plain import read_text
from nearkin.stages.documents.extraction.reading import Blob, Given
from nearkin.stages.documents.rules import RecordFault

Read = Callable[..., list[tuple[object, bytes | None, int, str | None]]]

NO_CHARACTER = b"\xff\xff\xff\x7f"
RECORDS = {
    "csv": "id,text\na,b{}\nc,d\n",
    "jsonl": '{{"id": "a", "text": "b{}"}}\n{{"id": "c", "text": "d"}}\n',
    "text-lines": "b{}\nd, and more\n",
}
DAMAGE = [
    ("utf-32", lambda data: data.replace("#".encode("utf-32-le"), NO_CHARACTER)),
    ("utf-16", lambda data: data.replace("#".encode("utf-16-le"), b"\x3d\xd8")),
]


def plain(data: bytes, encoding: str = "utf-8") -> str | None:
    """Text of a plain text in an archive."""
    return read_text(Given(blob=Blob(data), kind="text", encoding=encoding)).text


@pytest.mark.parametrize("file_format", RECORDS)
@pytest.mark.parametrize(("encoding", "damaged"), DAMAGE)
def test_only_the_record_with_damage_is_unreadable(
    read: Read, file_format: str, encoding: str, damaged: Callable[[bytes], bytes]
) -> None:
    data = damaged(RECORDS[file_format].format("#").encode(encoding))
    (_, text, _, problem), (_, good, _, none) = read(data, file_format)
    assert (text, problem) == (None, f"damaged: not valid {encoding}-le")
    assert none is None
    assert str(good).startswith("b'd")


@pytest.mark.parametrize("file_format", RECORDS)
@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
@pytest.mark.parametrize("n_missing", [1, 7])
def test_a_file_that_ends_within_a_character_is_truncated(
    read: Read, file_format: str, encoding: str, n_missing: int
) -> None:
    data = RECORDS[file_format].format("").encode(encoding)[:-n_missing]
    rows = read(data, file_format, takes_damaged=True)
    assert [row[1::2] for row in rows] == [(b"b", None), (None, f"truncated: not valid {encoding}-le")]
    with pytest.raises(TruncatedInputError):
        read(data, file_format)


def test_the_named_wide_encoding_of_a_text_in_an_archive() -> None:
    data = "漢語漢語".encode("utf-16-le")
    assert plain(data, "utf-16") == "漢語漢語"
    with pytest.raises(RecordFault, match=r"^damaged: not valid utf-16-le$"):
        plain(data[:-1], "utf-16")
