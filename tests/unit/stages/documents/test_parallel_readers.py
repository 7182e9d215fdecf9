"""Plain lines and TMX: what the readers of sentences and their translations give."""

from __future__ import annotations

import io

import pytest

from nearkin.stages.documents.readers.lines import read_plain_lines
from nearkin.stages.documents.streams import ByteStream, StreamFault
from nearkin.stages.documents.tmx import TmxReader

HEAD = '<?xml version="1.0"?>\n<tmx version="1.4"><header srclang="de"/><body>\n'


def lines_of(data: bytes, batch_bytes: int = 64) -> list[bytes]:
    found = []
    for batch in read_plain_lines(ByteStream(io.BytesIO(data), "none"), batch_bytes=batch_bytes):
        assert batch["line"].to_pylist() == [len(found) + i + 1 for i in range(batch.num_rows)]
        found += batch["text"].to_pylist()
    return found


@pytest.mark.parametrize("batch_bytes", [1, 7, 64])
@pytest.mark.parametrize(
    "lines", [[], [b""], [b"", b""], [b"ein", b"", b"drei\x0bund\xe2\x80\xa8vier"], [b"x" * 50, b"\ta "]]
)
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_a_line_is_a_line_blank_or_not(lines, end, batch_bytes):
    whole = b"".join(line + end for line in lines)
    assert lines_of(whole, batch_bytes) == lines
    if lines and lines[-1]:
        assert lines_of(whole.removesuffix(end), batch_bytes) == lines


def units(*segments: tuple[str, str]) -> str:
    variants = "".join(f'<tuv xml:lang="{lang}"><seg>{text}</seg></tuv>' for lang, text in segments)
    return f"<tu>{variants}</tu>\n"


def read(text: str | bytes, source: str = "de", target: str = "en"):
    data = text.encode() if isinstance(text, str) else text
    reader = TmxReader(ByteStream(io.BytesIO(data), "none"), "a.tmx", source, target)
    found, fault = [], None
    try:
        for one, other in reader.batches():
            found += zip(one["text"].to_pylist(), other["text"].to_pylist(), one["problem"].to_pylist(), strict=True)
    except StreamFault as broken:
        fault = str(broken)
    return reader, [(a and a.decode(), b and b.decode(), problem) for a, b, problem in found], fault


def test_units_give_their_two_languages_in_any_order():
    text = HEAD + units(("en-GB", "a &lt; b"), ("de_AT", "a &#60; b")) + units(("de", "x"), ("fr", "y"))
    reader, found, fault = read(text + units(("DE", "eins"), ("EN", "one"), ("de", "zwei")) + "</body></tmx>")
    assert fault is None
    assert found == [("a < b", "a < b", None), ("eins", "one", None)]
    assert reader.n_units == 3
    assert reader.languages == {"en-GB": 1, "de_AT": 1, "de": 2, "fr": 1, "DE": 1, "EN": 1}


def test_a_file_cut_short_hands_out_what_was_whole():
    text = HEAD + units(("de", "eins"), ("en", "one")) + units(("de", "zwei"), ("en", "two"))
    for cut in (len(text), len(text) - 20, len(text) - 3):
        _, found, fault = read(text[:cut])
        assert found[0] == ("eins", "one", None)
        assert "truncated in line" in fault
    _, found, fault = read(text + "</wrong>")
    assert len(found) == 2
    assert "the XML is not well-formed in line 5, column" in fault
