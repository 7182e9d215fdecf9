"""Families of a collection: its groups, with relations that are stored; the same after waves and from scratch."""

from __future__ import annotations

import html
import re
from collections import defaultdict
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import nearkin
from functional.conftest import nearkin_here
from made_up_prose import Prose
from nearkin.collection import relations
from nearkin.collection.relations import relate
from places import on_one_database

pytestmark = on_one_database

FORM = (
    "Lease between Kern Seeds, Inc. and Ada Rowe. The tenant keeps the rooms in good order, lets the landlord in after "
    "a notice of two days, and returns all the keys. The landlord keeps the roof in repair.\nSigned: ____________\n"
)
FIRST = {"form": FORM, "signed": FORM.replace("____________", "/s/ Ada Rowe"), "copy": FORM, "typed": FORM.upper()}
SECOND = {
    "other": FORM.replace("Kern Seeds", "Abara Mills").replace("Ada Rowe", "Li D. Quist"),
    "days": FORM.replace("two days", "six days"),
    "draft": FORM + "The rent is due on the first day of each month, and a month later at the latest.",
}
THIRD = {"days": FORM.replace("two days", "nine days"), "late": FORM.replace("roof", "roof and the walls")}


@pytest.fixture
def compared(monkeypatch) -> list[int]:
    """Numbers of texts that were compared with a principal, by call; small transactions."""
    numbers = list[int]()

    def recorded(principal, texts, **options):
        numbers.append(len(texts))
        return relate(principal, texts, **options)

    monkeypatch.setattr(relations, "relate", recorded)
    monkeypatch.setattr(relations, "_PAIRS_AT_A_TIME", 3)
    return numbers


def families(place, out: Path, *more: str) -> list[dict[str, object]]:
    ended = nearkin_here("families", place.address, "--out", out, "--overwrite", "-q", *more)
    assert (ended.code, ended.err) == (0, "")
    return pq.read_table(out / "families.parquet").to_pylist()


def check(place, rows: list[dict[str, object]]) -> None:
    """Compare the table with the groups, and each relation with a new comparison of two texts."""
    with place.open() as opened:
        members = opened.groups().members.to_pylist()
        texts = {str(row["id"]): opened.text(str(row["id"])) for row in rows}
    assert {(row["family"], row["id"]) for row in rows} == {(one["group"], one["doc_id"]) for one in members}
    assert {row["id"] for row in rows if row["role"] == "principal"} == {
        one["doc_id"] for one in members if one["is_principal"]
    }
    similarity = {one["doc_id"]: one["jaccard"] for one in members}
    for row in rows:
        assert row["similarity"] == similarity[row["id"]]
        if row["role"] == "principal":
            assert (row["principal"], row["relation"]) == (row["id"], None)
            continue
        (found,) = relate(texts[row["principal"]], [texts[row["id"]]])
        judgement, first = found.comparison.judgement, found.comparison.first
        assert (row["relation"], row["filled_in"] or "") == (judgement.relation, judgement.filled_in)
        assert (row["n_differences"], row["n_particulars"]) == (
            judgement.measured.n_differences,
            judgement.measured.n_particulars,
        )
        assert row["containment_in_principal"] == found.containment_in_principal
        assert row["containment_of_principal"] == found.containment_of_principal
        assert (row["first_difference_member"], row["line_member"]) == (
            (None, None) if first is None else (first.member, first.line_member)
        )


def by_family(rows: list[dict[str, object]]) -> list[set[object]]:
    found = defaultdict[object, set[object]](set)
    for row in rows:
        found[row["family"]].add(row["id"])
    return list(found.values())


