"""A training set without the items of a benchmark: what is dropped, what is said of each item, what is refused."""

from __future__ import annotations

import functools
import hashlib
import html
import json
import random
import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import nearkin
from functional.conftest import nearkin_here, write_jsonl
from made_up_prose import Prose
from nearkin.errors import ParameterError
from nearkin.workflows.auditing.audit import audit
from nearkin.workflows.auditing.audited import AuditOptions

Texts = dict[str, str]


def benchmark(seed: int = 4) -> tuple[Texts, Texts]:
    """Training documents, and items of 2 to 60 words of which half stand in one or two of these."""
    prose, chance = Prose(seed), random.Random(seed)
    train = {f"t{i}": prose.text(chance.randint(60, 200)) for i in range(240)}
    train |= {f"short-{i}": prose.text(chance.randint(5, 7)) for i in range(30)}
    items = {}
    for i in range(60):
        words = prose.text(chance.choice([2, 4, 8, 15, 20, 40, 60])).split()
        items[f"q{i}"] = " ".join(words)
        for doc_id in chance.sample([f"t{i}" for i in range(240)], chance.randint(1, 2)) if i % 2 else ():
            place = chance.randint(0, 50)
            held = train[doc_id].split()
            kept = words if i % 3 else words[: max(1, len(words) * 2 // 3)]  # some stand there in part
            train[doc_id] = " ".join([*held[:place], *kept, *held[place:]])
    return train, items


@functools.cache
def grams(text: str, n: int) -> frozenset[tuple[str, ...]]:
    words = text.lower().split()
    return frozenset(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("benchmark")
    return tuple(
        write_jsonl(folder / f"{name}.jsonl", [{"id": one, "text": text} for one, text in texts.items()])
        for name, texts in zip(("train", "eval"), benchmark(), strict=True)
    )


def dropped(out: Path) -> dict[str, tuple[str, float]]:
    """Documents with the item that each was dropped for, and the share."""
    rows = pq.read_table(out / "documents.parquet").to_pylist()
    assert {row["reason"] for row in rows if not row["keep"]} <= {"overlap", "near-duplicate"}
    return {row["id"]: (row["group"], row["similarity_to_principal"]) for row in rows if not row["keep"]}


def dedup(files, out: Path, *arguments: object):
    train, items = files
    return nearkin_here("dedup", train, "--against", items, "--out", out, *arguments)


def test_what_contains_an_item_is_dropped(files, tmp_path):
    train, items = benchmark()
    ended = dedup(
        files, tmp_path / "out", "--drop", "containing", "--threshold", "0.6", "--recall", "0.999999", "--write-kept"
    )
    assert ended.code == 0
    shares = {
        (doc_id, item): len(grams(text, 5) & grams(of_item, 5)) / len(grams(of_item, 5))
        for doc_id, text in train.items()
        for item, of_item in items.items()
        if grams(of_item, 5)
    }
    truth = {pair: share for pair, share in shares.items() if share >= 0.6}
    found = dropped(tmp_path / "out")
    assert found.keys() == {doc_id for doc_id, _ in truth}
    assert len(found) > 20
    for doc_id, (item, share) in found.items():
        assert share == truth[doc_id, item] == max(truth.get((doc_id, other), 0) for other in items)
    kept = [json.loads(line)["id"] for line in (tmp_path / "out/kept/train.jsonl").read_text().splitlines()]
    assert kept == [doc_id for doc_id in train if doc_id not in found]
    rows = {row["id"]: row for row in pq.read_table(tmp_path / "out/against.parquet").to_pylist()}
    for item in items:
        n_documents = sum(1 for _, other in truth if other == item)
        assert rows[item]["n_documents"] == n_documents
        expected = "match" if n_documents else "too short" if not grams(items[item], 5) else "no match"
        assert rows[item]["result"] == expected
        assert not n_documents or (rows[item]["most_similar"], item) in truth
    n_short = sum(not grams(text, 5) for text in items.values())
    assert n_short >= sum(row["result"] == "too short" for row in rows.values())
    said = " ".join(ended.out.split())
    assert (
        f"Other set: 60 documents, {sum(row['result'] == 'match' for row in rows.values())} with a match in INPUT"
        in said
    )
    assert f"{n_short} documents of the other set are shorter than one shingle (words:5)" in said
    assert "documents of the other set are too short to be found" in (tmp_path / "out/report.html").read_text()


def test_a_short_item_with_a_match_still_counts_as_not_found_inside_longer_documents(tmp_path):
    longer = "Sorry, the page not found on this server may have moved to another place."
    train = write_jsonl(tmp_path / "w.jsonl", [{"id": "t1", "text": "Page not found."}, {"id": "t2", "text": longer}])
    items = write_jsonl(tmp_path / "wq.jsonl", [{"id": "q", "text": "Page not found."}])
    for drop in (["--drop", "containing"], ["--drop", "either"], ["--min-shared", "1"]):
        ended = dedup((train, items), tmp_path / "out", *drop, "--overwrite")
        assert ended.code == 0
        said = " ".join(ended.out.split())
        assert "Other set: 1 document, 1 with a match in INPUT" in said
        assert "1 document of the other set is shorter than one shingle (words:5)" in said, drop
        assert "1 document of the other set is too short to be found" in (tmp_path / "out/report.html").read_text()
        counts = json.loads((tmp_path / "out/manifest.json").read_text())["against_counts"]
        assert (counts["match"], counts["too_short"], counts["too_short_matches"]) == (1, 0, 1)
    ended = dedup((train, items), tmp_path / "out", "--drop", "contained", "--overwrite")
    assert "shorter than one shingle" not in ended.out, "documents of INPUT are looked for, not items"
    assert "too_short_matches" not in (tmp_path / "out/manifest.json").read_text()


@pytest.mark.parametrize("n", [1, 3])
def test_what_shares_an_n_gram_is_dropped(files, tmp_path, n):
    train, items = benchmark()
    ended = dedup(files, tmp_path / "out", "--shingle", "words:13", "--min-shared", n)
    assert ended.code == 0
    truth = {
        (doc_id, item)
        for doc_id, text in train.items()
        for item, of_item in items.items()
        if len(grams(text, 13) & grams(of_item, 13)) >= n
    }
    found = dropped(tmp_path / "out")
    assert found.keys() == {doc_id for doc_id, _ in truth}
    assert len(found) > 10
    assert all((doc_id, item) in truth for doc_id, (item, _) in found.items())
    pairs = pq.read_table(tmp_path / "out/pairs.parquet").to_pylist()
    assert {(pair["id_a"], pair["id_b"]) for pair in pairs} == truth
    manifest = json.loads((tmp_path / "out/manifest.json").read_text())
    assert "threshold" not in manifest["parameters"]
    assert manifest["counts"]["overlap"] == len(found)
    assert manifest["plan"]["recall_at_threshold"] == 1
    audited = audit(tmp_path / "out", AuditOptions(sample=10**6))
    assert (audited.estimate.n_true, audited.estimate.n_found) == (len(truth), len(truth))
    assert f"at least {n} shared shingle" in audited.pairs
    short = {item for item, text in items.items() if len(grams(text, 13)) < n}
    told = {
        row["id"] for row in pq.read_table(tmp_path / "out/against.parquet").to_pylist() if row["result"] == "too short"
    }
    assert told == short


def test_one_file_more_goes_with_the_rest(files, tmp_path):
    """The table of the other set does not outlive its run."""
    assert dedup(files, tmp_path / "out", "--drop", "either", "--no-report", "-q").code == 0
    assert (tmp_path / "out/against.parquet").exists()
    assert nearkin_here("dedup", files[0], "--out", tmp_path / "out", "--overwrite", "--no-report", "-q").code == 0
    assert not (tmp_path / "out/against.parquet").exists()


def test_a_resumed_run_must_drop_the_same(files, tmp_path, monkeypatch):
    from nearkin.workflows.dedup import job

    def cut(*arguments: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(job, "write_tables", cut)
        assert dedup(files, tmp_path / "out", "--drop", "containing", "--no-report").code == 130
    ended = dedup(files, tmp_path / "out", "--drop", "either", "--no-report", "--resume", "-q")
    assert ended.code == 5
    assert "containing" in ended.err
    assert dedup(files, tmp_path / "out", "--drop", "containing", "--no-report", "--resume", "-q").code == 0


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--drop", "containing"], "--drop: needs 'against'"),
        (["--drop", "contained"], "--drop: needs 'against'"),
        (["--min-shared", "1"], "--min-shared: needs 'against'"),
    ],
)
def test_rules_about_another_set_need_one(files, tmp_path, arguments, named):
    ended = nearkin_here("dedup", files[0], "--out", tmp_path / "out", *arguments)
    assert ended.code == 2
    assert named in ended.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ["--drop", "containing", "--measure", "jaccard"],
            "--drop: needs 'measure' to be containment. Got jaccard instead.",
        ),
        (
            ["--drop", "contained", "--measure", "jaccard"],
            "--drop: needs 'measure' to be containment. Got jaccard instead.",
        ),
        (["--drop", "something"], "--drop: must be contained, containing or either. Got: 'something'"),
        (["--min-shared", "1", "--threshold", "0.5"], "--min-shared: drops every document that shares enough shingles"),
        (["--min-shared", "1", "--threshold", "0.5"], "whatever its similarity. Omit threshold."),
        (["--min-shared", "1", "--measure", "jaccard"], "whatever its similarity. Omit measure."),
        (["--min-shared", "1", "--drop", "containing"], "whatever its similarity. Omit drop."),
        (["--min-shared", "1", "--drop", "either", "--threshold", "0.5"], "Omit threshold and drop."),
        (["--min-shared", "0"], "--min-shared: must be an int >= 1. Got: 0"),
    ],
)
def test_rules_that_contradict_one_another(files, tmp_path, arguments, told):
    ended = dedup(files, tmp_path / "out", *arguments)
    assert ended.code == 2
    assert told in " ".join(ended.err.split())
    assert not re.search(r"[a-z]_[a-z]", ended.err), "a keyword of Python instead of an option"
    assert not (tmp_path / "out").exists()


