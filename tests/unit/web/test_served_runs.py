"""Runs beside a collection: their reports in a sandbox, and pairs with hostile texts and names, and decisions."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from nearkin import dedup
from nearkin import pairs as similar_pairs
from nearkin.collection.collection import Collection
from nearkin.web.gate import sandbox_policy
from nearkin.web.screens import administration as pairs_screen
from nearkin.web.served_runs import ServedRuns
from nearkin.workflows.pairing import pairs_of_run
from nearkin.workflows.pairing.pairs_of_run import DECISIONS
from review_client import Visit, small_collection, words_of
from team_client import NAMES, Browser, Team, service_of

SEA = "harbour ferry island storm captain lantern rope anchor sail wind tide shore"
HOSTILE = "<script>alert(1)</script>"
SIDES = {
    "left": [(f"l{HOSTILE}", f"{SEA} {HOSTILE}"), ("=1+1", "garden tenant lease owner key term order good")],
    "right": [("r0", f"{SEA} gull"), ("r1", "garden tenant lease owner key term order well")],
}


@pytest.fixture
def runs(tmp_path: Path) -> list[Path]:
    """A run of pairs and one of dedup."""
    for side, documents in SIDES.items():
        lines = [json.dumps({"id": doc_id, "text": text}) for doc_id, text in documents]
        (tmp_path / f"{side}.jsonl").write_text("\n".join(lines), "utf-8")
    similar_pairs(
        tmp_path / "left.jsonl", tmp_path / "right.jsonl", min_terms=2, min_occurrences=1, out=tmp_path / "pairs",
        report=True,
    )  # fmt: skip
    dedup(tmp_path / "left.jsonl", out=tmp_path / "copies", report=True)
    return [tmp_path / "pairs", tmp_path / "copies"]


@pytest.fixture
def collection(tmp_path: Path) -> Iterator[Collection]:
    with small_collection(tmp_path) as collection:
        yield collection


@pytest.fixture
def visit(runs: list[Path], collection: Collection) -> Visit:
    visit = Visit(collection).sign_in()
    visit.service.runs = ServedRuns(runs)
    return visit


def decided(visit: Visit, pair: dict[str, object], decision: str) -> int:
    fields = {"run": 1, "left_row": pair["left_row"], "right_row": pair["right_row"], "decision": decision}
    return visit.post("/pairs/decide", **fields).status_code


def test_a_report_opens_in_a_sandbox_and_nothing_else_does(visit: Visit, runs: list[Path]) -> None:
    answer = visit.get("/reports.html", run=1)
    assert answer.content == (runs[0] / "report.html").read_bytes()
    assert "content-disposition" not in answer.headers
    policy = answer.headers["content-security-policy"]
    assert policy == sandbox_policy()
    assert policy.startswith("sandbox allow-scripts; default-src 'none'; script-src 'sha256-")
    assert "allow-same-origin" not in policy
    digest = re.search(r"script-src ('sha256-[^']*')", answer.text)
    assert digest is not None
    assert digest[1] in policy  # the script of the page runs
    for path in ("/reports", "/pairs", "/reports.html?run=9", "/reports.json"):
        other = visit.send("GET", path)
        assert "unsafe" not in other.headers["content-security-policy"], path
        assert other.headers["cross-origin-opener-policy"] == "same-origin"
    (runs[0] / "report.html").unlink()
    assert visit.send("GET", "/reports.html?run=1").status_code == 404


def test_pairs_are_shown_with_both_texts_and_their_words(visit: Visit) -> None:
    page, data = visit.get("/pairs"), visit.get("/pairs.json").json()
    assert {one["left"]: one["right"] for one in data["pairs"]} == {"=1+1": "r1", f"l{HOSTILE}": "r0"}
    assert data["pairs"][0]["cosine"] >= data["pairs"][1]["cosine"]
    texts = {one["right"]: (one["left_text"], one["right_text"]) for one in data["pairs"]}
    assert texts["r0"] == (SIDES["left"][0][1], SIDES["right"][0][1])
    assert {"garden", "tenant"} & {term["term"] for one in data["pairs"] for term in one["terms"]}
    assert HOSTILE not in page.text
    assert HOSTILE in words_of(page.text).replace("&lt;", "<").replace("&gt;", ">")


def test_files_are_read_once_for_many_pages_and_not_if_they_changed(
    visit: Visit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads, read = list[set[int]](), pairs_of_run._read_texts
    monkeypatch.setattr(pairs_of_run, "_read_texts", lambda again, rows: (reads.append(rows), read(again, rows))[1])
    monkeypatch.setattr(pairs_screen, "_A_PAGE", 1)
    shown = [visit.get("/pairs.json", page=page).json()["pairs"][0] for page in (1, 2, 1)]
    assert reads == [{0, 1}, {0, 1}]  # each side once
    texts = {doc_id: text for side in SIDES.values() for doc_id, text in side}
    for one in shown:
        assert (one["left_text"], one["right_text"]) == (texts[one["left"]], texts[one["right"]])
    (tmp_path / "left.jsonl").write_text("changed", "utf-8")
    assert "differs" in visit.get("/pairs.json", page=1).json()["why_no_texts"]
    assert visit.get("/pairs.json", page=1).json()["pairs"][0]["left_text"] is None


def test_decisions_are_stored_shown_exported_and_taken_back(visit: Visit, runs: list[Path]) -> None:
    first, second = visit.get("/pairs.json").json()["pairs"]
    assert (decided(visit, first, "accepted"), decided(visit, second, "rejected")) == (303, 303)
    assert visit.get("/pairs.json").json()["n_found"] == 0
    for show, pair in (("accepted", first), ("rejected", second)):
        (shown,) = visit.get("/pairs.json", show=show).json()["pairs"]
        assert (shown["left"], shown["decision"], shown["by"]) == (pair["left"], show, "ada")
    rows = list(csv.DictReader(visit.get("/pairs.csv", show="all").text.splitlines()))
    assert [(one["right"], one["decision"], one["by"]) for one in rows] == [
        (first["right"], "accepted", "ada"), (second["right"], "rejected", "ada")
    ]  # fmt: skip
    assert not [one for one in rows if one["left"].startswith("=")]  # no formula for a spreadsheet
    again = ServedRuns(runs[:1]).all[0].pairs  # another process
    assert again is not None
    assert len(again.decisions.all()) == 2
    assert decided(visit, first, "undecided") == 303
    assert [one["left"] for one in visit.get("/pairs.json").json()["pairs"]] == [first["left"]]


@pytest.mark.parametrize("rows", [(0, 5), (-1, 0), (0, 1 << 40), (1, 0)])
def test_what_is_no_pair_of_the_run_is_not_decided(visit: Visit, runs: list[Path], rows: tuple[int, int]) -> None:
    assert decided(visit, {"left_row": rows[0], "right_row": rows[1]}, "accepted") == 404
    assert not (runs[0] / DECISIONS).exists()
    assert visit.send("GET", "/pairs?run=2").status_code == 404  # it has no pairs
    assert visit.send("GET", "/pairs?run=3").status_code == 404


def test_a_decision_of_somebody_else_is_changed_by_admins_only(
    runs: list[Path], collection: Collection, tmp_path: Path
) -> None:
    service = service_of(collection)
    service.runs = ServedRuns(runs)
    team = Team(service, tmp_path / "team")
    browsers = {name: Browser(team).with_session(name) for name in NAMES}
    pair = browsers["rita"].get("/pairs.json").json()["pairs"][0]
    fields = {"run": "1", "left_row": str(pair["left_row"]), "right_row": str(pair["right_row"])}

    def sent(name: str, decision: str) -> int:
        browser = browsers[name]
        return browser.post("/pairs/decide", csrf=browser.csrf, decision=decision, **fields).status_code

    assert [sent("vera", "accepted"), sent("ada", "accepted"), sent("rita", "rejected")] == [403, 303, 403]
    assert 'action="/pairs/decide"' not in browsers["rita"].get("/pairs?show=accepted").text
    assert 'action="/pairs/decide"' not in browsers["vera"].get("/pairs?show=all").text
    assert [sent("ada", "undecided"), sent("rita", "rejected"), sent("ada", "accepted")] == [303] * 3
