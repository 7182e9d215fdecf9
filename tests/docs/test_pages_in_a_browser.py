"""The pages that commands write, opened in a browser: they fit, load nothing, and find what is looked for."""

from __future__ import annotations

import runpy
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from chromium import Chromium
from docs.pages import ROOT
from functional.conftest import nearkin_here
from nearkin.reports.comparison import comparison_html
from nearkin.reports.facts.fact import Fact
from nearkin.stages.differences.comparing import compare_texts
from translated_corpus import translated_corpus

pytestmark = pytest.mark.browser

# what each probe below may use; it is run in the page, which keeps its policy
_TOOLS = """
const all = (what) => [...document.querySelectorAll(what)], by = (id) => document.getElementById(id);
const shown = (what) => all(what).filter((part) => part.getBoundingClientRect().height > 0).length;
const look = (words) => { by("find").value = words; by("find").dispatchEvent(new Event("input")); };
const choose = (id, value) => { by(id).value = value; by(id).dispatchEvent(new Event("change")); };
"""


@pytest.fixture(scope="module")
def browser(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    with Chromium(chromium, tmp_path_factory.mktemp("browser")) as browser:
        yield browser


def report_of(folder: Path, command: str, *arguments: str | Path) -> Path:
    ended = nearkin_here(command, *arguments, "--out", folder / "out", "--quiet")
    assert ended.code == 0, ended.err
    return folder / "out/report.html"


def opened(browser: Chromium, page: Path) -> Iterator[Callable[[str], object]]:
    """The page on a wide and on a narrow screen, each time with what answers a probe there."""
    for width in (1280, 500):
        browser.errors.clear()
        browser.resize(width)
        browser.open(page.as_uri())
        assert browser.js("document.querySelector('meta[http-equiv]').content").startswith("default-src 'none'")
        assert browser.js("document.getElementById('tools')?.checkVisibility() ?? !document.scripts.length"), "it ran"
        yield lambda probe: browser.js(f"(() => {{ {_TOOLS} {probe} }})()")
        assert browser.js("document.documentElement.scrollWidth - innerWidth") <= 0
        assert browser.js("performance.getEntriesByType('resource').length") == 0
        assert browser.errors == [], "something was refused by the policy"


def test_the_report_of_dedup(browser: Chromium, collection: Path, tmp_path: Path) -> None:
    for probe in opened(browser, report_of(tmp_path, "dedup", collection / "contracts.jsonl")):
        seen = "all('[data-find]').filter((entry) => !entry.hidden).length"
        first = "document.querySelector('tbody[data-find] bdi').textContent.toUpperCase()"
        every, none, some, again = probe(
            f"const every = {seen}; look('no such words'); const none = {seen}; look({first}); const some = {seen};"
            f"look(''); return [every, none, some, {seen}];"
        )
        assert none == 0 < some < every == again
        assert probe("return [shown('svg') >= 2, shown('h2') >= 6]") == [True, True]


def test_the_report_of_families(browser: Chromium, collection: Path, tmp_path: Path) -> None:
    for probe in opened(browser, report_of(tmp_path, "families", collection / "contracts.jsonl")):
        n_families = probe("return shown('details.family')")
        assert n_families > 5
        assert probe("look('NDA-00/reordered'); return [shown('details.family'), shown('li.hit')]") == [1, 1]
        assert probe("look('no such id'); return [shown('details.family'), by('found').textContent.length > 10]") == [
            0, True,
        ]  # fmt: skip
        others = "all('li.kin').filter((row) => !row.hidden && row.dataset.relation !== 'exact copy').length"
        assert probe(f"look(''); choose('relation', 'exact copy'); return {others}") == 0
        assert probe("choose('relation', ''); return shown('details.family')") == n_families


def test_the_report_of_threads(browser: Chromium, tmp_path: Path) -> None:
    runpy.run_path(str(ROOT / "examples/mails.py"))["write_mails"](tmp_path)
    inputs = [tmp_path / name for name in ("inbox.mbox", "folders", "sent")]
    for probe in opened(browser, report_of(tmp_path, "threads", *inputs)):
        assert probe("return shown('details.thread')") == 30
        assert probe("look('28-3.EML'); return [shown('details.thread'), shown('li.mail') >= 1]") == [1, True]
        assert probe("look('no such id'); return [shown('details.thread'), by('found').textContent.length > 10]") == [
            0, True,
        ]  # fmt: skip
        others = "all('li.mail:not(.missing)').filter((row) => !row.hidden).length"
        assert probe(f"look(''); choose('kind', 'missing'); return [shown('li.mail'), {others}]") == [13, 0]
        assert probe("choose('kind', ''); return shown('details.thread')") == 30


def test_the_report_of_passages(browser: Chromium, collection: Path, tmp_path: Path) -> None:
    given = "passages", collection / "mails.jsonl", "--min-words", "10", "--within", "id"
    for probe in opened(browser, report_of(tmp_path, *given)):
        marked = "all('article').filter((one) => one.querySelector('mark').checkVisibility()).length"
        assert probe(f"return [{marked} > 5, {marked} === shown('article'), shown('#groups + .scroll')]") == [
            True,
            True,
            1,
        ]


def test_the_report_of_pairs(browser: Chromium, tmp_path: Path) -> None:
    corpus = translated_corpus(tmp_path, n=60)
    given = ["--left", corpus.left, "--right", corpus.right, "--table", corpus.table]
    for probe in opened(browser, report_of(tmp_path, "pairs", *given, "--known", "same-ids", "--method", "window")):
        rows = "const rows = all('.matches [data-find]'), n = () => rows.filter((row) => row.checkVisibility()).length;"
        last = "look(rows[rows.length - 1].children[1].textContent)"  # it is folded
        found, unfiltered, n_rows = probe(
            f"{rows} {last}; const found = n(); look(''); return [found, n(), rows.length]"
        )
        assert found == 1 < unfiltered < n_rows  # folded again
        probe("all('details').forEach((part) => part.open = true)")
        bars = "all('.weight').filter((bar) => bar.getBoundingClientRect().width > 1).length"
        assert probe(f"return [{bars} > 50, shown('svg')]") == [True, 2]


def test_a_comparison_goes_from_mark_to_mark(browser: Chromium, tmp_path: Path) -> None:
    lines = [f"{i}. The tenant pays the rent of {100 + i} crowns on the first day of month {i}." for i in range(300)]
    other = [line.replace("rent of 150", "rent of 250").replace("120 crowns", "120 Crowns") for line in lines]
    other[250:251] = ["x" * 3000, "<script>alert(1)</script> \u202e and two", "lines more"]
    pair, page = compare_texts("\n".join(lines), "\n".join(other)), tmp_path / "page.html"
    facts = [Fact("Edit similarity", "0.98")]
    page.write_text(comparison_html(pair, name_a="n" * 400, name_b="lease, signed", facts=facts), encoding="utf-8")
    assert "<script>alert" not in page.read_text(encoding="utf-8")
    for probe in opened(browser, page):
        at = "return Number((document.querySelector('.here') || {dataset: {n: 0}}).dataset.n)"
        seen = [probe(at)]
        for key in "nnpp":
            browser.press(key)
            seen.append(probe(at))
        seen += [probe(f"by('{button}').click(); {at}") for button in ("next", "previous")]
        assert seen == [0, 1, 2, 1, 3, 1, 3]
        assert probe("return by('place').textContent") == "Place 3 of 3"
        assert probe("return all('.here').length") == 4  # a line of A, three of B


def test_only_the_chosen_kinds_are_marked_and_gone_to(browser: Chromium, tmp_path: Path) -> None:
    a = "The tenant pays 100 crowns.\nHe does not smoke.\n" + "The same line.\n" * 9 + "Rent is due to Ada Kern."
    b = a.replace("100", "250").replace("not ", "").replace("Kern", "Berg")
    page = tmp_path / "page.html"
    page.write_text(comparison_html(compare_texts(a, b), name_a="a", name_b="b"), encoding="utf-8")
    for probe in opened(browser, page):
        assert probe("return by('place').textContent") == "3 places"
        assert probe("return all('#kinds input').map((box) => box.value).join()") == "numbers,names,negations"
        probe("document.querySelector('#kinds [value=names]').click()")
        probe("document.querySelector('#kinds [value=negations]').focus()")
        browser.press(" ")
        assert probe("return by('place').textContent") == "1 place"
        browser.press("n", "n")
        assert probe("return document.querySelector('.here').textContent").endswith("100]")