def test_three_waves_with_decisions_are_as_from_scratch(place, compared, tmp_path) -> None:
    prose = dict(Prose(3).families(12))
    with place.open() as opened:
        opened.add([*FIRST.items(), *prose.items()], wave="first")
    first = families(place, tmp_path / "out")
    check(place, first)
    n_pairs = sum(compared)
    assert n_pairs > 5
    assert families(place, tmp_path / "out") == first
    assert sum(compared) == n_pairs  # nothing is compared again
    assert [len(one) for one in by_family(first)] == sorted(map(len, by_family(first)), reverse=True)
    compared.clear()
    with place.open() as opened:
        opened.add(list(SECOND.items()), wave="second")
        opened.decide(principal="form")
        opened.decide(never_group=("form", "other"))
    second = families(place, tmp_path / "out")
    check(place, second)
    (leases,) = [one for one in by_family(second) if "form" in one]
    assert leases == {*FIRST, *SECOND} - {"other"}
    assert next(row["id"] for row in second if row["role"] == "principal" and row["id"] in leases) == "form"
    assert 0 < sum(compared) <= len(leases)  # only of the group that changed
    compared.clear()
    with place.open() as opened:
        opened.add(list(THIRD.items()), wave="third")
        opened.decide(same_group=("other", "late"))
        opened.remove(["draft"])
    third = families(place, tmp_path / "out")
    check(place, third)
    assert {"other", "late"} <= next(one for one in by_family(third) if "late" in one)
    assert "draft" not in {row["id"] for row in third}
    with place.open() as opened, opened.opened.store.writing() as connection:
        relations.forget(connection)
    compared.clear()
    assert families(place, tmp_path / "again") == third
    assert sum(compared) > n_pairs


def test_changed_relations_are_computed_again_and_erased_texts_have_none(place, tmp_path) -> None:
    with place.open() as opened:
        opened.add([*FIRST.items(), *SECOND.items()])
    before = families(place, tmp_path / "out")
    with place.open() as opened:
        store = opened.opened.store
        with store.reading() as connection:
            n_rows = relations.n_stored(connection, store)
        assert n_rows == len({one["id"] for one in before if one["role"] == "member"} - {"copy"})
        nothing = "x'00'" if place.server is None else r"'\x00'::bytea"
        place.sql(f"UPDATE relations SET comparison = {nothing} WHERE content = (SELECT max(content) FROM relations)")
    assert families(place, tmp_path / "out") == before
    place.sql(f"UPDATE relations SET comparison = {nothing}")
    assert families(place, tmp_path / "out") == before
    assert nearkin_here("purge", place.address, "signed", "--yes").code == 0
    with place.open() as opened, opened.opened.store.reading() as connection:
        assert relations.n_stored(connection, opened.opened.store) == 0
    after = families(place, tmp_path / "out")
    assert {row["id"] for row in after} == {row["id"] for row in before} - {"signed"}
    place.sql("UPDATE facts SET value = 'rules of another day' WHERE name = 'relations'")
    assert families(place, tmp_path / "out") == after


def test_the_page_shows_clauses_that_stand_in_more_documents(place, tmp_path) -> None:
    """Not what only the family has; after the clause is stored, and in the words of the principal."""
    clause = "The <b>landlord</b> keeps the roof, the walls and all pipes in good repair at his own cost."
    own = "Kern Seeds rents the rooms on the third floor from the first day of May on."
    texts = [
        f"{own} {clause} Signed.",
        f"{own} {clause} Signed: Ada.",
        *(f"{Prose(i).text(40)} {clause}" for i in (1, 2)),
    ]
    with place.open() as collection:
        collection.add([(f"d{i}", text) for i, text in enumerate(texts)], wave="one")
    for is_stored in (False, True):
        if is_stored:
            nearkin.passages(place.address, min_words=10, store=True)
        families(place, tmp_path / "out", "--report")
        page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
        rows = re.findall(
            r'<td data-label="documents".*?>(\d+)</bdi>.*?clause of the principal"><bdi>(.*?)</bdi>', page
        )
        assert rows == ([("4", html.escape(clause.rstrip(".")))] if is_stored else [])


def test_relations_do_not_wait_for_another_writer(place) -> None:
    pairs = [(0, 1), (0, 3)]
    with place.open(wait=1000) as opened, place.open() as other:
        opened.add([*FIRST.items(), *SECOND.items()])
        store = opened.opened.store
        with other.opened.store.writing():
            related = dict(relations.relations_of(opened.opened, pairs))
        with store.reading() as connection:
            assert (list(related), relations.n_not_stored(connection, store, pairs)) == (pairs, len(pairs))
        assert dict(relations.relations_of(opened.opened, pairs)) == related
        with store.reading() as connection:
            assert relations.n_not_stored(connection, store, pairs) == 0
