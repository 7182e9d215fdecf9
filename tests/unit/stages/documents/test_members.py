"""Documents inside a file: their ids can be undone, are different and always the same; what is read of such a file."""

from __future__ import annotations

import gzip
import io
import re
import tarfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from generator import office_files as make
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


def mail(body: str, attached: dict[str, bytes] | None = None) -> bytes:
    return make.mail({"From": "ada@b.org", "Date": "Mon, 1 Jan 2024 10:00:00 +0000"}, body, attached)


def read(path: Path, **rules: object) -> list[dict[str, object]]:
    (source,) = resolve_sources([str(path)], rules=ReadingRules.of(**rules)).sources  # type: ignore[arg-type]
    batches = list(read_batches(source, batch_bytes=1 << 20))
    return [row for batch in batches for row in batch.to_pylist()]


def seen(rows: list[dict[str, object]], folder: Path) -> list[tuple[object, ...]]:
    found = [(row["doc_id"], row["parent"], row["text"], row["line"]) for row in rows]
    place = f"{folder}/"
    return [tuple(one.removeprefix(place) if isinstance(one, str) else one for one in row) for row in found]


def test_what_is_read_of_a_file(tmp_path):
    path, sink = tmp_path / "a.eml", io.BytesIO()
    with tarfile.open(fileobj=sink, mode="w") as archive:
        for name, content in (("b.eml", mail("two", {"deep!.txt": b"three"})), ("/", b"four"), ("b.eml", mail("six"))):
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    path.write_bytes(mail("one", {"b.tar": sink.getvalue(), "c": make.zipped({"d": "five"})}))
    expected = [
        ("a.eml", None, b"one", 1),
        ("a.eml!b.tar!b.eml", "a.eml!b.tar", b"two", 2),
        ("a.eml!b.tar!b.eml!deep%21.txt", "a.eml!b.tar!b.eml", b"three", 3),
        ("a.eml!b.tar!#2", "a.eml!b.tar", b"four", 4),
        ("a.eml!b.tar!b.eml#3", "a.eml!b.tar", b"six", 5),
        ("a.eml!c!d", "a.eml!c", b"five", 6),
    ]
    assert seen(read(path), tmp_path) == expected
    packed = tmp_path / "a.eml.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert [row["text"] for row in read(packed)] == [row[2] for row in expected]


def test_what_cannot_be_read_is_a_row(tmp_path):
    path = tmp_path / "a.eml"
    path.write_bytes(mail("one", {"b.txt": b"twenty-one"}))
    one, long = read(path, max_document_size=8)
    assert (one["text"], one["problem"]) == (b"one", None)
    assert (long["text"], str(long["problem"])[:9]) == (None, "too large")
    path = tmp_path / "a.zip"
    path.write_bytes(make.zipped({}))
    assert [(row["doc_id"], row["problem"]) for row in read(path)] == [(str(path), "empty: it contains no document")]
