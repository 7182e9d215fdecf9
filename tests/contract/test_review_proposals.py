"""Proposed principals and indirect members on the review screen are those of ``nearkin groups``."""

from __future__ import annotations

from places import SomePlace, on_one_database
from review_client import Visit, words_of

pytestmark = on_one_database

WORDS = [f"word{i}" for i in range(40)]


def changed(*places: int) -> str:
    """The words with a longer one at some places."""
    return " ".join(f"{word}x" if i in places else word for i, word in enumerate(WORDS))


def test_screens_show_what_the_command_shows(place: SomePlace) -> None:
    with place.open() as collection:
        collection.add([("a", changed()), ("b", changed(3))])
        collection.groups()
        collection.add([("c", changed(3, 13)), ("d", changed(3, 13, 23))])
        (longer,) = collection.groups().groups
        (chain,) = collection.groups(threshold=0.75).groups
        assert (longer.principal, longer.proposed_principal, chain.n_chained) == ("b", "d", 2)
        visit = Visit(collection).sign_in()
        for told, value in ((longer, 0.5), (chain, 0.75)):
            (one,) = visit.get("/groups.json", value=value).json()["groups"]
            for shown in (one, visit.get("/group.json", number=told.number, value=value).json()):
                assert (shown["proposed_principal"], shown["n_indirect"]) == (told.proposed_principal, told.n_chained)
        assert "1 4 4 0 b (proposed: d )" in words_of(visit.get("/groups").text)
        page = words_of(visit.get("/group", number=longer.number).text)
        assert ("proposed as principal, because it is longer: d" in page, page.count("proposed principal")) == (True, 1)
        collection.decide(principal="a", by="ada")
        assert "proposed" not in words_of(visit.get("/groups").text)
        assert visit.get("/group.json", number=longer.number).json()["proposed_principal"] is None


def test_a_member_that_is_as_long_as_the_principal_is_not_proposed(place: SomePlace) -> None:
    with place.open() as collection:
        collection.add([("a", changed(3)), ("b", changed(13))])
        collection.groups()
        collection.add([("a", changed(23))])  # its new text is stored after that of "b"
        (group,) = collection.groups().groups
        assert (group.principal, group.proposed_principal) == ("a", None)
        visit = Visit(collection).sign_in()
        assert "proposed" not in words_of(visit.get("/groups").text)
        assert "proposed" not in words_of(visit.get("/group", number=group.number).text)
