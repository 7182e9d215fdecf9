from __future__ import annotations

import base64
import hashlib
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import dedup_pages
from dedup_pages import MANIFEST, NOTHING, PAIR, Page, render
from nearkin.errors import MissingExtraError
from nearkin.reports.dedup.page import (
    DroppedRow,
    GroupRow,
    MemberRow,
    PartRow,
    ProblemRow,
    RecallCurve,
    RunNote,
    SamplePair,
    ThresholdRow,
)
from nearkin.reports.dedup.wording import GLOSSARY

SOURCES = [
    PartRow(name="a.jsonl", n_documents=10, n_dropped=4, n_characters=100_000, n_characters_dropped=30_000),
    PartRow(name="b.jsonl", n_documents=9, n_dropped=0, n_characters=50_000, n_characters_dropped=0),
]
THRESHOLDS = [ThresholdRow(0.5), ThresholdRow(0.8, 5000, 279, 2135), ThresholdRow(0.9, 4000, 250, 1900)]


def test_the_headline_says_it_in_words() -> None:
    headline = (
        "12,345 documents; 10,210 kept; 2,135 dropped: 1,200 exact copies, 935 near-duplicates"
        " at Jaccard\N{NO-BREAK SPACE}≥\N{NO-BREAK SPACE}0.80 on word 5-grams."
    )

    assert f"<h1>{headline}</h1>" in render()


BESIDE = ("documents.parquet", "kept/", "manifest.json")
RUN = RunNote(ended="2026-01-02 03:04 UTC", elapsed_s=12.34, files=BESIDE)


def test_the_page_needs_nothing_from_outside_and_runs_one_script_of_its_own() -> None:
    text = render(run=RUN)
    page = Page(text)
    script = text.partition("<script>")[2].partition("</script>")[0]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    links = {value for name, value in page.attributes if name == "href" and not (value or "").startswith("#")}

    assert len(re.findall('class="nk-figure"', text)) == 6
    assert page.tags.count("script") == 1
    assert f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; img-src data:" in text
    assert not {"link", "img", "iframe", "object"} & set(page.tags)
    assert not [name for name, _ in page.attributes if name.startswith("on") or name in ("src", "action")]
    assert links == set(BESIDE)
    assert set(re.findall(r"https?://[^\s\"']+", text)) == {"http://www.w3.org/2000/svg"}


def test_the_contents_are_the_headings() -> None:
    text = render(sources=SOURCES, thresholds=THRESHOLDS)
    contents = text.partition("<nav")[2].partition("</nav>")[0]

    assert re.findall(r'<a href="#(\w+)">(.+?)</a>', contents) == re.findall(r'<h[23] id="(\w+)"[^>]*>(.+?)</h', text)


def test_results_come_before_promises_and_warnings_before_both() -> None:
    text = render(with_counts(pairs_not_compared=7))

    assert text.index("Not everything was compared") < text.index('id="dropped"') < text.index('id="promises"')
    assert text.index("<details>\n<summary>Every reported pair is verified") < text.index("Reported pairs are verified")


@pytest.mark.parametrize(
    ("recall", "missed", "n_skipped", "is_warned"),
    [
        (0.600536, 655.2, 0, True),
        (0.949, 1.0, 0, True),
        (0.95, 263.0, 0, False),
        (0.6, 0.9, 0, False),
        (0.6, 655.2, 7, False),
    ],
)
def test_many_missing_pairs_are_said_at_the_top(recall: float, missed: float, n_skipped: int, is_warned: bool) -> None:
    few = with_counts(pairs=985, pairs_not_compared=n_skipped)
    top = render(few | {"estimated_recall": recall, "estimated_missed_pairs": missed}).partition("<nav")[0]
    title = f"About {'655 of 1,640' if missed > 1 else '1.0 of 20'} pairs are missing"
    assert (title in top) is is_warned
    assert ("higher --recall" in top) is is_warned


def test_a_few_dropped_documents_are_visible_beside_very_many() -> None:
    counts = {"documents": 98_469, "unique": 98_345, "near_duplicate": 124, "kept": 98_345, "dropped": 124}
    svg = render(MANIFEST | {"counts": counts}).partition('id="outcome-w"')[2].partition("</svg>")[0]
    widths = [float(width) for width in re.findall(r'<rect [^>]*width="([\d.]+)" height="1[28]"', svg)]

    kept, dropped, near = widths
    assert dropped >= 2
    assert kept > 100 * dropped
    assert near > 500  # on a scale of its own


