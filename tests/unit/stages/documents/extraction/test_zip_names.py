"""Names of archives as `zipfile` reads them, or None."""

import io
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_counts import examples
from nearkin.stages.documents.extraction.blobs import Blob
from nearkin.stages.documents.extraction.zip_names import archive_alone, usual_names


def archive(*names: str, extra: bytes = b"", comment: bytes = b"") -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as made:
        for name in names:
            entry = zipfile.ZipInfo(name)
            entry.extra = extra
            made.writestr(entry, "It was.")
        made.comment = comment
    return held.getvalue()


def by_zipfile(data: bytes) -> list[str] | None:
    try:
        return zipfile.ZipFile(io.BytesIO(data)).namelist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError):
        return None


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_an_archive_with_nothing_unusual():
    names = ["[Content_Types].xml", "word/document.xml", "word/document.xml"]
    assert usual_names(archive(*names)) == names
    assert usual_names(archive()) == []


@pytest.mark.parametrize(
    "data",
    [
        archive("a", extra=b"\x99\x99\0\0"), archive("a", comment=b"c"), archive("ä"), b"x" + archive("a"),
        archive("a").replace(b"PK\5\6\0\0\0\0\1\0\1\0", b"PK\5\6\0\0\0\0\1\0\2\0"),
        archive("a") + b"\0", archive("a")[:-1], archive("a")[:40], b"", archive("a").replace(b"PK\1\2", b"PK\1\3"),
    ],
)  # fmt: skip
def test_what_is_unusual_is_left_to_zipfile(data):
    assert usual_names(data) is None
    if (names := by_zipfile(data)) is not None:
        assert Blob(data).names_in_archive == names


@given(st.lists(st.tuples(st.integers(1, 150), st.integers(0, 255)), min_size=1, max_size=4))
@settings(max_examples=examples(300), deadline=None)
def test_a_changed_directory_has_the_names_that_zipfile_reads(changes):
    data = bytearray(archive("mimetype", "content.xml"))
    for at, value in changes:
        data[-at] = value
    found = usual_names(bytes(data))
    assert found is None or found == by_zipfile(bytes(data))


@given(
    st.lists(st.sampled_from(["a", "word/b.xml", "ä"]), unique=True), st.binary(max_size=30), st.binary(max_size=30),
    st.booleans(), st.integers(0, 9),
)  # fmt: skip
@settings(max_examples=examples(200), deadline=None)
def test_an_archive_alone_has_the_entries_that_zipfile_finds(names, before, behind, is_comment, n_told):
    """Whatever is around it, and however many entries it claims to have."""
    alone = bytearray(archive(*names))
    whole = archive(*names, comment=behind) if is_comment else bytes(alone) + behind
    end = whole.rindex(b"PK\5\6", 0, len(alone)) + 8
    told = before + whole[:end] + 2 * n_told.to_bytes(2, "little") + whole[end + 4 :]
    assert by_zipfile(told) == names
    assert archive_alone(told) == alone
