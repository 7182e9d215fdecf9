"""Groups, conflicts and searches by words: what they refuse, what they keep, and what they hold in memory."""

from __future__ import annotations

import tracemalloc
from contextlib import nullcontext

import pytest

from nearkin.collection import measuring
from nearkin.collection.groups.members import stored_members
from nearkin.collection.matching import word_links
from nearkin.collection.stored import word_sets as word_sets_module
from nearkin.collection.tolerance import Tolerance
from nearkin.errors import CollectionBusyError, ParameterError
from nearkin.kernels import choosing
from nearkin.runs.progress import Silent

TEXT = "The tenant shall pay the rent of {} crowns on the first day of each month to the landlord of the house."
LONG = TEXT + " The landlord shall keep the house in repair at all times."


def texts(n: int) -> list[tuple[str, str]]:
    return [(f"d{i:04}", TEXT.format(i)) for i in range(n)]


# -- memory ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def peak_bytes(tmp_path, monkeypatch):
    from nearkin import Collection

    # kernels are compiled before memory is watched, while it takes minutes
    monkeypatch.setattr(choosing, "ALWAYS", "compiled")
    with Collection.open(tmp_path / "first", create=True) as collection:
        collection.add(texts(40))
        collection.conflicts({f"d{i:04}": "AB"[i % 2] for i in range(40)}, gamma=0.3, limit=1)
        collection.groups(gamma=0.3)
    tracemalloc.start()

    def peak() -> int:
        return tracemalloc.get_traced_memory()[1]

    yield peak
    tracemalloc.stop()


def test_memory_does_not_grow_with_the_pairs_of_a_cluster(tmp_path, peak_bytes):
    from nearkin import Collection

    with Collection.open(tmp_path / "matter", create=True) as collection:
        collection.add(texts(1_500))
        labels = [(f"d{i:04}", "AB"[i % 2]) for i in range(1_500)]
        tracemalloc.reset_peak()
        for alike in ({"gamma": 0.3}, {"threshold": 0.5}):
            assert collection.conflicts(labels, **alike, limit=1).n_found == 750
            assert len(collection.groups(**alike).groups) == 1
        assert peak_bytes() < 100e6


