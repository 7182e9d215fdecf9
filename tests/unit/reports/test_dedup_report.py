from __future__ import annotations

import base64
import hashlib
import re
import sys

import pytest

from dedup_pages import NOTHING, Page, render
from nearkin.errors import MissingExtraError
from nearkin.reports.dedup import RunNote

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


def test_an_empty_corpus() -> None:
    text = render({"parameters": {"threshold": 0.8}, "counts": {"documents": 0}}, **NOTHING)

    assert "<li><b>0</b>documents</li>" in text
    assert Page(text).tags.count("svg") == 0


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)

    with pytest.raises(
        MissingExtraError, match=r"report\.html needs the report extra: pip install 'nearkin\[report\]'"
    ):
        render()