def test_what_other_thresholds_give_is_one_table() -> None:
    words = " ".join(Page(render(thresholds=THRESHOLDS)).words.split())

    assert "0.50 pairs not stored: run nearkin dedup --threshold 0.5" in words.replace("0.50p", "0.50 p")
    assert "0.80 (this report)" in words
    assert "4,000" in words


def test_sources_show_what_was_dropped_of_each() -> None:
    words = Page(render(sources=SOURCES)).words

    assert "of all characters dropped" in words
    assert "20.0%" in words  # 30,000 of 150,000
    assert "b.jsonl" in words
    assert "Sources" not in Page(render(sources=SOURCES[:1])).words


def test_a_group_shows_the_beginning_of_its_text() -> None:
    group = GroupRow(
        group="a", size=2, lowest_similarity=0.9, n_bridges_refused=0, n_exact_copies=0, text="one  <b>\ntwo " * 99
    )
    text = render(largest_groups=[group])

    assert '<p class="snippet" dir="auto">one &lt;b&gt; two one' in text
    assert len(text.partition('class="snippet"')[2].partition("</p>")[0]) < 300


def test_the_run_has_its_date_and_duration() -> None:
    assert "2026-01-02 03:04 UTC · took 12.3\N{NO-BREAK SPACE}s, plus the time to write this report" in render(run=RUN)


def test_ids_are_unique_and_every_link_has_its_place() -> None:
    page = Page(render())

    assert len(page.ids) == len(set(page.ids))
    assert {value for name, value in page.attributes if name == "href"} <= {f"#{found}" for found in page.ids}


def test_the_same_arguments_make_the_same_bytes() -> None:
    assert render() == render()


def test_another_process_makes_the_same_bytes() -> None:
    program = "import dedup_pages, hashlib; print(hashlib.sha256(dedup_pages.render().encode()).hexdigest())"
    ran = subprocess.run(
        [sys.executable, "-c", program],
        cwd=Path(dedup_pages.__file__).parent,
        env={**os.environ, "PYTHONHASHSEED": "7"},
        capture_output=True,
        text=True,
        check=True,
    )

    assert ran.stdout.strip() == hashlib.sha256(render().encode()).hexdigest()


def test_an_empty_corpus() -> None:
    text = render({"parameters": {"threshold": 0.8}, "counts": {"documents": 0}}, **NOTHING)

    assert "<h1>No documents were read.</h1>" in text
    assert Page(text).tags.count("svg") == 0


def test_one_document() -> None:
    counts = {"documents": 1, "unique": 1, "kept": 1, "dropped": 0, "pairs": 0}

    text = render(MANIFEST | {"counts": counts, "estimated_missed_pairs": 0.0}, **NOTHING)

    assert "1 document; all kept: no exact copies and no near-duplicates" in text
    assert "No pair is reported." in text


@pytest.mark.parametrize("absent", [*MANIFEST, "everything"])
def test_a_manifest_may_lack_parts(absent: str) -> None:
    Page(render({name: part for name, part in MANIFEST.items() if absent not in (name, "everything")}))


@pytest.mark.parametrize("odd", [None, "x", [1], {"threshold": float("nan"), "bands": True}])
def test_a_manifest_may_be_odd(odd: object) -> None:
    Page(render(dict.fromkeys(MANIFEST, odd)))
    Page(render(MANIFEST | {"counts": odd}))
    Page(render(dict.fromkeys(MANIFEST, odd) | {"counts": MANIFEST["counts"]}))


def test_a_run_whose_groups_were_cut_anew_tells_of_the_search_of_the_run() -> None:
    manifest = MANIFEST | {
        "command": "regroup",
        "parameters": {**MANIFEST["parameters"], "threshold": 0.9},  # type: ignore[dict-item]
        "found_at_threshold": 0.8,
        "estimated_missed_pairs": 0.4,
        "estimated_recall": 0.9999,
    }

    text = render(manifest)

    assert "were made from the pairs of a run with threshold 0.80. A pair at exactly the threshold of 0.80" in text
    assert "At 0.90 the probability is 99.9" in text
    assert "how many were missed: the expected number is 0.4 (estimated recall 99.99%). To measure" in text
    assert "0.999 at 0.90" in text  # the dot
    assert "requested recall of 0.99" not in text
    assert (
        "dashed vertical line mark the threshold; the dotted horizontal line is the requested recall of 0.99."
        in render()
    )
    assert "chosen from the recall and the threshold of 0.80 of the run" in text