def test_from_python_the_same_errors_name_keywords() -> None:
    with pytest.raises(ParameterError, match=r"^min_shared: drops .* Omit threshold\.$"):
        nearkin.dedup(["a b c"], against=["a b c"], min_shared=1, threshold=0.5)
    with pytest.raises(ParameterError, match=r"^drop: needs 'measure' to be containment\. Got jaccard"):
        nearkin.dedup(["a b c"], against=["a b c"], drop="either", measure="jaccard")


@pytest.mark.parametrize("n_items", [1, 14])
def test_the_report_shows_twelve_dropped_documents_although_all_are_equally_similar(n_items: int, tmp_path: Path):
    prose = Prose(7)
    items = [prose.text(40) for _ in range(n_items)]
    train = [f"{prose.text(60)} {items[i % n_items]} {prose.text(30)}" for i in range(14)] + [prose.text(90)]
    files = [
        write_jsonl(tmp_path / f"{name}.jsonl", [{"id": f"{name}-{i}", "text": text} for i, text in enumerate(texts)])
        for name, texts in (("train", train), ("eval", items))
    ]
    assert (
        dedup(files, tmp_path / "out", "--drop", "containing", "--threshold", "0.8", "--recall", "0.999999").code == 0
    )
    assert len(dropped(tmp_path / "out")) == 14
    page = (tmp_path / "out/report.html").read_text(encoding="utf-8")
    assert "12 sample pairs, all of the same similarity. Similarities are" in page
    assert "from the least similar" not in page
    assert page.count('class="pair"') == 12
    near = [
        {"id": f"n{i}", "text": " ".join([*items[0].split()[: 40 - 2 * i], *prose.text(20).split()])} for i in (0, 3)
    ]
    files = [write_jsonl(tmp_path / "near.jsonl", near), files[1]]
    dedup(files, tmp_path / "two", "--drop", "containing", "--threshold", "0.5", "--recall", "0.999999")
    of_two = (tmp_path / "two/report.html").read_text(encoding="utf-8")
    assert "2 sample pairs, from the least similar to the most. Look at the first pairs: if they are" in of_two


