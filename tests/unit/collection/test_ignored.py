"""Passages and numbers that do not count in a collection: fixed when it is created, the stored texts unchanged."""

from __future__ import annotations

from pathlib import Path

import pytest

from nearkin import Collection
from nearkin.collection.groups.current import group
from nearkin.collection.tolerance import Tolerance
from nearkin.errors import ParameterError
from nearkin.stages.documents.ignoring import Ignored

FOOTER = (
    "This e-mail is confidential and may be privileged. If you are not the addressee, delete it and tell us at once."
)
IGNORED = Ignored((f"text:{FOOTER}", r"re:^page \d+ of \d+$"), numbers=True)
TEXTS = {
    "a": f"The rent of flat 12 is due on the first of the month.\n{FOOTER}\nPage 1 of 2",
    "b": "The rent of flat 13 is due on the first of the month.",
    "c": f"Nothing at all about weather or the sea in this one.\n{FOOTER.upper()}",
    "d": FOOTER,
    "e": f"{FOOTER}\n\n{FOOTER}",
    "f": "12 13",
}


@pytest.fixture
def matter(tmp_path: Path) -> Path:
    with Collection.open(tmp_path / "matter", create=True, ignored=IGNORED) as collection:
        collection.add(list(TEXTS.items()))
    return tmp_path / "matter"


def test_what_does_not_count_makes_no_documents_similar(matter: Path) -> None:
    with Collection.open(matter) as collection:
        found = group(collection.opened, Tolerance.of("jaccard", threshold=0.5), threads=1)
        members = found.members.select(["doc_id", "jaccard"]).to_pylist()
        assert sorted((row["doc_id"], row["jaccard"]) for row in members) == [("a", 1.0), ("b", 1.0)]
        letters = group(collection.opened, Tolerance.of("letters", gamma=0.02), threads=1)
        assert sorted(letters.members["doc_id"].to_pylist()) == ["a", "b"]
        assert collection.text("a") == TEXTS["a"]


def test_check_in_does_not_count_it_either(matter: Path) -> None:
    with Collection.open(matter) as collection:
        asked = f"the rent of flat 99 is due on the first of the month. {FOOTER}"
        answer = collection.check(asked)
        assert sorted(one.document.doc_id for one in answer.documents) == ["a", "b"]
        assert not collection.check(f"{FOOTER} 77").documents
        assert not collection.check(FOOTER).documents  # nothing of it counts, so it is no copy, as in dedup


def test_another_setting_is_refused(matter: Path) -> None:
    with pytest.raises(ParameterError, match=r"numbers.*cannot be changed later"):
        Collection.open(matter, ignored=Ignored((), numbers=True))
    with Collection.open(matter, ignored=IGNORED) as collection:
        assert collection.fsck().is_whole
    with Collection.open(matter.with_name("plain"), create=True) as plain:
        assert "ignored" not in plain.opened.store.facts
    with pytest.raises(ParameterError):
        Collection.open(matter.with_name("plain"), ignored=IGNORED)
