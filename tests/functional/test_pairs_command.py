"""``nearkin pairs`` and its audit, from the outside."""

from __future__ import annotations

import bz2
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from functional.conftest import nearkin_here
from nearkin import pairs as search_pairs
from translated_corpus import TranslatedCorpus, translated_corpus
from wikipedia_dumps import dump, page


def nearkin(*arguments: object, code: int = 0) -> tuple[str, str]:
    done = nearkin_here(*arguments)
    assert done.code == code, (done.out, done.err)
    return done.out, done.err


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> TranslatedCorpus:
    return translated_corpus(tmp_path_factory.mktemp("corpus"), n=80)


def sides(corpus: TranslatedCorpus, *, table: bool = True) -> list[object]:
    given: list[object] = ["--left", corpus.left, "--right", corpus.right]
    return [*given, "--table", corpus.table] if table else given


def refused(*arguments: object, code: int = 3) -> str:
    said = nearkin("pairs", *arguments, code=code)[1]
    assert "Traceback" not in said
    return said


def test_pairs_and_what_is_known_of_them(corpus, tmp_path):
    out = tmp_path / "out"
    told = json.loads(nearkin("pairs", *sides(corpus), "--known", "same-ids", "--json", "--out", out)[0])
    assert told["command"] == "pairs"
    assert told["known"]["n_known"] == 80
    assert told["known"]["n_found"] == told["known"]["n_first"] == 80
    assert sum(told["known"]["histogram"]) == 80
    assert told["right"]["ways"]["whole"] == 1.0  # its language has more words in the table
    assert told["left"]["ways"] == {}
    assert told["table"]["translated"] == "right"
    assert told["plan"]["search"]["method"] == "vectors"
    table = pq.read_table(out / "pairs.parquet")
    assert table.num_rows == told["counts"]["pairs"] == len((out / "pairs.tsv").read_text().splitlines()) - 1
    assert min(table["cosine"].to_pylist()) >= 0.3
    first = table.slice(0, 1).to_pylist()[0]
    assert first["rank"] == 1
    assert first["terms"][0]["term"][0] in "rq"
    assert first["terms"][0]["left_term"].startswith("l")
    documents = pq.read_table(out / "documents.parquet").to_pylist()
    assert [row["side"] for row in documents] == ["left"] * 80 + ["right"] * 80
    assert all(row["best"] == row["id"] for row in documents if row["side"] == "left")
    assert json.loads((out / "manifest.json").read_text())["files"]


def test_known_pairs_from_files(corpus, tmp_path):
    lines = "left\tright\ndocument 0\tdocument 0\ndocument 1\tdocument 2\nno such\tdocument 1\n"
    (tmp_path / "known.tsv").write_text(lines)
    (tmp_path / "known.csv").write_text(lines.replace("\t", ","))
    pq.write_table(
        pa.table({"a": ["document 0", "document 1"], "b": ["document 0", "document 2"]}), tmp_path / "k.parquet"
    )
    for name, n_told in (("known.tsv", 3), ("known.csv", 3), ("k.parquet", 2)):
        out = tmp_path / name.replace(".", "-")
        known = json.loads(nearkin("pairs", *sides(corpus), "--known", tmp_path / name, "--json", "--out", out)[0])[
            "known"
        ]
        assert (known["n_told"], known["n_known"], known["n_found"]) == (n_told, 2, 1)
    (tmp_path / "bare.tsv").write_text("document 3\tdocument 3\n")
    told = nearkin("pairs", *sides(corpus), "--known", tmp_path / "bare.tsv", "--json", "--out", tmp_path / "bare")[0]
    assert json.loads(told)["known"]["n_told"] == 1
    (tmp_path / "none.tsv").write_text("left\tright\nx\ty\n")
    none = " ".join(refused(*sides(corpus), "--known", tmp_path / "none.tsv", "--out", tmp_path / "o").split())
    assert "none of its 1 pair has documents on both sides (the first is 'x' and 'y'). Its first line" in none
    assert "line, 'left' and 'right', was taken as a header. The first documents are 'document 0' on the left" in none
    (tmp_path / "one.tsv").write_text("left\nx\n")
    assert "two columns" in refused(*sides(corpus), "--known", tmp_path / "one.tsv", "--out", tmp_path / "o")
    pq.write_table(pa.table({"a": [["x"]], "b": [["y"]]}), tmp_path / "lists.parquet")
    assert "both sides" in refused(*sides(corpus), "--known", tmp_path / "lists.parquet", "--out", tmp_path / "o")
    assert "an existing file of pairs" in refused(*sides(corpus), "--known", "sameids", "--out", tmp_path / "o", code=2)
    assert not (tmp_path / "o").exists()


