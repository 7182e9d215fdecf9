"""``report.html`` of ``nearkin pairs``, from the outside."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from functional.conftest import nearkin_here
from translated_corpus import TranslatedCorpus, translated_corpus

WORDS = "harbour ferry island storm captain harbour ferry island storm captain"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> TranslatedCorpus:
    return translated_corpus(tmp_path_factory.mktemp("corpus"), n=80)


def page(out: Path, *arguments: object) -> str:
    ended = nearkin_here("pairs", *map(str, arguments), "--out", out, "-q")
    assert ended.code == 0, ended.err
    return (out / "report.html").read_text(encoding="utf-8").replace("\N{NO-BREAK SPACE}", " ")


def given(corpus: TranslatedCorpus) -> tuple[object, ...]:
    return ("--left", corpus.left, "--right", corpus.right, "--table", corpus.table)


def without_times(html: str) -> str:
    html = re.sub(r"</code> · [^<]*</p>", "", html)  # date and duration
    return html.partition('<h2 id="times">')[0]


def test_two_languages(corpus: TranslatedCorpus, tmp_path: Path) -> None:
    html = page(tmp_path / "a", *given(corpus), "--known", "same-ids", "--top", "2")
    assert "cosine ≥ 0.30, at most 2 per left document" in html
    assert "<dt>known pairs found</dt><dd><b><bdi>80</bdi></b>" in html
    assert "<dt>translated side</dt><dd><b><bdi>right</bdi></b>" in html
    assert re.search(r'<bdi>l\w+</bdi> <span class="to">→</span> <bdi>[rq]\w+</bdi>', html)
    assert "default-src 'none'" in html
    assert not re.search(r"<link|<img|@import|https?://(?!www\.w3\.org/2000/svg)", html)


def test_a_run_that_is_repeated_gives_the_same_page(corpus: TranslatedCorpus, tmp_path: Path) -> None:
    pages = [page(tmp_path / name, *given(corpus), "--threads", threads) for name, threads in (("a", "1"), ("b", "2"))]
    assert without_times(pages[0]) == without_times(pages[1])


def test_one_language_hostile_ids_and_bad_documents(tmp_path: Path) -> None:
    evil = "<img src=x onerror=alert(1)>\u202e"
    pq.write_table(pa.table({"id": [evil, "b", None], "text": [WORDS, "a few", WORDS]}), tmp_path / "left.parquet")
    (tmp_path / "right.tsv").write_bytes(b"id\ttext\nx\t" + WORDS.encode() + b"\ny\t\xff\xfe\n")
    html = page(tmp_path / "out", "--left", tmp_path / "left.parquet", "--right", tmp_path / "right.tsv")
    assert "translated side" not in html
    assert "&lt;img src=x onerror=alert(1)&gt;⟨U+202E⟩" in html
    assert "<img" not in html
    assert "Remarks about documents on the right" in html
    assert "<bdi>harbour</bdi>" in html