def test_a_run_whose_groups_were_cut_anew_without_a_plan() -> None:
    manifest = {
        name: part
        for name, part in MANIFEST.items()
        if name not in ("plan", "estimated_missed_pairs", "estimated_recall")
    }

    text = render(manifest | {"command": "regroup"})

    assert "The groups were made from the pairs of an earlier run" in text
    assert "found (line)" not in text


def test_a_run_against_another_collection() -> None:
    other = {"path": "eval/questions.jsonl", "n_documents": 2000}

    row = DroppedRow(
        doc_id="page-1",
        where="train.jsonl:2",
        match_id="question-7",
        match_where="eval/questions.jsonl:8",
        similarity=0.9,
        reason="near-duplicate",
        text="Which river crosses the border?",
        match_text="Which <b>river</b> crosses the border?",
    )
    twin = replace(row, doc_id="page-2", text=row.match_text)
    text = render(MANIFEST | {"against": [other]}, **NOTHING, dropped=[row, twin])
    table = " ".join(Page(text[text.index('<h2 id="matches">') :].partition("</section>")[0]).words.split())

    assert "12,345 documents against 2,000 others; 10,210 kept" in text
    assert "Showing 2 of 2,135, the most similar first; all of them are in documents.parquet." in table
    assert "page-1 train.jsonl:2Which river crosses the border?question-7 eval/questions.jsonl:8Which <b>" in table
    assert "page-2 train.jsonl:2Which <b>river</b> crosses the border?question-7 eval/questions.jsonl:80.900" in table
    assert 'id="groups"' not in text
    empty = {"documents": 3, "kept": 1, "empty": 2, "dropped": 2}
    none = render(MANIFEST | {"against_counts": {}, "counts": empty}, **NOTHING)
    assert "<p>None: no document of the input matches a document of the other set.</p>" in none
    assert "run nearkin dedup on these results. To write a corpus without them, first repeat this run with" in text
    kept = {"path": "kept/1.jsonl", "input": 0, "size_bytes": 9, "sha256": "ab" * 32}
    text = render(MANIFEST | {"against": [other], "kept": [kept]}, **NOTHING)
    assert "eval/questions.jsonl" in text
    assert "the kept documents, run nearkin dedup on the files in the folder kept.</p>" in text
    assert "on these results" not in text


@pytest.mark.parametrize(
    ("edges", "counts", "first"),
    [
        ([0.0, 0.4, 0.6, 0.8, 1.0], [0, 1, 0, 5], "0.40 to under 0.60"),
        ([0.4, 0.6, 0.8, 0.9, 1.0], [0, 0, 0, 5], "0.80 to under 0.90"),
        ([0.4, 0.7, 0.85, 1.0], [0, 3, 2], "0.80 to under 0.85"),
    ],
)
def test_empty_bins_below_the_threshold_are_left_out(edges: list[float], counts: list[int], first: str) -> None:
    text = render(similarity_bin_edges=edges, similarity_counts=counts)

    assert text.partition("<summary>The numbers of this figure")[2].partition("<td>")[2].startswith(f"{first}<")
    assert "Bars: verified pairs at or above the threshold, by Jaccard similarity." in text


@pytest.mark.parametrize(("lowest", "is_said"), [(0.7, True), (0.8, False)])
def test_members_that_are_less_alike_than_the_threshold_are_explained(lowest: float, is_said: bool) -> None:
    text = render(
        largest_groups=[GroupRow(group="a", size=3, lowest_similarity=lowest, n_bridges_refused=0, n_exact_copies=0)]
    )

    assert ("Two members of a group may have a similarity below the threshold" in text) is is_said


@pytest.mark.parametrize("n_refused", [0, 3])
def test_refused_bridges_are_explained_where_there_are_any(n_refused: int) -> None:
    row = GroupRow(group="a", size=3, lowest_similarity=0.8, n_bridges_refused=n_refused, n_exact_copies=0)
    assert ("document outside the group; the two were not merged." in render(largest_groups=[row])) is (n_refused > 0)


