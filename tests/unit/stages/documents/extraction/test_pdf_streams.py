"""The quick look at the streams of a PDF: it may suspect a whole file, and never misses a damaged page."""

from __future__ import annotations

import random
import zlib

from example_counts import examples
from generator import office_files as make
from made_up_prose import Prose
from nearkin.stages.documents.extraction.pdf import _reader, damaged_pages, may_be_damaged

MOST = 1 << 20


def damaged(data: bytes) -> list[int]:
    try:
        return damaged_pages(_reader(data), MOST)
    except Exception:  # noqa: BLE001  (pypdf raises what comes)
        return []


def packed_pdf(texts: list[str]) -> bytes:
    """A PDF with a page for each text, whose streams are packed as most programs pack them."""
    kids = " ".join(f"{3 + 2 * i} 0 R" for i in range(len(texts)))
    objects = [b"<</Type/Catalog/Pages 2 0 R>>", f"<</Type/Pages/Kids[{kids}]/Count {len(texts)}>>".encode()]
    for i, text in enumerate(texts):
        packed = zlib.compress(b"BT /F 10 Tf (" + text.encode() + b") Tj ET")
        objects.append(f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents {4 + 2 * i} 0 R>>".encode())
        told = f"<</Length {len(packed)}/Filter/FlateDecode>>\nstream\n".encode()
        objects.append(told + packed + b"\nendstream")
    return make._with_table(objects)


def test_no_damaged_page_is_missed():
    prose, chance, n_damaged = Prose(3), random.Random(5), 0
    whole = packed_pdf([prose.text(200) for _ in range(4)])
    assert not may_be_damaged(whole, MOST)
    for _ in range(examples(300)):
        at, n = chance.randrange(len(whole)), chance.choice([1, 4, 40, 200])
        changed = chance.choice([b"", bytes(n), b" " * n, chance.randbytes(n)])
        data = whole[:at] + changed + whole[at + n :]
        if damaged(data):
            n_damaged += 1
            assert may_be_damaged(data, MOST)
    assert n_damaged > 20


def test_what_only_the_parser_can_judge_is_suspected():
    whole = make.pdf(["Some words on a page."])
    for mark in (b"/Filter 5 0 R", b"/ASCII85Decode", b"/Encrypt 5 0 R", b"/F#6cateDecode", bytes(64)):
        assert may_be_damaged(whole + mark, MOST)
