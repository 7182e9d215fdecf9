"""Office files and PDF: tags and placeholders of the library, embedded files, forms, second opinions."""

from __future__ import annotations

import io
import struct
import zipfile

import pytest

from compound_files import compound_file
from extraction_files import extracted, text_of, written
from generator import office_files as make

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


NOTE = '</w:r><w:r><w:footnoteReference w:id="2"/></w:r></w:p>'


def with_note(data: bytes) -> bytes:
    """The same document of Word with a footnote."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = {one: archive.read(one) for one in archive.namelist()}
    parts["word/document.xml"] = parts["word/document.xml"].replace(b"</w:r></w:p>", NOTE.encode())
    note = '<w:footnote w:id="2"><w:p><w:r><w:t>A note.</w:t></w:r></w:p></w:footnote>'
    parts["word/footnotes.xml"] = f'<w:footnotes xmlns:w="{WORD}">{note}</w:footnotes>'
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes"
    relation = f'<Relationship Id="f" Type="{kind}" Target="footnotes.xml"/></Relationships>'
    relations = parts["word/_rels/document.xml.rels"]
    parts["word/_rels/document.xml.rels"] = relations.replace(b"</Relationships>", relation.encode())
    return make.zipped(parts)


def test_marks_of_the_library_are_no_text(pool, tmp_path):
    rtf = b"{\\rtf1 It was.{\\footnote A note.}\\par {\\pict\\pngblip 89}}"
    files = {"a.docx": with_note(make.docx(["It was."])), "a.rtf": rtf}
    texts = {name: text_of(one) for name, one in extracted(pool, written(tmp_path, files)).items()}
    assert texts["a.docx"].split() == ["It", "was.", "A", "note."]
    assert "[" not in texts["a.rtf"]


def native(name: bytes, content: bytes) -> bytes:
    told = struct.pack("<IH", 0, 2) + name + b"\0" + b"C:\\x\\" + name + b"\0" + struct.pack("<I", 0)
    return told + struct.pack("<I", 3) + b"tmp" + struct.pack("<I", len(content)) + content


def test_files_wrapped_by_windows_are_unwrapped(pool, tmp_path):
    inner = make.pdf(["Inside."])
    wrapped = {
        "oleObject1.bin": compound_file({("\x01Ole10Native",): native(b"a.pdf", inner)}),
        "oleObject2.bin": compound_file({("CONTENTS",): inner}),
        "oleObject3.bin": compound_file({("Package",): make.docx(["Deep."])}),
        "oleObject4.bin": compound_file({("Equation Native",): b"x" * 100}),
    }
    found = extracted(pool, written(tmp_path, {"a.docx": make.docx(["Outside."], wrapped)}))
    assert {doc_id: text_of(one) for doc_id, one in found.items()} == {
        "a.docx": "Outside.", "a.docx!a.pdf": "Inside.", "a.docx!oleObject2.bin": "Inside.",
        "a.docx!oleObject3.bin": "Deep.",
    }  # fmt: skip
    assert (found["a.docx"].origin.exception, found["a.docx"].origin.is_partial) == ("partial", True)
    assert {one.origin.family for one in found.values()} == {"a.docx"}


def test_files_inside_a_pdf_and_pages_that_are_images(pool, tmp_path):
    both = make.pdf(["It was."], attached={"a.docx": make.docx(["Attached."])})
    found = extracted(pool, written(tmp_path, {"a.pdf": both, "b.pdf": make.pdf([], is_scan=True)}))
    assert {doc_id: one.text and text_of(one).strip() for doc_id, one in found.items()} == {
        "a.pdf": "It was.", "a.pdf!a.docx": "Attached.", "b.pdf": None,
    }  # fmt: skip
    assert found["b.pdf"].origin.exception == "image only"


def test_a_damaged_page_does_not_end_the_list_of_files_that_are_pinned_to_others(pool, tmp_path):
    pinned = (
        b"%PDF-1.4\n1 0 obj <</Type /Catalog /Pages 2 0 R>> endobj\n"
        b"2 0 obj <</Type /Pages /Kids [9 0 R 3 0 R] /Count 2>> endobj\n"
        b"3 0 obj <</Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] "
        b"/Annots [<</Type /Annot /Subtype /FileAttachment /Rect [1 1 9 9] /FS 5 0 R>>]>> endobj\n"
        b"5 0 obj <</Type /Filespec /F (a.txt) /EF <</F 6 0 R>>>> endobj\n"
        b"6 0 obj <</Type /EmbeddedFile /Length 9>> stream\nattached.\nendstream endobj\n"
        b"trailer <</Root 1 0 R>>\nstartxref\n0\n%%EOF\n"
    )
    found = extracted(pool, written(tmp_path, {"a.pdf": pinned}))
    assert (found["a.pdf"].origin.exception, found["a.pdf!a.txt"].text) == ("damaged", b"attached.")


def drawn(pieces: list[tuple[int, int, str]], notes: str = "") -> bytes:
    """A PDF of one page with pieces of text at places, in the order of the file."""
    content = "".join(f"BT /F 10 Tf {x} {y} Td ({text}) Tj ET\n" for x, y, text in pieces)
    return (
        "%PDF-1.4\n1 0 obj <</Type /Catalog /Pages 2 0 R>> endobj\n"
        "2 0 obj <</Type /Pages /Kids [3 0 R] /Count 1>> endobj\n"
        "3 0 obj <</Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R "
        f"/Resources <</Font <</F <</Type /Font /Subtype /Type1 /BaseFont /Helvetica>>>>>> /Annots [{notes}]>> endobj\n"
        f"4 0 obj <</Length {len(content)}>> stream\n{content}endstream endobj\n"
        "trailer <</Root 1 0 R>>\nstartxref\n0\n%%EOF\n"
    ).encode()


def rows_of(columns: dict[int, list[str]], top: int = 700, leading: int = 12) -> list[tuple[int, int, str]]:
    """Pieces of columns, row by row."""
    return [(x, top - leading * i, column[i]) for i in range(9) for x, column in columns.items()]


@pytest.mark.parametrize("at", [(50, 310), (30, 220, 410)])
def test_columns_that_a_file_draws_row_by_row_are_read_one_after_another(pool, tmp_path, at):
    columns = {x: [f"the {row} line of column {x} here" for row in "abcdefghi"] for x in at}
    title, foot = (50, 750, "A title that goes over all of the columns of this page " * 2), (50, 500, "foot " * 24)
    made = drawn([title, *rows_of(columns), foot, *rows_of(columns, 480)])
    (found,) = extracted(pool, written(tmp_path, {"a.pdf": made})).values()
    half = " ".join(line for column in columns.values() for line in column)
    assert text_of(found).split() == f"{title[2]} {half} {foot[2]} {half}".split()


def test_lines_that_overlap_bring_no_words_that_the_file_does_not_have(pool, tmp_path):
    columns = {x: [f"the {row} line of gypsy {x} quay" for row in "abcdefghi"] for x in (50, 310)}
    (found,) = extracted(pool, written(tmp_path, {"a.pdf": drawn(rows_of(columns, leading=7))})).values()
    assert text_of(found).split() == " ".join(text for _, _, text in rows_of(columns)).split()


def test_a_page_of_very_many_pieces_is_read_whole(pool, tmp_path):
    columns = {x: [f"the {row} line of column {x} here" for row in "abcdefghi"] for x in (50, 310)}
    pieces = [piece for i in range(320) for piece in rows_of(columns, 20_000 - 110 * i)]
    made = drawn(pieces).replace(b"[0 0 600 800]", b"[0 -20000 600 20020]")
    (found,) = extracted(pool, written(tmp_path, {"a.pdf": made})).values()
    assert len(text_of(found).split()) == 7 * len(pieces)


@pytest.mark.parametrize("columns", [{30: list("123456789"), 60: ["a line of a pleading with words"] * 9},
                                     {50: ["cost of the repair of the roof"] * 9, 400: ["1,250.00"] * 9}])  # fmt: skip
def test_numbers_beside_lines_and_amounts_stay_in_their_rows(pool, tmp_path, columns):
    (found,) = extracted(pool, written(tmp_path, {"a.pdf": drawn(rows_of(columns))})).values()
    assert text_of(found).split() == " ".join(text for _, _, text in rows_of(columns)).split()


def test_notes_and_comments_on_marks_are_text(pool, tmp_path):
    kinds = ("Text", "Highlight", "FreeText", "Link", "Popup")
    notes = " ".join(f"<</Type /Annot /Subtype /{kind} /Rect [1 1 9 9] /Contents (of {kind})>>" for kind in kinds)
    (found,) = extracted(pool, written(tmp_path, {"a.pdf": drawn([(50, 700, "A page.")], notes)})).values()
    assert text_of(found).split("\n") == ["A page.", "of Text", "of Highlight", "of FreeText"]


def test_what_is_filled_into_a_form_is_text(pool, tmp_path):
    from pypdf import PdfReader, PdfWriter
    from pypdf.generic import ArrayObject, DictionaryObject, FloatObject, NameObject, TextStringObject

    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(make.pdf(["A form."]))))

    def field(kind: str, name: str, value: object, **more: object) -> object:
        entries = {"/Type": "/Annot", "/Subtype": "/Widget", "/FT": kind, **more}
        return writer._add_object(
            DictionaryObject({
                **{NameObject(key): NameObject(entry) for key, entry in entries.items()},
                NameObject("/T"): TextStringObject(name), NameObject("/V"): value,
                NameObject("/Rect"): ArrayObject([FloatObject(place) for place in (50, 50, 200, 70)]),
            })
        )  # fmt: skip

    fields = ArrayObject([
        field("/Tx", "name", TextStringObject("Ada Byron")),
        field("/Btn", "fever", NameObject("/Yes"), **{"/AS": "/Yes"}),
        field("/Btn", "asthma", NameObject("/Off"), **{"/AS": "/Off"}),
    ])  # fmt: skip
    writer.pages[0][NameObject("/Annots")] = fields
    writer._root_object[NameObject("/AcroForm")] = DictionaryObject({NameObject("/Fields"): fields})
    sink = io.BytesIO()
    writer.write(sink)
    (found,) = extracted(pool, written(tmp_path, {"a.pdf": sink.getvalue()})).values()
    lines = [" ".join(line.split()[:2]) for line in text_of(found).splitlines() if line.strip()]
    assert lines == ["A form.", "Ada Byron", "☒ fever", "☐ asthma"]


def test_a_mailbox_of_outlook_that_is_none(pool, tmp_path):
    (found,) = extracted(pool, written(tmp_path, {"a.pst": b"!BDN" + bytes(2000)})).values()
    assert found.origin.exception in ("damaged", "unsupported")  # the second where the extra is missing
