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
from dedup_pages import MANIFEST, NOTHING, Page, render
from nearkin.errors import MissingExtraError
from nearkin.reports.dedup.page import (
    DroppedRow,
    GroupRow,
    MemberRow,
    RecallCurve,
    RunNote,
)

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


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)

    with pytest.raises(
        MissingExtraError, match=r"report\.html needs the report extra: pip install 'nearkin\[report\]'"
    ):
        render()


def test_a_probability_of_at_least_so_much_is_never_rounded_up() -> None:
    text = render(MANIFEST | {"plan": {"rate": 0.02, "recall_at_threshold": 0.98767}})
    assert "is found with a predicted probability of at least 98.76%" in " ".join(text.split())
