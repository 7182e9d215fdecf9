from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import dedup_pages
from dedup_pages import MANIFEST, NOTHING, PAIR, Page, render, render_whole
from nearkin.errors import MissingExtraError
from nearkin.reports.dedup import GroupRow, MemberRow, ProblemRow, RecallCurve, SamplePair
from nearkin.reports.wording import GLOSSARY


def test_the_headline_says_it_in_words() -> None:
    headline = (
        "12,345 documents read; 10,210 kept; 2,135 dropped: 1,200 exact copies, 935 near-duplicates"
        " at Jaccard\N{NO-BREAK SPACE}≥\N{NO-BREAK SPACE}0.80 on word 5-grams."
    )

    assert f"<h1>{headline}</h1>" in render()


def test_the_page_needs_nothing_from_outside_and_runs_nothing() -> None:
    text = render_whole()
    page = Page(text)

    assert page.tags.count("svg") == 8
    assert not {"script", "link", "img", "iframe", "object", "form"} & set(page.tags)
    assert not [name for name, _ in page.attributes if name.startswith("on") or name == "src"]
    assert all((value or "").startswith("#") for name, value in page.attributes if name == "href")
    assert "default-src 'none'; style-src 'unsafe-inline'; img-src data:" in text
    assert set(re.findall(r"https?://[^\s\"']+", text)) == {"http://www.w3.org/2000/svg"}


def test_ids_are_unique_and_every_link_has_its_place() -> None:
    page = Page(render_whole())

    assert len(page.ids) == len(set(page.ids))
    assert {value for name, value in page.attributes if name == "href"} <= {f"#{found}" for found in page.ids}


def test_the_same_arguments_make_the_same_bytes() -> None:
    assert render_whole() == render_whole()


def test_another_process_makes_the_same_bytes() -> None:
    program = "import dedup_pages, hashlib; print(hashlib.sha256(dedup_pages.render_whole().encode()).hexdigest())"
    ran = subprocess.run(
        [sys.executable, "-c", program],
        cwd=Path(dedup_pages.__file__).parent,
        env={**os.environ, "PYTHONHASHSEED": "7"},
        capture_output=True,
        text=True,
        check=True,
    )

    assert ran.stdout.strip() == hashlib.sha256(render_whole().encode()).hexdigest()


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        '"><img src=x onerror=alert(1)>',
        "' onload='x",
        "</style></title>",
        "{{ 7*7 }}",
        "&lt;b&gt;",
    ],
)
def test_what_documents_say_is_never_markup(hostile: str) -> None:
    manifest = MANIFEST | {
        "command": hostile,
        "nearkin": hostile,
        "fingerprint": hostile,
        "parameters": {
            hostile: hostile,
            "keep": f"max:{hostile}",
            "measure": hostile,
            "shingle": hostile,
            "threshold": 0.8,
        },
        "inputs": [{"path": hostile, "sha256": hostile, "format": hostile, "text": hostile, "id": hostile}],
        "problems": {hostile: 1},
    }
    text = render(
        manifest,
        largest_groups=[
            GroupRow(
                group=hostile,
                size=2,
                lowest_similarity=0.9,
                n_bridges_refused=0,
                n_exact_copies=0,
                members=(MemberRow(hostile, hostile, 0.9, hostile),),
            )
        ],
        samples=[
            SamplePair(
                id_a=hostile,
                id_b=hostile,
                source_a=hostile,
                source_b=hostile,
                similarity=0.9,
                measure=hostile,
                text_a=f"{hostile} a",
                text_b=f"{hostile} b",
            )
        ],
        problems=[ProblemRow(hostile, hostile, hostile)],
        n_problems=1,
    )
    harmless = Page(render(problems=[ProblemRow("x", "x", "x")], n_problems=1))
    page = Page(text)

    assert set(page.tags) <= set(harmless.tags)
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    assert hostile in page.words


