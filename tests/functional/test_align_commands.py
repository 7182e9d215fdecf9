"""``nearkin align`` from the outside."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from functional.conftest import nearkin_here

GERMAN = ["Das Haus", "Das Buch", "Ein Buch", "", "Ein Haus 1990"]
ENGLISH = ["The house", "The book", "A book", "nothing", "A house 1990"]


def nearkin(*arguments: object, code: int = 0) -> tuple[str, str]:
    done = nearkin_here(*arguments)
    assert done.code == code, (done.out, done.err)
    return done.out, done.err


@pytest.fixture
def texts(tmp_path: Path) -> tuple[Path, Path]:
    paths = tmp_path / "news.de", tmp_path / "news.en"
    for path, lines in zip(paths, (GERMAN, ENGLISH), strict=True):
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return paths


def train(*arguments: object, out: Path, code: int = 0) -> tuple[str, str]:
    languages = ("--source", "de", "--target", "en")
    return nearkin("align", "train", *arguments, *languages, "--out", out, "--json", code=code)


def translations(table: Path, word: str, *options: str) -> list[str]:
    told = json.loads(nearkin("align", "show", table, word, *options, "--json")[0])
    return [one["word"] for one in told["translations"]]


def test_a_table_is_learned_shown_pruned_and_merged(texts, tmp_path):
    table = tmp_path / "de-en.table"
    told = json.loads(train(*texts, out=table)[0])
    assert (told["pairs_read"], told["pairs_with_an_empty_side"], told["pairs"]) == (5, 1, 4)
    assert all(later < earlier for one in told["perplexities"] for earlier, later in pairwise(one))
    assert translations(table, "HAUS")[0] == "house"
    assert translations(table, "book", "--reverse")[0] == "buch"
    assert translations(table, "1990")[0] == "1990"
    assert translations(table, "baum") == []
    assert pq.read_table(table).column_names == [
        "source", "target", "p_target_given_source", "p_source_given_target", "count"
    ]  # fmt: skip
    small, both = tmp_path / "small.table", tmp_path / "both.table"
    nearkin("align", "prune", table, "--max-translations", 1, "--out", small)
    assert translations(small, "haus") == ["house"]
    words = tmp_path / "words.tsv"
    words.write_text("baum\ttree\nbaum\ttree\nein baum\ttree\nhaus\tbuilding\n", encoding="utf-8")
    out, _ = nearkin("align", "dictionary", words, "--source", "de", "--target", "en", "--out", tmp_path / "d.table")
    flat = " ".join(out.split())
    assert "entries 4 skipped 1 more than one word on a side skipped 1 repeated entries" in flat
    nearkin("align", "merge", table, tmp_path / "d.table", "--out", both)
    assert translations(both, "baum") == ["tree"]
    assert {"house", "building"} <= set(translations(both, "haus"))


def tmx(pairs: list[tuple[str, str]]) -> str:
    body = "".join(
        f'<tu><tuv xml:lang="de-DE"><seg>{de}</seg></tuv><tuv xml:lang="en-US"><seg>{en}</seg></tuv></tu>\n'
        for de, en in pairs
    )
    return f'<?xml version="1.0"?>\n<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n<tmx><header/><body>\n{body}</body></tmx>\n'


def test_every_format_gives_the_same_table(texts, tmp_path):
    pairs = list(zip(GERMAN, ENGLISH, strict=True))
    columns = pa.table({"id": range(5), "de": GERMAN, "en": ENGLISH})
    pq.write_table(columns, tmp_path / "a.parquet")
    (tmp_path / "a.jsonl").write_text("".join(json.dumps({"de": a, "text_en": b}) + "\n" for a, b in pairs))
    (tmp_path / "a.tsv").write_text("src\ttrg\n" + "".join(f"{a}\t{b}\n" for a, b in pairs))
    (tmp_path / "a.csv").write_text("left,right\n" + "".join(f'"{a}","{b}"\n' for a, b in pairs))
    (tmp_path / "a.tmx").write_text(tmx(pairs))
    train(*texts, out=tmp_path / "lines.table")
    expected = (tmp_path / "lines.table").read_bytes()
    for name in ("a.parquet", "a.jsonl", "a.tsv", "a.csv", "a.tmx"):
        options = ("--text", "left,right") if name == "a.csv" else ()
        train(tmp_path / name, *options, out=tmp_path / "other.table")
        assert (tmp_path / "other.table").read_bytes() == expected, name
        (tmp_path / "other.table").unlink()


def refused(tmp_path: Path, *arguments: object, code: int) -> str:
    out = tmp_path / "refused.table"
    _, err = train(*arguments, out=out, code=code)
    assert not out.exists()
    return json.loads(err.splitlines()[-1])["message"]


def test_a_tmx_file_that_is_cut_short_or_of_other_languages(tmp_path):
    path = tmp_path / "a.tmx"
    whole = tmx(list(zip(GERMAN, ENGLISH, strict=True)))
    path.write_text(whole[:-40])
    message = refused(tmp_path, path, code=13)
    assert "the XML is truncated in line 8" in message
    assert "4 pairs of sentences were read before it; --on-error skip continues with only these" in message
    told = json.loads(train(path, "--on-error", "skip", out=tmp_path / "a.table")[0])
    assert told["pairs_read"] == 4
    path.write_text(whole.replace("de-DE", "fr"))
    message = refused(tmp_path, path, code=3)
    assert "none of its 5 units has a text in both de and en. Its languages are: fr (5), en-US (5)" in message


def test_a_line_that_is_no_entry_of_a_dictionary(tmp_path):
    path, out = tmp_path / "words.tsv", tmp_path / "a.table"
    path.write_bytes(b"haus\thouse\tnoun\n\nbaum\nb\xe4r\tbear\n")
    languages = ("--source", "de", "--target", "en", "--out", out)
    assert "words.tsv:3: the line has no tab" in nearkin("align", "dictionary", path, *languages, code=4)[1]
    assert not out.exists()
    told = json.loads(nearkin("align", "dictionary", path, *languages, "--on-error", "skip", "--json")[0])
    assert (told["entries"], told["lines_without_a_tab"], told["translations"]) == (1, 2, 1)
    nearkin("align", "dictionary", path, *languages, "--overwrite", "--on-error", "ask", code=2)
    path.write_text("ein haus\ta house\n")
    assert "no line has one word" in nearkin("align", "dictionary", path, *languages, "--overwrite", code=3)[1]
    path.write_bytes("haus\thouse\nbaum\ttree\n".encode("utf-16")[:-1])
    nearkin("align", "dictionary", path, *languages, "--overwrite", code=13)