def test_both_precisions_of_known_pairs(tmp_path):
    """A left document without a known partner gets pairs too: they are wrong, and count only in the one of all."""
    words = [[f"{letter}{i}x{j}" for j in range(12)] for i in range(8) for letter in "a"]
    rows = {"left": [*words, words[0], words[1]], "right": words}  # the last two on the left are copies of the first
    for side, texts in rows.items():
        ids = [f"d{i}" for i in range(len(texts))]
        table = pa.table({"id": ids, "text": [" ".join(one * 2) for one in texts]})
        pq.write_table(table, tmp_path / f"{side}.parquet")
    given = ["--left", tmp_path / "left.parquet", "--right", tmp_path / "right.parquet"]
    came = nearkin("pairs", *given, "--known", "same-ids", "--out", tmp_path / "out")[0]
    told = json.loads((tmp_path / "out" / "manifest.json").read_text())["known"]
    assert (told["n_pairs"], told["n_pairs_of_known_left"], told["n_found"]) == (10, 8, 8)
    assert told["precision_of_all_pairs"] == 0.8
    assert told["precision_of_known_left"] == 1.0
    assert "precision 80.0% of 10 pairs" in " ".join(came.split())
    html = (tmp_path / "out" / "report.html").read_text()
    assert "<dt>precision</dt><dd><b><bdi>80.0%</bdi></b>" in html
    assert "<dt>precision of known documents</dt><dd><b><bdi>100%</bdi></b>" in html


def test_known_pairs_are_marked_and_listed(corpus, tmp_path):
    out = tmp_path / "out"
    nearkin("pairs", *sides(corpus), "--known", "same-ids", "--threshold", 0.6, "--out", out)
    pairs = pq.read_table(out / "pairs.parquet").to_pylist()
    assert all(row["known"] == (row["left_id"] == row["right_id"]) for row in pairs)
    lines = [line.split("\t") for line in (out / "known.tsv").read_text().splitlines()[1:]]
    assert len(lines) == 80
    assert [float(line[0]) for line in lines] == sorted(float(line[0]) for line in lines)
    ranks = {row["left_id"]: str(row["rank"]) for row in pairs if row["known"]}
    assert {line[1]: line[3] for line in lines if line[3]} == ranks
    assert all((float(line[0]) >= 0.6) == bool(line[3]) for line in lines)
    nearkin("pairs", *sides(corpus), "--overwrite", "--out", out)
    assert not (out / "known.tsv").exists()
    assert pq.read_table(out / "pairs.parquet")["known"].null_count == len(pq.read_table(out / "pairs.parquet"))


def test_equal_documents(tmp_path):
    """Their cosine is 1 but for rounding, and they stand in each other's windows by chance."""
    texts = [f"{' '.join(f'word{i}x{j}' for j in range(12))}" for i in range(40)] * 2
    for side in ("left", "right"):
        pq.write_table(pa.table({"id": range(80), "text": texts}), tmp_path / f"{side}.parquet")
    given = ["--left", tmp_path / "left.parquet", "--right", tmp_path / "right.parquet", "--threshold", 1]
    told = json.loads(nearkin("pairs", *given, "--json", "--out", tmp_path / "out")[0])
    assert told["counts"]["pairs"] == 40 * 4
    many = ["same words in every one of these documents"] * 300
    for side in ("left", "right"):
        pq.write_table(pa.table({"id": range(300), "text": many}), tmp_path / f"{side}.parquet")
    few = search_pairs(
        tmp_path / "left.parquet", tmp_path / "right.parquet", threshold=1, method="window", bits=64, distance=0,
        permutations=9, window=20, top=1,
    )  # fmt: skip
    assert few.manifest["counts"]["left_with_pairs"] > 290