@pytest.mark.parametrize(
    ("recall", "said"),
    [
        ((), "search: all shingles are looked up, so a pair that shares even one is found"),
        (("--recall", "0.9"), "search: 90.0% of shingles are looked up, so a pair that shares only one is found with"),
    ],
)
def test_the_search_for_shared_shingles_is_described(recall, said, tmp_path):
    paths = [write_jsonl(tmp_path / f"{name}.jsonl", [{"id": "1", "text": Prose(1).text(20)}]) for name in "ab"]
    asked = ("dedup", paths[0], "--against", paths[1], "--min-shared", "2", *recall, "--no-report")
    printed = " ".join(nearkin_here(*asked, "--out", tmp_path / "out").err.split())
    assert said in printed
    assert ("recall" in printed.partition("text column")[0]) is bool(recall)


def test_pairs_are_counted_as_the_table_lists_them(tmp_path):
    text = Prose(1).text(40)
    texts = {"1": text, "2": text, "3": text, "4": text + " now"}
    mine = write_jsonl(tmp_path / "mine.jsonl", [{"id": name, "text": text} for name, text in texts.items()])
    part = " ".join(text.split()[:20])
    theirs = write_jsonl(tmp_path / "theirs.jsonl", [{"id": "q", "text": part}, {"id": "r", "text": text}])
    asked = ("dedup", mine, "--against", theirs, "--drop", "containing", "--no-report", "--out", tmp_path / "out")
    said = " ".join(nearkin_here(*asked).out.split())
    assert "0 kept, 4 dropped" in said
    assert "3 exact copies and 5 verified pairs across the two sets, at containment" in said
    assert len(pq.read_table(tmp_path / "out/pairs.parquet")) == 8