def test_hidden_characters_are_shown() -> None:
    evil = "pay \u202e001\u202c \x00\x1b[2J \ud800"

    text = render(
        samples=[
            SamplePair(
                id_a=evil,
                id_b="b",
                source_a=evil,
                source_b="b",
                similarity=0.9,
                measure="jaccard",
                text_a=evil,
                text_b="pay",
            )
        ],
        problems=[ProblemRow(evil, evil, evil)],
        n_problems=1,
        largest_groups=[
            GroupRow(
                group=evil,
                size=2,
                lowest_similarity=0.9,
                n_bridges_refused=0,
                n_exact_copies=0,
                members=(MemberRow(evil, evil, 0.9, "unique"),),
            )
        ],
    )

    assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", text)
    assert "⟨U+202E⟩001⟨U+202C⟩" in text
    text.encode()


def test_text_from_right_to_left_finds_its_own_direction() -> None:
    text = render(
        samples=[
            SamplePair(
                id_a="he",
                id_b="ar",
                source_a="x",
                source_b="y",
                similarity=0.9,
                measure="jaccard",
                text_a="שלום עולם",
                text_b="שלום לכולם",
            )
        ]
    )

    assert '<div class="diff" dir="auto">שלום <del>' in text
    assert "<bdi" in text


def test_differences_are_told_without_colour_and_to_screen_readers() -> None:
    words = Page(render()).words

    assert "pay within [only in A: 30] [only in B: 45] days" in words


def test_a_huge_id_is_shortened_and_says_so() -> None:
    text = render(
        samples=[
            SamplePair(
                id_a="x" * 100_000,
                id_b=7,
                source_a="s",
                source_b="t",
                similarity=0.9,
                measure="jaccard",
                text_a="a",
                text_b="b",
            )
        ]
    )

    assert "(100,000 characters)" in text
    assert len(text) < 200_000


def test_an_empty_corpus() -> None:
    text = render({"parameters": {"threshold": 0.8}, "counts": {"documents": 0}}, **NOTHING)

    assert "<h1>No documents were read.</h1>" in text
    assert Page(text).tags.count("svg") == 0


def test_one_document() -> None:
    counts = {"documents": 1, "unique": 1, "kept": 1, "dropped": 0, "pairs": 0}

    text = render(MANIFEST | {"counts": counts, "estimated_missed_pairs": 0.0}, **NOTHING)

    assert "1 document read; all kept: no exact copies and no near-duplicates" in text
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

    text = render_whole(manifest)

    assert "were made from the pairs of a run with threshold 0.80. A pair at exactly the threshold of 0.80" in text
    assert "At 0.90 it is 0.999." in text
    assert "0.4 more that were not found (recall 0.999)" in text
    assert "0.999 at 0.90" in text  # the dot
    assert "asked for: 0.99" not in text
    assert "asked for: 0.99" in render_whole()
    assert "chosen from the recall and the threshold of 0.80 of the run" in text


def test_a_run_whose_groups_were_cut_anew_without_a_plan() -> None:
    manifest = {
        name: part
        for name, part in MANIFEST.items()
        if name not in ("plan", "estimated_missed_pairs", "estimated_recall")
    }

    text = render_whole(manifest | {"command": "regroup"})

    assert "The groups were made from the pairs of an earlier run" in text
    assert "How likely a pair is found" not in text


def test_a_run_against_another_collection() -> None:
    other = {"path": "eval/questions.jsonl", "n_documents": 2000}

    text = render(MANIFEST | {"against": [other]})

    assert "12,345 documents read and compared with 2,000 others; 10,210 kept" in text
    assert "eval/questions.jsonl" in text
    assert "compared with those of another collection, not with one another" in text


def test_bins_below_the_threshold_are_left_out_only_where_they_are_empty() -> None:
    edges, counts = [0.0, 0.4, 0.6, 0.8, 1.0], [0, 1, 0, 5]

    text = render(similarity_bin_edges=edges, similarity_counts=counts)

    assert "0.40 to under 0.60" in text
    assert "0.00 to under 0.40" not in text


@pytest.mark.parametrize(("lowest", "is_said"), [(0.7, True), (0.8, False)])
def test_members_that_are_less_alike_than_the_threshold_are_explained(lowest: float, is_said: bool) -> None:
    text = render(
        largest_groups=[GroupRow(group="a", size=3, lowest_similarity=lowest, n_bridges_refused=0, n_exact_copies=0)]
    )

    assert ("Two members of a group may be less alike than the threshold" in text) is is_said