def test_pairs_of_copies_are_told_apart() -> None:
    counts = {**MANIFEST["counts"], "pairs_of_exact_copies": 1300}  # type: ignore[dict-item]

    assert "5,000 pairs of different texts and 1,300 pairs of exact copies reported." in render(
        MANIFEST | {"counts": counts}
    )


def test_a_search_without_bands_has_its_own_curve_and_the_dot_lies_on_it() -> None:
    manifest = MANIFEST | {"plan": {"rate": 0.02, "recall_at_threshold": 0.991}}

    text = render(manifest, curve=RecallCurve([0.0, 1.0], [0.0, 1.0]))

    assert "found (line)" not in render(manifest)
    assert "0.800 at 0.80" in text
    assert "finds a pair whose shorter text has just that length; the dot and the dashed" in text
    assert "shorter ones exhaustively" not in text
    sized = render(manifest | {"plan": manifest["plan"] | {"exact_below": 94}}, curve=RecallCurve([0, 1], [0, 1]))
    assert (
        "Texts of at least 94 shingles are searched by a sample of their shingles, shorter ones exhaustively." in sized
    )
    assert "finds a pair whose shorter text has 94 shingles; the dot and the dashed" in sized
    assert "Each exact copy counts as one pair of similarity 1." in text


def test_the_fingerprint_is_that_of_the_manifest() -> None:
    stored = "threshold=0.6;shingle=words:5;seed=0;shingle=words:5;unicode=14.0"
    assert f'<span class="digest">{stored}</span>' in render(MANIFEST | {"fingerprint": stored})


@pytest.mark.parametrize(
    ("keep", "said"),
    [
        ("longest", "is longer"), ("shortest", "is shorter"), ("first", "comes earlier"),
        ("max:score", "has a higher score"), ("min:score", "has a lower score"),
    ],
)  # fmt: skip
def test_a_document_can_join_a_principal_that_comes_later_in_the_order(keep: str, said: str) -> None:
    parameters = MANIFEST["parameters"] | {"keep": keep, "group": "principal"}  # type: ignore[operator]
    words = Page(render(MANIFEST | {"parameters": parameters})).words
    assert f"several principals joins the most similar one, even if another of them {said}" in " ".join(words.split())


def with_counts(**counts: int) -> dict[str, object]:
    return MANIFEST | {"counts": {**MANIFEST["counts"], **counts}}  # type: ignore[dict-item]


@pytest.mark.parametrize("estimated_recall", [None, 0.9998])
def test_where_pairs_were_not_compared_no_recall_is_told(estimated_recall: float | None) -> None:
    text = render(with_counts(pairs_not_compared=7) | {"estimated_recall": estimated_recall})

    assert "How many were missed is not known: up to 7 pairs were not compared." in text
    assert (
        text.index("How many were missed") < text.index("for the other pairs only") < text.index("found with a predict")
    )
    assert "up to 7 candidate pairs were not compared" in text
    assert "(recall" not in text
    assert "the model estimates" not in text
    assert "Not everything was compared" not in render()


def test_unreadable_documents_stand_apart_from_dropped_ones() -> None:
    text = render(with_counts(unreadable=15, documents=12360))

    assert "on word 5-grams; 15 unreadable.</h1>" in text
    assert "2,135 dropped: 1,200 exact copies, 935 near-duplicates" in text
    assert '<div class="note warning">\n<h3>15 documents are unreadable</h3>' in text
    assert '<td data-label="Outcome">neither</td>' in text


def test_nothing_dropped_but_something_unreadable() -> None:
    counts = {"documents": 3, "unique": 2, "unreadable": 1, "kept": 2, "dropped": 0}

    text = render(MANIFEST | {"counts": counts}, **NOTHING)

    assert "3 documents; 2 kept, none dropped: no exact copies" in text
    assert "; 1 unreadable.</h1>" in text


def test_groups_say_what_they_are_made_of() -> None:
    text = render(with_counts(pairs=135, exact_copy=300, bridges_refused=3), group_size_counts={2: 279})

    assert "279 groups of two documents or more, made of 300 exact copies and 132 verified pairs of different" in text
    bridges = "3 more pairs are bridges: the two documents are not in the same group, and at least one of them was"
    assert f"texts. {bridges} dropped." in text