@pytest.mark.parametrize(
    ("drop", "is_longer", "other"), [((), True, "containing"), (("--drop", "containing"), False, "contained")]
)
def test_pairs_that_match_in_the_other_direction_only_are_explained(drop, is_longer, other, tmp_path):
    text = Prose(1).text(40)
    texts = (text, " ".join(text.split()[:20]))
    mine, theirs = (
        write_jsonl(tmp_path / f"{name}.jsonl", [{"id": "1", "text": one}])
        for name, one in zip(("mine", "theirs"), texts if is_longer else texts[::-1], strict=True)
    )
    asked = ("dedup", mine, "--against", theirs, "--measure", "containment", "--threshold", "0.8", "--no-report")
    said = " ".join(nearkin_here(*asked, *drop, "--out", tmp_path / "out").out.split())
    assert "1 document: 1 kept, 0 dropped" in said
    assert f"1 verified pair drops no document: a document of INPUT {'contains' if is_longer else 'is'}" in said
    assert f"To drop such documents: --drop {other}" in said
    both = " ".join(nearkin_here(*asked, "--drop", other, "--out", tmp_path / "both").out.split())
    assert "0 kept, 1 dropped" in both
    assert "drops no document" not in both


def test_the_files_of_each_side_and_the_remarks_on_the_other_set_are_counted(tmp_path):
    prose = Prose(1)
    for name in "abcd":
        write_jsonl(tmp_path / f"{name}.jsonl", [{"id": name, "text": prose.text(40)}])
    (tmp_path / "d.jsonl").write_text('{"id": "d", "text": null}\n{"id": "e", "text": ""}\n{"id": "f", "text": "x"}\n')
    paths = [tmp_path / f"{name}.jsonl" for name in "abcd"]
    # as a shell expands an unquoted pattern
    ended = nearkin_here("dedup", paths[0], "--against", *paths[1:], "--out", tmp_path / "one", "--no-report")
    assert "INPUT: 3 files; other set: 1 file" in ended.err
    asked = ("dedup", paths[0], "--against", paths[3], "--out", tmp_path / "two", "--max-unreadable", "1")
    ended = nearkin_here(*asked)
    assert "INPUT: 1 file; other set: 1 file" in ended.err
    assert "without text (2 of them in the other set): 2 empty" in " ".join(ended.out.split())
    write_jsonl(paths[3], [{"id": "d", "text": prose.text(40)}] * 2)
    ended = nearkin_here("dedup", paths[0], "--against", paths[3], "--out", tmp_path / "three", "--no-report")
    repeated = (
        "Documents of INPUT or the other set that repeat an id: 1 (see problems.parquet); without an id in INPUT: 0"
    )
    assert repeated in " ".join(ended.out.split())