def test_pairs_of_copies_are_told_apart() -> None:
    counts = {**MANIFEST["counts"], "pairs_of_exact_copies": 1300}  # type: ignore[dict-item]

    assert "5,000 pairs of different texts and 1,300 pairs of exact copies reported." in render(
        MANIFEST | {"counts": counts}
    )


def test_a_search_without_bands_has_its_own_curve_and_the_dot_lies_on_it() -> None:
    manifest = MANIFEST | {"plan": {"rate": 0.02, "recall_at_threshold": 0.991}}

    text = render_whole(manifest, curve=RecallCurve([0.0, 1.0], [0.0, 1.0]))

    assert "How likely a pair is found" not in render_whole(manifest)
    assert "0.800 at 0.80" in text
    assert "for the smallest texts that are searched by a sample of their shingles" in text


def with_counts(**counts: int) -> dict[str, object]:
    return MANIFEST | {"counts": {**MANIFEST["counts"], **counts}}  # type: ignore[dict-item]


@pytest.mark.parametrize("estimated_recall", [None, 0.9998])
def test_where_pairs_were_not_compared_no_recall_is_told(estimated_recall: float | None) -> None:
    text = render(with_counts(pairs_not_compared=7) | {"estimated_recall": estimated_recall})

    assert "How many were missed is not known: up to 7 pairs were not compared." in text
    assert "up to 7 candidate pairs were not compared" in text
    assert "(recall" not in text
    assert "the model estimates" not in text
    assert "Not everything was compared" not in render()


def test_unreadable_documents_stand_apart_from_dropped_ones() -> None:
    text = render(with_counts(unreadable=15, documents=12360))

    assert "on word 5-grams; 15 could not be read.</h1>" in text
    assert "2,135 dropped: 1,200 exact copies, 935 near-duplicates" in text
    assert '<div class="note warning">\n<h3>15 documents could not be read</h3>' in text
    assert '<td data-label="Outcome">could not be read</td>' in text


def test_nothing_dropped_but_something_unreadable() -> None:
    counts = {"documents": 3, "unique": 2, "unreadable": 1, "kept": 2, "dropped": 0}

    text = render(MANIFEST | {"counts": counts}, **NOTHING)

    assert "3 documents read; 2 kept, none dropped: no exact copies" in text
    assert "; 1 could not be read.</h1>" in text


def test_groups_say_what_they_are_made_of() -> None:
    text = render(with_counts(pairs=135, exact_copy=300), group_size_counts={2: 279})

    assert "279 groups of two documents or more, made of 300 exact copies and 135 verified pairs" in text


def test_members_of_a_group_are_listed_under_it() -> None:
    members = (
        MemberRow("first", "a.jsonl:1", 1.0, "unique", is_principal=True),
        MemberRow("odd", "a.jsonl:7", None, "near-duplicate"),
        MemberRow("like", "b.txt", 0.81, "near-duplicate"),
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
    assert "… and 34 more: see documents.parquet" in words


def test_what_is_least_like_a_principal_comes_first_and_says_so() -> None:
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
    assert "first, of 1 large group, the principal and the member least similar to it" in text
    assert "It is below the threshold: a chain of verified pairs joins the two." in text
    assert "below the threshold" not in render()


@pytest.mark.parametrize(
    ("dropped", "said"),
    [
        (2135, "near-duplicates at"),
        (2150, "on word 5-grams, 15 empty."),
        (2140, "on word 5-grams, 5 for other reasons."),
    ],
)
def test_what_else_was_dropped_follows_from_the_sum(dropped: int, said: str) -> None:
    counts = {**MANIFEST["counts"], "dropped": dropped}  # type: ignore[dict-item]

    assert said in render(MANIFEST | {"counts": counts})


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


@pytest.mark.parametrize("module", ["altair", "jinja2", "rapidfuzz.distance", "vl_convert"])
def test_a_missing_extra_is_named(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("charts", "figures", "layers", "theme"):
        monkeypatch.delitem(sys.modules, f"nearkin.reports.{name}", raising=False)
    monkeypatch.delitem(sys.modules, "nearkin.stages.differences.marking", raising=False)
    monkeypatch.setitem(sys.modules, module, None)

    with pytest.raises(
        MissingExtraError, match=r"report\.html needs the report extra: pip install 'nearkin\[report\]'"
    ):
        render()
