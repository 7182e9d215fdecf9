"""Fields in a search: headers of mails, dates, waves, files, ids and tags, alone and beside words."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from extracted_documents import HEADERS, LEASE, LETTER, add_extracted, origin
from nearkin.collection.collection import Collection
from nearkin.collection.word_search.saved import facets
from nearkin.errors import ParameterError, UnknownDocumentError
from places import SomePlace

MAILS = {
    "one.eml": (LETTER, HEADERS),
    "two.eml": (
        f"{LETTER} 100 percent.",
        replace(HEADERS, subject="100% of it", sender="Cy <cy@example.org>", bcc="bo@x"),
    ),
    "four.eml": (f"{LEASE} Signed.", replace(HEADERS, sender="JÖRG MÜLLER", to=None, subject="Änderung", sent_at=None)),
    "three.eml": (LEASE, replace(HEADERS, to="ada@example.org", sent_at=datetime(2025, 12, 31, 23, 0, tzinfo=UTC))),
}


EXPECTED: dict[str, set[str]] = {
    "from:ADA@": {"one.eml", "three.eml"},
    "from:ada@ rent": {"three.eml"},
    "to:bo": {"one.eml", "two.eml"},  # also in bcc
    "bcc:bo": {"two.eml"},
    "cc:bo": set(),
    "kind:Mail NOT rent": {"one.eml", "two.eml"},
    "Re: http://lease": set(),
    'subject:"the lease"': {"one.eml", "three.eml"},
    "subject:100%": {"two.eml"},
    "date:2026-03": {"one.eml", "two.eml", "note"},
    "date:2025..2026-02": {"three.eml"},
    "date:..2025-12-31": {"three.eml"},
    "date:2026-03-10..": {"note"},
    "wave:notes": {"note", "old"},
    "landlord wave:notes": {"old"},
    "id:*.eml from:cy": {"two.eml"},
    "file:inbox* lease NOT percent": {"one.eml"},
    "tag:date rent": {"note"},
    "from:nobody": set(),
    "NOT from:ada@ wave:mails": {"two.eml", "four.eml"},
    "rent NOT tag:date": {"three.eml", "four.eml"},
    "FROM:cy": {"two.eml"},
    'tag:issue="price list"': {"old"},
    "from:müller": {"four.eml"},
    "subject:änderung": {"four.eml"},
}


@pytest.fixture
def matter(place: SomePlace) -> Iterator[Collection]:
    with place.open() as opened:
        rows = [(name, text, origin("a", kind="mail", mail=mail), None) for name, (text, mail) in MAILS.items()]
        add_extracted(opened, rows, wave="mails", source="inbox.mbox")
        opened.add([("note", "The rent is due."), ("old", "A letter of the landlord.")], wave="notes")
        opened.tag(["old"], "issue", "delivery; price list", by="ada")
        opened.tag(["note"], "date", "2026-03-15", by="ada")
        yield opened


def test_fields_and_words_are_all_met(matter: Collection) -> None:
    found = {query: matter.search(query) for query in EXPECTED}
    assert {query: {one.document.doc_id for one in result.documents} for query, result in found.items()} == EXPECTED
    assert all(result.n_found == len(EXPECTED[query]) for query, result in found.items())
    assert all(matter.search(query, limit=1).n_found == len(names) for query, names in EXPECTED.items())


def test_fields_and_words_are_combined_as_sets(matter: Collection) -> None:
    chance, queries = random.Random(5), [*EXPECTED.items()]
    for (one, left), (two, right) in (chance.choices(queries, k=2) for _ in range(40)):
        combined = {"OR": left | right, "AND": left & right, "NOT": left - right}
        for operator, expected in combined.items():
            query = f"({one}) {operator} ({two})"
            assert ids(matter, query) == expected, query
    assert ids(matter, "rent OR from:ada@ from:nobody OR tag:date") == ids(matter, "rent OR tag:date")


def ids(matter: Collection, query: str) -> set[str]:
    return {one.document.doc_id for one in matter.search(query).documents}


def test_a_saved_search_is_found_by_its_name(matter: Collection) -> None:
    matter.save_search("of ada", "from:ada@ OR tag:date", by="bo")
    matter.save_search("rent", 'rent saved:"of ada"', by="cy")
    assert ids(matter, 'saved:"of ada"') == EXPECTED["from:ADA@"] | {"note"}
    assert ids(matter, "NOT saved:rent wave:notes") == {"old"}
    assert [(one.name, one.by) for one in matter.saved_searches()] == [("of ada", "bo"), ("rent", "cy")]
    for name, query in (("of ada", "saved:rent"), ("x", "saved:x"), ("x", "rent OR"), (" ", "rent"), ('"', "rent")):
        with pytest.raises(ParameterError):
            matter.save_search(name, query)
    forgotten = matter.save_search("of ada", None, by="bo")
    with pytest.raises(ParameterError):
        matter.search("saved:rent")
    matter.undo(forgotten.number or 0, by="bo")
    assert ids(matter, "saved:rent") == {"three.eml", "note"}
    assert matter.save_search("rent", 'rent saved:"of ada"').n_unchanged == 1


def test_saved_searches_share_a_limit_of_parentheses(matter: Collection) -> None:
    def inside(query: str) -> str:
        return f"{'(' * 20}{query}{')' * 20}"

    for name, query in (("s0", "rent"), ("s1", "saved:s0"), ("s2", "saved:s1")):
        matter.save_search(name, inside(query))
    assert ids(matter, "saved:s2") == ids(matter, "rent")
    for query in (inside("saved:s2"), "saved:s1 saved:s1"):
        with pytest.raises(ParameterError):
            matter.search(query)


def test_facets_count_what_their_queries_find(matter: Collection) -> None:
    other = replace(HEADERS, sender="Joada <joada@example.org>", sent_at=datetime(2024, 2, 1, tzinfo=UTC))
    rows = [("other.eml", LETTER, origin("a", kind="mail", mail=other), None)]
    add_extracted(matter, rows, wave="later mails", source="inbox.mbox")
    matter.tag(["other.eml"], "date", "2026-03-16", by="ada")
    matter.tag(["old"], "date", "unknown", by="ada")
    matter.tag(["note"], "issue", "", by="ada")
    with matter.opened.store.reading() as connection:
        for query in ("lease", "rent OR from:ada@", "landlord OR(percent)", "(rent)OR lease", "NOT id:nothing"):
            found = facets(connection, query)
            assert found.n_documents == matter.search(query).n_found
            for facet in found.facets:
                assert {one.query: len(ids(matter, one.query)) for one in facet.values} == {
                    one.query: one.n_documents for one in facet.values
                }
        fields = {one.field: {each.value: each.n_documents for each in one.values} for one in found.facets}
        assert fields["from"] == {"ada@example.org": 3, "cy@example.org": 1, "joada@example.org": 1, "jörg müller": 1}
        assert fields["date"] == {"2026-03": 4, "2025-12": 1, "2024-02": 1}
        assert fields["tag"]["issue"] == 2


def test_a_query_of_fields_shows_the_beginnings_of_texts(matter: Collection) -> None:
    (only,) = matter.search("from:cy").documents
    assert only.snippet.startswith("Please find the signed lease")


def test_a_field_that_breaks_its_rule_is_refused(matter: Collection) -> None:
    for query in (
        "date:march",
        "date:2026-3",
        "date:..",
        "from:ada OR",
        "tag:=",
        "from:",
        "subject:(Q3)",
        "subject: x",
        "(from:a OR from:b",
        "sender:ada",
        "from:a OR date:march",
        'subject:"open',
        "saved:nothing",
    ):
        with pytest.raises(ParameterError):
            matter.search(query)


def test_an_unknown_wave_is_named(matter: Collection) -> None:
    with pytest.raises(UnknownDocumentError):
        matter.search("wave:april rent")
