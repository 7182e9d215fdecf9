"""Text in images: known pages read by the real engine in the real sandbox."""

from __future__ import annotations

import struct
import time
from collections.abc import Iterator

import pytest

from extraction_files import extracted, text_of, written
from generator import office_files as make
from nearkin.errors import ParameterError
from nearkin.stages.documents.extraction.kinds import current_name
from nearkin.stages.documents.extraction.ocr import read_image, tiff_pages
from nearkin.stages.documents.extraction.pdf import read_pdf
from nearkin.stages.documents.extraction.pool import ExtractionPool
from nearkin.stages.documents.extraction.reading import Blob, Given
from nearkin.stages.documents.members import is_ocr
from nearkin.stages.documents.rules import ExtractionLimits, language_data
from page_images import grey_png, needs_english, png, scan, tiff

NIGHT = (
    "It was a dark and stormy night; the rain fell in torrents, except at occasional intervals, when it was checked by "
    "a violent gust of wind which swept up the streets."
)
LEASE = "The tenant pays the rent of 1,250 pounds on the first day of each month, and keeps the garden in good order."
WARNING = "by OCR (eng): words may be wrong"


@pytest.fixture(scope="module")
def reading() -> Iterator[ExtractionPool]:
    with ExtractionPool(2, ocr="eng") as made:
        yield made


def words_of(text: str) -> list[str]:
    return text.split()


@needs_english
def test_pages_that_are_images_are_read_in_their_places(reading, tmp_path):
    files = {"a.pdf": scan(NIGHT, LEASE), "b.pdf": scan(LEASE, first="A cover."), "c.pdf": make.pdf([NIGHT])}
    found = extracted(reading, written(tmp_path, files))
    assert {name: words_of(text_of(one)) for name, one in found.items()} == {
        "a.pdf": words_of(f"{NIGHT} {LEASE}"), "b.pdf": words_of(f"A cover. {LEASE}"), "c.pdf": words_of(NIGHT),
    }  # fmt: skip
    origins = {name: one.origin for name, one in found.items()}
    assert [one.exception for one in origins.values()] == [None] * 3
    assert [one.n_pages for one in origins.values()] == [2, 2, 1]
    assert [one.warnings for one in origins.values()] == [f"text {WARNING}"] * 2 + [""]
    assert [is_ocr(one.extractor) for one in origins.values()] == [True, True, False]
    assert origins["a.pdf"].extractor == current_name("xberg OCR eng")


@needs_english
def test_images_of_each_kind_alone_and_inside_a_mail(reading, tmp_path):
    files = {
        "a.png": png(NIGHT), "b.tif": tiff(NIGHT, LEASE), "c.tif": tiff(LEASE, NIGHT, order=">"),
        "d.eml": make.mail({"From": "ada@b.org"}, "See.", {"scan.png": png(LEASE)}),
    }  # fmt: skip
    found = extracted(reading, written(tmp_path, files))
    assert {name: words_of(text_of(one)) for name, one in found.items()} == {
        "a.png": words_of(NIGHT), "b.tif": words_of(f"{NIGHT} {LEASE}"), "c.tif": words_of(f"{LEASE} {NIGHT}"),
        "d.eml": ["See."], "d.eml!scan.png": words_of(LEASE),
    }  # fmt: skip
    assert [found[name].origin.n_pages for name in ("a.png", "b.tif", "c.tif")] == [None, 2, 2]


def blank(width: int, height: int) -> bytes:
    return grey_png(width, height, b"\xff" * (width * height))


@needs_english
def test_images_without_a_text_damaged_ones_and_huge_ones(reading, tmp_path):
    files = {
        "blank.png": blank(400, 300), "cut.png": png(NIGHT)[:2000], "huge.png": blank(12_000, 8_000),
        "scan.pdf": scan(""), "cut.tif": tiff(NIGHT)[:3000],
        "tiny.jpg": b"\xff\xd8\xff\xe0" + bytes(20), "fine.png": png(LEASE),
    }  # fmt: skip
    found = extracted(reading, written(tmp_path, files))
    assert {name: one.origin.exception for name, one in found.items()} == {
        "blank.png": "image only", "cut.png": "damaged", "huge.png": "too large", "scan.pdf": "image only",
        "cut.tif": "damaged", "tiny.jpg": "damaged", "fine.png": None,
    }  # fmt: skip
    assert "--extraction-limit size=" in str(found["huge.png"].problem)
    assert str(found["scan.pdf"].problem) == "image only: its pages are images; OCR recognised no text"