def test_copies_with_two_labels_are_counted_without_being_listed(tmp_path, peak_bytes):
    from nearkin import Collection

    with Collection.open(tmp_path / "matter", create=True) as collection:
        collection.add([(f"d{i:04}", LONG) for i in range(3_000)])
        tracemalloc.reset_peak()
        found = collection.conflicts({f"d{i:04}": "AB"[i // 1_500] for i in range(3_000)}, limit=2)
        assert (found.n_found, found.n_groups) == (1_500, 1)
        assert [(one.a.doc_id, one.b.doc_id) for one in found.conflicts] == [("d1500", "d0000"), ("d1501", "d0000")]
        assert peak_bytes() < 60e6


def test_candidates_by_words_are_compared_some_at_a_time(place, monkeypatch):
    loaded = list[int]()
    contents_of = measuring.contents_of

    def spied(connection, numbers):
        loaded.append(len(numbers))
        return contents_of(connection, numbers)

    with place.open() as collection:
        collection.add(texts(40))
        collection.remove([f"d{i:04}" for i in range(10, 20)])
        whole = [collection.similar("d0000", threshold=t, limit=3).to_dict() | {"elapsed_s": 0} for t in (0.3, 0.6)]
        monkeypatch.setattr(measuring, "contents_of", spied)
        monkeypatch.setattr(word_sets_module, "_TEXT_BYTES_AT_A_TIME", 4 * len(TEXT))
        parts = [collection.similar("d0000", threshold=t, limit=3).to_dict() | {"elapsed_s": 0} for t in (0.3, 0.6)]
    assert parts == whole
    assert whole[0]["n_found"] == 29
    assert max(loaded) <= 4
    assert sum(loaded) <= 2 * (30 + 3)  # those of documents that are gone are not loaded


# -- groups ------------------------------------------------------------------------------------------------------------


class Meanwhile(Silent):
    """Does something once, while texts are compared."""

    def __init__(self, what) -> None:
        self.what = what

    def start(self, stage, total, unit) -> None:
        if stage == "compare" and self.what is not None:
            what, self.what = self.what, None
            what()


@pytest.mark.parametrize("is_removal", [False, True])
def test_what_is_written_while_groups_are_worked_out_is_not_lost(place, is_removal):
    def write() -> None:
        with place.open(create=False) as other:
            if is_removal:
                other.remove(["d0001"])
                other.groups(gamma=0.2)
            else:
                other.decide(principal="d0002")

    with place.open() as collection:
        collection.add(texts(4))
        assert collection.groups(gamma=0.2).groups[0].principal == "d0000"
    with place.open(progress=Meanwhile(write)) as collection:
        # a chosen principal lies over the stored groups, which need not be made again
        with pytest.raises(CollectionBusyError, match="Try again") if is_removal else nullcontext():
            collection.groups(gamma=0.2)
        now = collection.groups(gamma=0.2)
    assert now.groups[0].principal == ("d0000" if is_removal else "d0002")


def test_a_new_version_of_a_principal_is_the_principal(place):
    with place.open() as collection:
        collection.add(texts(3))
        collection.groups(gamma=0.2)
        collection.decide(principal="d0001")
        collection.add([("d0001", TEXT.format("1 or 2"))])
        (change,) = collection.groups(gamma=0.2).changes
        assert (change.new, change.left, change.has_new_principal) == (("d0001",), (), True)
        again = collection.groups(gamma=0.2)
        assert (again.groups[0].principal, again.changes) == ("d0001", ())
        collection.add([("d0001", "Something else altogether, which is like nothing that was there before it.")])
        (change,) = collection.groups(gamma=0.2).changes
        assert (change.left, change.principal_was) == (("d0001",), "d0001")


def test_blanks_do_not_make_a_principal(place):
    padded = LONG.format(1).replace(" ", " " * 9)
    with place.open() as collection:
        collection.add([("padded", padded), ("short", TEXT.format(1)), ("says more", f"{LONG.format(1)} And garden.")])
        (group,) = collection.groups(gamma=0.4).groups
        assert (group.principal, group.proposed_principal) == ("says more", None)
        collection.decide(principal="short")
        chosen = collection.groups(gamma=0.4)
        assert chosen.groups[0].proposed_principal is None  # a person's choice stands
        assert chosen.members["is_proposed_principal"].to_pylist() == [False] * 3
        stored = stored_members(collection.opened, Tolerance.of(gamma=0.4))
        assert stored["is_proposed_principal"].to_pylist() == [False] * 3
        made = collection.groups(gamma=0.5).groups[0].principal
        assert made == "short"
        collection.undo(1)
        assert collection.groups(gamma=0.5).groups[0].principal == "says more"  # proposed anew
        collection.remove(["says more"])
        collection.add([("the same", LONG.format(1))])
        (group,) = collection.groups(gamma=0.6).groups
        assert (group.principal, group.proposed_principal) == ("padded", None)  # of equal ones the one stored first
        collection.remove(["padded"])
        collection.add([("padded", padded)])
        assert collection.groups(gamma=0.7).groups[0].principal == "the same"


# -- conflicts ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "labels",
    [None, 5, "ab", ["ab"], [("a",)], [("a", "b", "c")], [(1, "A")], [("a", None)], {"a": 1}, {1: "A"}, [b"ab"]],
)
def test_labels_of_wrong_types_are_refused(place, labels):
    with place.open() as collection, pytest.raises(ParameterError, match=r"^labels: "):
        collection.conflicts(labels)


# -- an index that says what the store does not ------------------------------------------------------------------------


# -- pairs that were not compared --------------------------------------------------------------------------------------


def sides_just_apart() -> list[tuple[str, str]]:
    """Texts of two sides; the Jaccard similarity between the sides is just below the threshold."""

    def side(name: str, i: int) -> str:
        return " ".join([f"common{k}" for k in range(70)] + [f"{name}{k}" for k in range(30)] + [f"own{name}{i}"])

    return [(f"{name}{i}", side(name, i)) for name in "ab" for i in range(12)]


def test_pairs_left_uncompared_are_reported_by_every_later_call(place, monkeypatch) -> None:
    monkeypatch.setattr(word_links, "MAX_REST", 0)
    with place.open() as opened:
        opened.add(sides_just_apart())
        first = opened.groups(threshold=0.6)
        assert (len(first.groups), first.n_not_compared > 0) == (2, True)
        opened.add([("c", "A text that has nothing to do with all the others of this collection.")])
        assert opened.groups(threshold=0.6).n_not_compared == first.n_not_compared
        assert opened.groups(threshold=0.9).n_not_compared == 0
