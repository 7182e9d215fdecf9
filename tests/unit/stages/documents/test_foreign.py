"""Files that are no plain text: named for what they are, and prose that only begins like one is read."""

from __future__ import annotations

import io
import pickle
from pathlib import Path

import numpy as np
import pytest

from nearkin.errors import SourceError
from nearkin.stages.documents.reader import read_batches
from nearkin.stages.documents.sources import resolve_sources

PROSE = b"It was a dark and stormy night; the rain fell in torrents. " * 40


def npy() -> bytes:
    sink = io.BytesIO()
    np.save(sink, np.arange(5))
    return sink.getvalue()


HTML = b"<!DOCTYPE html>\n<html><head><title>News</title></head><body><p>" + PROSE + b"</p></body></html>"
LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:0f\nsize 7\n"
OID = bytes.fromhex("3082012306092a864886f70d010702a08201")
# What it is, and whether --format file reads it as it is.
KINDS: list[tuple[str, bytes, str, bool]] = [
    ("a.7z", b"7z\xbc\xaf\x27\x1c\0\4" + bytes(50), "a 7-Zip archive; unpack it first", False),
    ("a.txt.lz4", b"\x04\x22\x4d\x18" + bytes(50), "binary data; convert it", False),
    ("a.avro", b"Obj\x01\x04\x14avro.codec" + bytes(9), "binary data; convert it", False),
    ("a.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "a PNG image", False),
    ("a.out", b"\x7fELF\x02\x01\x01\0", "a program", False),
    ("a.p7m", OID + bytes(200), "a signed or encrypted file, PKCS#7; extract its content", False),
    ("lfs.parquet", LFS, "a pointer of Git LFS; fetch the file with git lfs pull", False),
    ("saved.csv", HTML, "an HTML page", True),
    ("a.xml", b"<?xml version='1.0'?>\n<feed><entry>" + PROSE + b"</entry></feed>", r"an XML file (<feed>)", True),
    ("deep.xml", b"<a xmlns:b='urn:b'><b:c><b:d><b:e>" + PROSE, r"an XML file (<a>)", True),
    ("a.tmx", b"<?xml version='1.0'?><tmx version='1.4'><header/><body/></tmx>", "a translation memory, TMX", True),
    ("wiki.txt", b'<doc id="1" url="x" title="Rain">\nRain\n\n' + PROSE + b"\n</doc>\n<doc id='2'>\n</doc>\n",
     "a file of <doc> elements", True),
    ("a.opt", b"A1,VOL1,IMG\\A1.tif,Y,,,2\r\nA2,VOL1,IMG\\A2.tif,,,,\r\n", "a load file of images", True),
    ("a.ps", b"%!PS-Adobe-3.0\n" + PROSE, "a PostScript file", True),
]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    return tmp_path


def rows(*arguments: str, file_format: str | None = None) -> list[dict[str, object]]:
    found = resolve_sources(arguments, file_format=file_format)
    return [row for source in found.sources for batch in read_batches(source) for row in batch.to_pylist()]


BINARY = [npy(), b"\x89HDF\r\n\x1a\n" + bytes(50), pickle.dumps(["It was"] * 9), bytes(range(256)) * 9]


@pytest.mark.parametrize("data", BINARY, ids=["npy", "hdf5", "pickle", "any"])
def test_other_bytes_are_an_unreadable_document(folder: Path, data: bytes) -> None:
    Path("in", "a").write_bytes(data)
    Path("in", "zz.txt").write_bytes(PROSE)
    bad = rows("in")[0]
    assert (bad["text"], str(bad["problem"])[:21]) == (None, "not text: binary data")


@pytest.mark.parametrize(("name", "data", "what", "is_text"), KINDS, ids=[name for name, *_ in KINDS])
def test_named_on_its_own_it_is_refused_for_what_it_is(
    folder: Path, name: str, data: bytes, what: str, is_text: bool
) -> None:
    Path(name).write_bytes(data)
    with pytest.raises(SourceError) as caught:
        resolve_sources([name])
    assert str(caught.value).startswith(f"{name}: this is {what}")
    if is_text:
        (row,) = rows(name, file_format="file")
        assert row["problem"] is None or "UTF-8" in str(row["problem"])
    else:
        with pytest.raises(SourceError, match=f"^{name}: this is "):
            resolve_sources([name], file_format="file")
