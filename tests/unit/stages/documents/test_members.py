"""Documents inside a file: their ids can be undone, are different and always the same; what is read of such a file."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bundles import bundle, bundles, write_bundle  # noqa: F401  (a fixture)
from nearkin.stages.documents.members import BETWEEN, MemberIds, escaped
from nearkin.stages.documents.reader import read_batches
from nearkin.stages.documents.rules import ReadingRules
from nearkin.stages.documents.sources import resolve_sources


def unescaped(part):
    """The name that was written so."""
    return re.sub("%2[15]", lambda found: BETWEEN if found[0] == "%21" else "%", part)


names = st.text(st.sampled_from("!%25#1a/ é"), max_size=12) | st.text(max_size=12)


@given(names)
def test_names_can_be_undone(name):
    written = escaped(name)
    assert BETWEEN not in written
    assert unescaped(written) == name
    if BETWEEN not in name and "%21" not in name and "%25" not in name:
        assert written == name


@given(st.lists(names | st.none(), max_size=12))
def test_ids_are_different_and_stay(some):
    def ids():
        given = MemberIds()
        return [given.of("a.zip", name, place) for place, name in enumerate(some, 1)]

    assert len(set(ids())) == len(some)
    assert ids() == ids()
    for name, doc_id in zip(some, ids(), strict=True):
        if name and some.count(name) == 1 and "#" not in "".join(one or "" for one in some):
            assert doc_id.count(BETWEEN) == 1
            assert unescaped(doc_id.partition(BETWEEN)[2]) == name


def read(path: Path, **rules: object) -> list[dict[str, object]]:
    (source,) = resolve_sources([str(path)], rules=ReadingRules.of(**rules)).sources  # type: ignore[arg-type]
    batches = list(read_batches(source, batch_bytes=1 << 20))
    return [row for batch in batches for row in batch.to_pylist()]


def seen(rows: list[dict[str, object]], folder: Path) -> list[tuple[object, ...]]:
    found = [(row["doc_id"], row["parent"], row["text"], row["line"]) for row in rows]
    place = f"{folder}/"
    return [tuple(one.removeprefix(place) if isinstance(one, str) else one for one in row) for row in found]


@pytest.mark.usefixtures("bundles")
def test_what_is_read_of_a_file(tmp_path):
    inner = [("b.bundle", "two", [("deep!.txt", "three", ())]), ("", "four", ()), ("c", "", [("d", "five", ())])]
    path = write_bundle(tmp_path / "a.bundle", "one", [*inner, ("b.bundle", "six", ())])
    expected = [
        ("a.bundle", None, b"one", 1),
        ("a.bundle!b.bundle", "a.bundle", b"two", 2),
        ("a.bundle!b.bundle!deep%21.txt", "a.bundle!b.bundle", b"three", 3),
        ("a.bundle!#2", "a.bundle", b"four", 4),
        ("a.bundle!c!d", "a.bundle!c", b"five", 5),
        ("a.bundle!b.bundle#4", "a.bundle", b"six", 6),
    ]
    assert seen(read(path), tmp_path) == expected
    packed = tmp_path / "a.bundle.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert [row["text"] for row in read(packed)] == [row[2] for row in expected]


@pytest.mark.usefixtures("bundles")
def test_what_cannot_be_read_is_a_row(tmp_path):
    path = write_bundle(tmp_path / "a.bundle", "one", [("b", "twenty-one", ())])
    one, long = read(path, max_document_size=8)
    assert (one["text"], one["problem"]) == (b"one", None)
    assert (long["text"], str(long["problem"])[:9]) == (None, "too large")
    path.write_text("")
    assert [(row["doc_id"], row["problem"]) for row in read(path)] == [(str(path), "empty: it contains no document")]