def test_both_languages_in_one_file(corpus, tmp_path):
    both = tmp_path / "both.parquet"
    pq.write_table(pa.table({"id": range(80), "l": corpus.left_texts, "r": corpus.right_texts}), both)
    given = ["--left", both, "--left-text", "l", "--right", both, "--right-text", "r", "--table", corpus.table]
    told = json.loads(nearkin("pairs", *given, "--known", "same-ids", "--json", "--out", tmp_path / "out")[0])
    assert told["known"]["n_first"] == 80
    assert pq.read_table(tmp_path / "out" / "pairs.parquet").schema.field("left_id").type == pa.int64()
    said = refused("--left", both, "--right", both, "--text", "l", "--out", tmp_path / "o", code=2)
    assert "is on both sides" in said


def test_the_right_side_may_be_in_the_first_language_of_the_table(corpus, tmp_path):
    turned = ["--left", corpus.right, "--right", corpus.left, "--table", corpus.table, "--right-language", "aa"]
    told = json.loads(nearkin("pairs", *turned, "--known", "same-ids", "--json", "--out", tmp_path / "out")[0])
    assert (told["table"]["source"], told["table"]["target"], told["known"]["n_first"]) == ("bb", "aa", 80)
    assert json.loads(nearkin("audit", tmp_path / "out", "--sample", 80, "--json")[0])["n_true"] >= 80
    refused(*turned[:-1], "cc", "--out", tmp_path / "o", code=2)
    refused(*turned[:4], "--right-language", "aa", "--out", tmp_path / "o", code=2)


def test_the_audit_tells_the_recall_that_was_reached(corpus, tmp_path):
    out, missed = tmp_path / "out", tmp_path / "missed.tsv"
    few_told = search_pairs(
        corpus.left, corpus.right, table=corpus.table, threshold=0.15, method="window", bits=256, distance=100,
        permutations=2, window=10, out=out,
    ).manifest  # fmt: skip
    every = json.loads(
        nearkin("pairs", *sides(corpus), "--threshold", 0.15, "--json", "--out", tmp_path / "every")[0]
    )  # fmt: skip
    told = json.loads(nearkin("audit", out, "--sample", 80, "--out", missed, "--json")[0])
    assert told["is_exact"]
    assert told["n_true"] == every["counts"]["pairs"]
    assert told["n_found"] == few_told["counts"]["pairs"] < told["n_true"]
    assert told["missed_pairs"] == told["n_true"] - told["n_found"]
    promised = told["predicted_recall"]
    assert promised == few_told["plan"]["predicted"]["recall_low"]
    assert told["predicted_high"] == few_told["plan"]["predicted"]["recall_high"] >= promised
    assert told["below_predicted"] == pytest.approx(max(0.0, promised - told["recall"]), abs=1e-5)
    part = json.loads(nearkin("audit", out, "--sample", 20, "--seed", 3, "--json")[0])
    assert part["low"] <= told["recall"] <= part["high"]


def test_articles_and_the_links_between_editions(corpus, tmp_path):
    """Two dumps: every article links to its own translation, but for two that link to another one."""
    left, right = tmp_path / "aawiki.xml.bz2", tmp_path / "bbwiki.xml"
    links = {0: 1, 1: 0}
    texts = [f"{text}\n[[bb:Article {links.get(i, i)}]]" for i, text in enumerate(corpus.left_texts)]
    left.write_bytes(bz2.compress(dump(*(page(f"Artikel {i}", text) for i, text in enumerate(texts)))))
    right.write_bytes(dump(*(page(f"Article {i}", text) for i, text in enumerate(corpus.right_texts))))
    given = ["--left", left, "--right", right, "--table", corpus.table, "--known", "links", "--top", 5]
    told = json.loads(nearkin("pairs", *given, "--json", "--out", tmp_path / "out")[0])
    assert told["known"]["n_known"] == 80
    assert told["known"]["n_first"] == 78