def test_documents_without_an_id_are_no_remarks_but_counted() -> None:
    text = render(MANIFEST | {"without_id": 98, "unreadable_without_id": 1}, problems=(), n_problems=0)

    assert "no id is used twice. 97 documents have no id; documents.parquet has their row numbers and names." in text
    assert "have no id" not in render(MANIFEST, problems=(), n_problems=0)


def test_members_of_a_group_are_listed_under_it() -> None:
    members = (
        MemberRow(doc_id="first", where="a.jsonl:1", similarity=1.0, reason="unique", is_principal=True),
        MemberRow(doc_id="odd", where="a.jsonl:7", similarity=None, reason="near-duplicate"),
        MemberRow(doc_id="like", where="b.txt", similarity=0.81, reason="near-duplicate"),
        MemberRow(doc_id="like-copy", where="c.txt", similarity=0.81, reason="exact copy", copy_of="like"),
    )

    text = render(
        largest_groups=[
            GroupRow(
                group="first", size=37, lowest_similarity=0.81, n_bridges_refused=0, n_exact_copies=0, members=members
            )
        ]
    )
    words = Page(text).words

    assert words.index("a.jsonl:1") < words.index("unique, the principal") < words.index("a.jsonl:7")
    assert "not known" in words
    assert "exact copy of like" in words
    assert "… and 33 more: see documents.parquet" in words


def test_the_least_similar_pair_comes_first_and_a_principals_says_so() -> None:
    least = SamplePair(
        id_a="p",
        id_b="m",
        source_a="x:1",
        source_b="x:2",
        similarity=0.7,
        measure="jaccard",
        text_a="a b",
        text_b="a c",
        is_least_alike=True,
    )

    text = render(samples=[PAIR, least])

    assert text.index("principal and least similar member") < text.index(">b</bdi>")
    assert (
        "1 pair comes from the largest groups, and is marked as principal and least similar member." in Page(text).words
    )
    assert "It is below the threshold: a chain of verified pairs joins the two." in text
    assert "below the threshold" not in render()


@pytest.mark.parametrize(("shingle", "is_ignored"), [("words:5", True), ("chars:5", False), (5, False)])
def test_words_have_no_punctuation(shingle: object, is_ignored: bool) -> None:
    parameters = MANIFEST["parameters"] | {"shingle": shingle}  # type: ignore[operator]
    text = render(MANIFEST | {"parameters": parameters}, samples=[PAIR])

    assert ("Punctuation is marked, but does not count for the similarity." in text) is is_ignored
    assert ("a word is a run of letters and digits, and punctuation does not count" in text) is is_ignored


def test_empty_documents_are_among_the_dropped_ones() -> None:
    assert "on word 5-grams, 15 empty." in render(with_counts(empty=15, dropped=2150, documents=12360))


def test_problems_beyond_those_listed_are_counted() -> None:
    rows = [ProblemRow(f"a.jsonl:{i}", None, "broken JSON") for i in range(1, 51)]

    assert "1,234 remarks, each about one document. The first 50 are listed" in render(problems=rows, n_problems=1234)


def test_the_glossary_tells_the_truth_about_the_flights() -> None:
    def similarity(a: str, b: str) -> float:
        left, right = ({text[i : i + 4] for i in range(len(text) - 3)} for text in (a, b))
        return len(left & right) / len(left | right)

    text = next(note.text for note in GLOSSARY if note.title == "Near-duplicate")
    helsinki, oulu, fly = re.findall(r"“(.+?)”", text)

    assert re.findall(r"0\.\d\d", text) == [f"{similarity(helsinki, oulu):.2f}", f"{similarity(helsinki, fly):.2f}"]


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)

    with pytest.raises(
        MissingExtraError, match=r"report\.html needs the report extra: pip install 'nearkin\[report\]'"
    ):
        render()


def test_a_probability_of_at_least_so_much_is_never_rounded_up() -> None:
    text = render(MANIFEST | {"plan": {"rate": 0.02, "recall_at_threshold": 0.98767}})
    assert "is found with a predicted probability of at least 98.76%" in " ".join(text.split())