@needs_english
def test_each_page_has_the_time_of_a_document():
    """Else a scan of a hundred pages would be too much for the limit of one document."""
    begun: list[None] = []
    for read, data in ((read_pdf, scan(LEASE, LEASE, first=NIGHT)), (read_image, tiff(LEASE, NIGHT))):
        begun.clear()
        given = Given(
            blob=Blob(data), kind="any", ocr=language_data("eng"), begin_again=lambda: begun.append(None)
        )  # fmt: skip
        assert read(given).text
        assert len(begun) == 2


@needs_english
def test_a_page_for_which_memory_is_too_small_costs_its_own_text_alone(monkeypatch):
    xberg = pytest.importorskip("xberg")

    def fail_once(*_: object) -> None:
        monkeypatch.undo()
        raise RuntimeError("OCR error: out of memory")

    monkeypatch.setattr(xberg, "extract", fail_once)
    given = Given(blob=Blob(scan(NIGHT, LEASE, first="A cover.")), kind="pdf", ocr=language_data("eng"))
    read = read_pdf(given)
    assert words_of(read.text or "") == words_of(f"A cover. {LEASE}")
    assert (read.reason, read.n_pages) == ("image only", 3)
    assert "--extraction-limit memory=" in str(read.fault)


def with_pages(image: bytes, n_pages: int) -> bytes:
    """A TIFF of one page, with more directories behind it that name the same image: 120 bytes for each page."""
    (at,) = struct.unpack_from("<I", image, 4)
    (n_fields,) = struct.unpack_from("<H", image, at)
    fields, end = image[at : at + 2 + 12 * n_fields], len(image)
    more = [fields + struct.pack("<I", end + (len(fields) + 4) * number) for number in range(1, n_pages)]
    return image[:-4] + struct.pack("<I", end) + b"".join(more[:-1]) + fields + bytes(4)


@needs_english
def test_a_file_of_many_pages_has_a_time_limit_of_its_own_and_what_was_done_by_then_is_no_text(tmp_path):
    """Which pages were done by then depends on the machine; the texts of the other pages do not."""
    pages = with_pages(tiff(NIGHT), 200)
    assert len(list(tiff_pages(pages))) == 200
    files = {
        "a.tif": pages, "b.pdf": scan(*[LEASE] * 60, first="A cover."), "c.pdf": scan(*[LEASE] * 60),
        "d.png": png(LEASE),
    }  # fmt: skip
    begun = time.monotonic()
    with ExtractionPool(2, ExtractionLimits(ocr=1), ocr="eng") as pool:
        found = extracted(pool, written(tmp_path, files))
    assert time.monotonic() - begun < 30
    late = str(ExtractionLimits(ocr=1).exceeded("ocr").sentence)
    origins = {name: (one.origin.exception, one.origin.sentence, one.origin.extractor) for name, one in found.items()}
    assert origins == {
        "a.tif": ("time-out", late, current_name("xberg OCR eng")),
        "b.pdf": ("time-out", f"60 of 61 pages are images; {late}", current_name("pypdfium2")),
        "c.pdf": ("time-out", f"its pages are images; {late}", current_name("pypdfium2")),
        "d.png": (None, None, current_name("xberg OCR eng")),
    }
    assert words_of(text_of(found["b.pdf"])) == ["A", "cover."]
    assert found["b.pdf"].origin.is_partial
    assert [found[name].text for name in ("a.tif", "c.pdf")] == [None, None]


@pytest.mark.parametrize("given", ["eng+", "../eng", "eng+eng", 3])
def test_what_is_no_language_is_refused(given):
    with pytest.raises(ParameterError, match="languages as tesseract names them"):
        language_data(given)
