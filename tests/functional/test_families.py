"""``nearkin families``, from the outside."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from functional.conftest import FAST, Ended, nearkin_done, nearkin_here, results, write_jsonl
from nearkin.runs.run import RESUME_HINT


def rows(out: Path) -> list[dict[str, str]]:
    with open(out / "families.csv", encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def run(out: Path, *texts: str, ids: list[object] | None = None, options: tuple[str, ...] = ()) -> Ended:
    records = [{"id": i, "text": text} for i, text in zip(ids or range(len(texts)), texts)]
    path = write_jsonl(out.parent / "in.jsonl", records)
    ended = nearkin_here("families", path, "--out", out, *options)
    ended.assert_clean()
    return ended


@pytest.fixture(scope="module")
def contracts(collection: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("families") / "out"
    ended = nearkin_here("families", collection / "contracts.jsonl", collection / "oddities.jsonl", "--out", out)
    ended.assert_clean()
    assert ended.code == 0
    assert "exact copy" in ended.out
    return out


def test_families_are_the_groups(contracts: Path) -> None:
    groups = pq.read_table(contracts / "groups.parquet").to_pandas().set_index("group")
    table = pq.read_table(contracts / "families.parquet").to_pandas()
    principals = table[table.role == "principal"]
    assert (principals.principal == principals.id).all()
    assert dict(zip(principals.id, principals.family_size)) == groups["size"].to_dict()
    assert principals.family_size.is_monotonic_decreasing
    members = table[table.role == "member"]
    pairs = pq.read_table(contracts / "pairs.parquet").to_pandas()
    known = {
        frozenset((a, b)): {a: in_b, b: in_a}
        for a, b, in_b, in_a in zip(pairs.id_a, pairs.id_b, pairs.containment_a_in_b, pairs.containment_b_in_a)
    }
    for one in members[members.relation != "exact copy"].itertuples():
        measured = known.get(frozenset((one.id, one.principal)))
        if measured is not None:  # else the pair is told of another copy of the same text
            assert measured == {
                one.id: pytest.approx(one.containment_in_principal),
                one.principal: pytest.approx(one.containment_of_principal),
            }


def test_relations_are_those_that_were_planted(contracts: Path, collection: Path) -> None:
    truth = {}
    for line in (collection / "truth.jsonl").read_text(encoding="utf-8").splitlines():
        told = json.loads(line)
        truth[told["id"]] = told
    wanted = {
        "exact copy": "exact copy", "retyped": "exact copy", "signed": "signature or date filled in",
        "clause inserted": "longer version", "clause removed": "shorter version or excerpt",
        "reordered": "revised", "revised": "revised", "scanned": "revised", "next draft": "revised",
    }  # fmt: skip
    checked = 0
    for row in rows(contracts):
        if row["role"] == "principal" or row["id"].startswith("odd"):
            continue
        assert truth[row["id"]]["family"] == truth[row["principal"]]["family"]
        if truth[row["id"]]["of"] == row["principal"] and truth[row["id"]]["edit"] in wanted:
            assert row["relation"] == wanted[truth[row["id"]]["edit"]]
            checked += 1
    assert checked >= 5


def test_lines_are_those_of_the_document(contracts: Path, collection: Path) -> None:
    documents = {}
    for line in (collection / "contracts.jsonl").read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        documents[one["id"]] = re.split(r"\r\n?|\n", one["text"])
    table = pq.read_table(contracts / "families.parquet").to_pandas()
    told = table[table.first_difference_member.notna() & table.id.isin(documents)]
    assert len(told) > 20
    for one in told.itertuples():
        assert documents[one.id][int(one.line_member) - 1].strip() == one.first_difference_member
        assert documents[one.principal][int(one.line_principal) - 1].strip() == one.first_difference_principal


@pytest.mark.parametrize("step", ["read_originals", "render_page"])
def test_an_interrupted_run_goes_on_to_the_same_bytes(
    step: str, contracts: Path, collection: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from nearkin.workflows.families import files

    def cut(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    arguments = ("families", collection / "contracts.jsonl", collection / "oddities.jsonl", "--out", tmp_path / "out")
    with monkeypatch.context() as patched:
        patched.setattr(files, step, cut)
        ended = nearkin_here(*arguments)
    assert ended.code == 130
    assert RESUME_HINT in ended.err
    nearkin_done(*arguments, "-q", code=5)
    nearkin_done(*arguments, "-q", "--resume")
    assert results(tmp_path / "out") == results(contracts)


def test_hostile_texts_stay_texts(tmp_path: Path) -> None:
    evil = '</script><script>alert(1)</script><img src=x onerror="alert(2)"> \u202e{{ 7*7 }} \x00'
    texts = [f"{evil}\n{FAST} {evil}", f"=cmd|calc!A1\n{FAST} {evil}\n=cmd()"]
    ended = run(tmp_path / "out", *texts, ids=['=HYPERLINK("http://evil")', "<b>@SUM\u200b"])
    assert ended.code == 0
    page = (tmp_path / "out/report.html").read_text(encoding="utf-8")
    assert page.count("<script>") == 1
    assert "<img" not in page
    assert "\u202e" not in page
    assert "⟨U+202E⟩" in page
    told = rows(tmp_path / "out")
    assert len(told) == 2
    assert not [cell for row in told for cell in row.values() if cell.startswith(("=", "+", "-", "@"))]
    assert '\'=HYPERLINK("http://evil")' in {row["id"] for row in told}
    assert '=HYPERLINK("http://evil")' in pq.read_table(tmp_path / "out/families.parquet")["id"].to_pylist()
