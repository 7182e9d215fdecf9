"""Files of requests that cannot be read: messages say what a browser or a script can do."""

from __future__ import annotations

import io
import zipfile

import pytest

from nearkin.errors import SourceError
from nearkin.web.sent_files import SentFile


def _archive() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a.txt", "Some words.")
    return packed.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("Name one inside it:.txt", b"caf\xe9", "0xe9); if it is older Western text, send it with the encoding cp1252"),
        ("Name one inside it:.zip", _archive(), "is an archive, not one document. Send one of its documents alone: "),
        ("long.txt", b"a" * (64 << 20) + b"b", "longer than the maximum size (67,108,865 bytes; the maximum is"),
    ],
)
def test_advice_is_for_the_sender_and_names_of_files_are_unchanged(name: str, content: bytes, said: str) -> None:
    with pytest.raises(SourceError) as refused:
        SentFile(name, io.BytesIO(content)).document()
    assert str(refused.value).startswith(name)
    assert said in str(refused.value)
