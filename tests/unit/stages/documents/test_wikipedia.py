"""Dumps of Wikipedia: which pages are documents, and what becomes of dumps that are not whole."""

from __future__ import annotations

import bz2
import gzip
from collections.abc import Callable

import pytest

from nearkin.errors import SourceError, TruncatedInputError
from nearkin.formats import zstd
from nearkin.stages.documents.readers import wikipedia as wikipedia_pages
from nearkin.stages.documents.rules import problem_of
from wikipedia_dumps import HEAD, PROSE, TAIL, dump, page

Read = Callable[..., list[tuple[object, bytes | None, int, str | None]]]
FIRST_LINE = HEAD.count("\n") + 1
LINES_OF_A_PAGE = page("a", "a").count("\n")
WHOLE = dump(
    page("Regen & Schnee", f"'''Regen''' & [[Wasser]].\n{PROSE}[[Schlagwort:Wetter]]"),
    page("Regenfall", "#WEITERLEITUNG [[Regen]]", redirect="Regen"),
    page("Niesel", f"{PROSE}{{{{Wetter-stub}}}}"),
    page("Guss", "Ein kurzer Satz."),
    page("Regen (Begriffsklärung)", f"{PROSE}{{{{Begriffsklärung}}}}"),
    page("Diskussion:Regen", PROSE, namespace=1),
    page("1984", f"Ein Jahr. {PROSE}"),
)
TOLD = "input: 7 pages: 2 article, 1 redirect, 1 disambiguation, 2 stub, 1 other namespace"
PACKERS = {"none": bytes, "gzip": gzip.compress, "zstd": zstd.compress, "bzip2": bz2.compress}


def test_articles_are_documents_and_the_rest_is_counted(read: Read) -> None:
    told: list[str] = []
    rows = read(WHOLE, "wikipedia", note=told.append)
    assert [(row[0], row[2], row[3]) for row in rows] == [
        ("Regen & Schnee", FIRST_LINE, None),
        ("1984", WHOLE[: WHOLE.index(b"<title>1984")].count(b"\n"), None),
    ]
    assert rows[0][1] == f"Regen & Schnee\nRegen & Wasser.\n{PROSE.strip()}".encode()
    assert told == [TOLD]


@pytest.mark.parametrize("compression", PACKERS)
@pytest.mark.parametrize("batch_bytes", [1, 700, 1 << 20])
def test_neither_batches_nor_packing_change_the_rows(read: Read, compression: str, batch_bytes: int) -> None:
    half = len(WHOLE) // 2
    data = PACKERS[compression](WHOLE[:half]) + PACKERS[compression](WHOLE[half:])
    assert read(data, "wikipedia", compression=compression, batch_bytes=batch_bytes) == read(WHOLE, "wikipedia")


def test_languages_without_spaces_have_words_too(read: Read) -> None:
    assert len(read(dump(page("雨", "雨は水である。" * 20), page("雪", "雪。" * 20)), "wikipedia")) == 1


@pytest.mark.parametrize("compression", ["none", "gzip", "zstd", "bzip2"])
def test_a_dump_cut_short_gives_what_was_whole_and_then_a_problem(read: Read, compression: str) -> None:
    pages = [page(f"Regen {i}", f"{i} {PROSE}") for i in range(40)]
    whole = dump(*pages)
    packed = PACKERS[compression]
    parts = [packed((HEAD + pages[0]).encode())] + [packed(one.encode()) for one in (*pages[1:], TAIL)]
    data = b"".join(parts)
    cut = len(data) - len(parts[-1]) - len(parts[-2]) // 2
    rows = read(data[:cut], "wikipedia", compression=compression, takes_damaged=True)
    assert rows[:-1] == read(whole, "wikipedia")[: len(rows) - 1]
    assert len(rows) == 40  # 39 pages and the problem
    assert "truncated" in str(rows[-1][3])
    assert rows[-1][:2] == (None, None)
    assert rows[-1][2] >= FIRST_LINE + 38 * LINES_OF_A_PAGE


def test_a_dump_that_is_not_well_formed(read: Read) -> None:
    data = dump(page("a", PROSE)).replace(TAIL.encode(), b"<page></title>")
    rows = read(data, "wikipedia", takes_damaged=True)
    assert rows[0][0] == "a"
    fault = f"the XML is not well-formed in line {FIRST_LINE + LINES_OF_A_PAGE}, column 9: mismatched tag"
    assert rows[1][3] == problem_of("truncated", fault)
    with pytest.raises(TruncatedInputError, match=rf"^input: {fault}, after 1 document\."):
        read(data, "wikipedia")


DOCTYPES = [
    '<!DOCTYPE mediawiki [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]>',
    '<!DOCTYPE mediawiki [<!ENTITY a SYSTEM "file:///etc/passwd">]>',
    '<!DOCTYPE mediawiki SYSTEM "x.dtd" [<!ENTITY % a SYSTEM "http://localhost/a">%a;]>',
]


@pytest.mark.parametrize("doctype", DOCTYPES)
def test_entities_are_refused(read: Read, doctype: str) -> None:
    with pytest.raises(SourceError, match=r"^input declares its own document type"):
        read(doctype.encode() + dump(page("a", "&b;")), "wikipedia")


def test_a_page_too_long_is_a_problem_and_not_held(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wikipedia_pages, "MAX_CHARACTERS", 5000)
    told: list[str] = []
    rows = read(dump(page("a", "b " * 9000), page("c", PROSE), page("d" * 5000, PROSE)), "wikipedia", note=told.append)
    assert [(row[0], row[3]) for row in rows] == [
        ("a", "too large: its text is longer than 5,000 characters"),
        ("c", None),
        (None, "too large: its title is longer than 4,096 characters"),
    ]
    assert told == ["input: 3 pages: 1 article, 2 unreadable"]


def test_other_xml_is_refused(read: Read) -> None:
    with pytest.raises(SourceError, match="must be <mediawiki>"):
        read(b"<?xml version='1.0'?><html/>", "wikipedia")
