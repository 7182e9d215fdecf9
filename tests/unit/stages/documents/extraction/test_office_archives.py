"""Office files whose ZIP archive is unusual: they are read as archives of other files are."""

from __future__ import annotations

import io
import zipfile

import pytest

from extraction_files import extracted, text_of, written
from generator import office_files as make

TOLD = "It was a dark and stormy night."
FILES = {
    "a.docx": make.docx([TOLD]), "a.xlsx": make.xlsx([[TOLD]]), "a.pptx": make.pptx([TOLD]), "a.odt": make.odt([TOLD]),
    "a.zip": make.zipped({"a.txt": TOLD}),
}  # fmt: skip


def encrypted(data: bytes, *names: bytes, local: bool = False) -> bytes:
    """The same with the flag of encryption in the directory, or only in the headers of the files; nothing else."""
    mark, flags, name_at = (b"PK\3\4", 6, 30) if local else (b"PK\1\2", 8, 46)
    told, at = bytearray(data), 0
    while (at := told.find(mark, at)) >= 0:
        if not names or told[at + name_at :].startswith(names):
            told[at + flags] |= 1
        at += 4
    return bytes(told)


@pytest.mark.parametrize(
    ("mark", "n_bytes", "is_found"), [(b"MZ\x90\0", 60_000, True), (b"\x7fELF\2\1\1\0", 70_000, False)]
)
def test_a_self_extracting_archive_is_read_if_it_begins_near_the_start(pool, tmp_path, mark, n_bytes, is_found):
    """The first 64 KiB decide; a program is never taken for a text."""
    files = {name: mark + bytes(n_bytes) + data for name, data in FILES.items()}
    found = extracted(pool, written(tmp_path, files))
    kinds = ["docx", "xlsx", "pptx", "odt", "text"] if is_found else ["unsupported"] * 5
    assert [one.origin.kind for one in found.values()] == kinds
    assert {one.origin.exception for one in found.values()} == ({None} if is_found else {"unsupported"})
    assert all((TOLD in text_of(one)) if is_found else one.text is None for one in found.values())


def test_an_office_file_that_is_encrypted_as_an_archive_says_so(pool, tmp_path):
    parts = {"a.docx": b"word/document.xml", "a.xlsx": b"xl/", "a.pptx": b"ppt/", "a.odt": b"content.xml"}
    for local in (False, True):
        whole = {name: encrypted(FILES[name]) for name in parts}
        of_text = {f"text-{name}": encrypted(FILES[name], part) for name, part in parts.items()}
        files = whole | of_text
        if local:
            files = {name: encrypted(data, local=True) for name, data in files.items()}
        found = extracted(pool, written(tmp_path, files))
        assert {name: (one.text, one.origin.exception) for name, one in found.items()} == dict.fromkeys(
            files, (None, "encrypted")
        )


PAGE = "<html><body><p>{}&nbsp;<b>more</b></p></body></html>"
BOOK = {
    "mimetype": "application/epub+zip",
    "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="c.opf" media-type="application/oebps-package+xml"/></rootfiles></container>',
    "c.opf": '<package xmlns="http://www.idpf.org/2007/opf"><manifest>'
    '<item id="a" href="a.html" media-type="application/xhtml+xml"/></manifest>'
    '<spine><itemref idref="a"/></spine></package>',
    "a.html": PAGE.format(TOLD),
}


def with_part(data: bytes, name: str, of_part) -> bytes:
    """A whole archive with another text of one part."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = {one: archive.read(one).decode() for one in archive.namelist()}
    return make.zipped(parts | {name: of_part(parts.get(name, ""))})


def test_text_whose_xml_is_truncated_in_a_whole_archive_is_incomplete(pool, tmp_path):
    def without_end(part: str) -> str:
        return part[: part.index(">", part.index(TOLD)) + 1]

    two, styles = make.pptx(["First.", TOLD]), '<office:document-styles xmlns:office="urn:oasis"><office:styles>'
    book = make.zipped(BOOK)
    cut = {
        "a.docx": with_part(make.docx(["First.", TOLD]), "word/document.xml", without_end),
        "b.docx": with_part(FILES["a.docx"], "word/header1.xml", lambda _: "<w:hdr><w:p>"),
        "a.pptx": with_part(two, "ppt/slides/slide2.xml", without_end),
        "a.xlsx": with_part(FILES["a.xlsx"], "xl/worksheets/sheet1.xml", without_end),
        "a.odt": with_part(FILES["a.odt"], "styles.xml", lambda _: styles),
        "a.epub": with_part(book, "a.html", without_end),
    }
    found = extracted(pool, written(tmp_path, cut | {"b.epub": book, "b.pptx": two}))
    assert {name for name, one in found.items() if one.origin.exception == "damaged"} == cut.keys()
    assert {name for name, one in found.items() if one.origin.is_partial} == cut.keys() - {"a.xlsx"}