@pytest.mark.parametrize(("n_short", "said"), [(1, "is shorter than one shingle"), (2, "are shorter than one shingle")])
def test_short_items_are_counted_in_one_number(n_short, said, tmp_path):
    short = ["two words", "three other words"][:n_short]
    mine = write_jsonl(tmp_path / "mine.jsonl", [{"id": "1", "text": Prose(1).text(40)}])
    theirs = write_jsonl(tmp_path / "theirs.jsonl", [{"id": one, "text": one} for one in short])
    asked = ("dedup", mine, "--against", theirs, "--drop", "containing", "--no-report", "--out", tmp_path / "out")
    printed = " ".join(nearkin_here(*asked).out.split())
    assert said in printed
    assert f"To find {'it' if n_short == 1 else 'them'} inside longer documents" in printed


def test_remarks_of_the_report_are_about_both_sets(tmp_path):
    texts = {"mine": [Prose(1).text(40), None], "theirs": [Prose(2).text(40), None, None]}
    mine, theirs = (
        write_jsonl(tmp_path / f"{name}.jsonl", [{"id": f"{name}-{i}", "text": one} for i, one in enumerate(those)])
        for name, those in texts.items()
    )
    asked = ("--max-unreadable", "1", "--out", tmp_path / "out")
    assert nearkin_here("dedup", mine, "--against", theirs, *asked).code == 0
    page = (tmp_path / "out/report.html").read_text(encoding="utf-8")
    assert "Remarks on documents of the input and the other set</caption>" in page
    assert "3 remarks, each about one document; 3 documents are unreadable." in page
    assert nearkin_here("dedup", mine, *asked, "--overwrite").code == 0
    page = (tmp_path / "out/report.html").read_text(encoding="utf-8")
    assert "Remarks on documents of the input</caption>" in page
    assert "1 remark, about one document; 1 document is unreadable." in page


def test_the_report_of_a_run_against_another_set_has_nothing_about_groups(files, tmp_path):
    dedup(files, tmp_path / "out", "--drop", "containing", "--threshold", "0.8")
    page = (tmp_path / "out/report.html").read_text(encoding="utf-8")
    assert "groups.parquet" not in page
    assert "against.parquet" in page
    assert '<th scope="row" class="key">keep</th>' not in page
    assert '<th scope="row" class="key">drop</th>' in page
    of_items = "the share of the shingles of a document of the other set that occur in a document of the input"
    assert f"{of_items}: this decides what is dropped; pairs that reach the threshold only in the other" in page
    assert "Bridge refused" not in page


def test_the_report_says_of_what_the_digest_of_an_earlier_run_is(files, tmp_path):
    train, items = files
    clean = tmp_path / "clean"
    assert nearkin_here("dedup", train, "--out", clean, "--no-report", "-q").code == 0
    for inputs, against in (((clean,), items), ((items,), clean)):
        out = tmp_path / "out"
        ended = nearkin_here("dedup", *inputs, "--against", against, "--out", out, "--overwrite", "-q")
        assert ended.code == 0, ended.err
        page = html.unescape((out / "report.html").read_text(encoding="utf-8"))
        of_run = (
            "1 earlier run; the digest is the SHA-256 of the run's manifest.json. The number behind the name of an "
            "earlier run counts the rows of its documents.parquet, from 1."
        )
        of_file = "1 file; the digest is the SHA-256 of the file."
        said = (of_run, f"Compared with: {of_file}") if clean in inputs else (of_file, f"Compared with: {of_run}")
        assert [f"<caption>{one}</caption>" in page for one in said] == [True, True]
        sha256 = hashlib.sha256((clean / "manifest.json").read_bytes()).hexdigest()
        assert sha256 in page


@pytest.mark.parametrize(("drop", "n_words", "is_said"), [([], 9, True), ([], 60, False), (["containing"], 9, False)])
def test_much_shorter_documents_of_the_other_set_get_a_hint(drop, n_words, is_said, tmp_path):
    prose = Prose(8)
    pages = write_jsonl(tmp_path / "pages.jsonl", [{"id": f"p{i}", "text": prose.text(80)} for i in range(3)])
    items = write_jsonl(tmp_path / "items.jsonl", [{"id": f"i{i}", "text": prose.text(n_words)} for i in range(3)])
    options = ["--drop", *drop] * bool(drop)
    ended = nearkin_here("dedup", pages, "--against", items, *options, "--out", tmp_path / "out", "--no-report")
    said = "To find them inside documents of INPUT: --drop containing"
    assert (said in " ".join(ended.err.split())) == is_said, ended.err
    assert ("Warning: The documents of the other set have" in ended.err) == is_said
