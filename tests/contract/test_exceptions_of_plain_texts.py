"""Plain texts that gave no text: ``nearkin exceptions`` has kind, digest and size of their files, as runs have."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path

from contract.damaged_collections import is_silent
from nearkin.runs.progress import Silent
from nearkin.stages.documents.rules import ReadingRules
from nearkin.workflows.collection.adding import add_files
from nearkin.workflows.reading.request import ReadingRequest
from nearkin.workflows.resources import Resources
from places import SomePlace

REASONS = {
    "bad.txt": "wrong encoding", "binary.txt": "not text", "blank.txt": "empty", "empty.md": "empty",
    "blank.txt.gz": "empty",
}  # fmt: skip
FILES = {
    "bad.txt": b"caf\xe9 \xff\xfe", "binary.txt": bytes(range(256)), "blank.txt": b" \n", "empty.md": b"",
    "blank.txt.gz": gzip.compress(b"\n", mtime=0), "note.txt": b"A plain note.",
}  # fmt: skip


def exceptions_after(place: SomePlace, folder: Path, files: dict[str, bytes]) -> dict[str, tuple[object, ...]]:
    """The exceptions of a collection after files of a folder changed and it was added again."""
    for name, content in files.items():
        (folder / name).write_bytes(content)
    texts = ReadingRequest(inputs=[str(folder)], rules=ReadingRules.of(max_unreadable=1.0)).opened(Silent())
    with place.open() as collection:
        add_files(collection, texts, wave=None, resources=Resources(2), progress=Silent())
        assert is_silent(collection.fsck())
        found = collection.exceptions()
        assert found.n_partial == 0
        return {
            one.doc_id: (one.exception, one.kind, one.sha256, one.size_bytes, one.extractor, one.parent)
            for one in found.exceptions
        }


def expected(folder: Path, reasons: dict[str, str]) -> dict[str, tuple[object, ...]]:
    found = {}
    for name, exception in reasons.items():
        content = (folder / name).read_bytes()
        kind = "unsupported" if name == "binary.txt" else "text"
        found[name] = exception, kind, hashlib.sha256(content).hexdigest(), len(content), None, None
    return found


def test_the_bytes_that_gave_no_text_are_named_and_stored_once(place, tmp_path) -> None:
    folder = tmp_path / "case"
    folder.mkdir()
    for _ in range(2):
        assert exceptions_after(place, folder, FILES) == expected(folder, REASONS)
        assert place.sql("SELECT count(*) FROM origins") == str(len(REASONS))
    changed = {"bad.txt": b"\xe9\xe9\xff other", "blank.txt": b"\n\n\n"}
    assert exceptions_after(place, folder, changed) == expected(folder, REASONS)


def test_a_file_that_gives_a_text_again_is_no_exception(place, tmp_path) -> None:
    folder = tmp_path / "case"
    folder.mkdir()
    exceptions_after(place, folder, FILES)
    mended = {"bad.txt": b"A good one.", "blank.txt": b"Not blank.", "empty.md": b"Not empty."}
    left = {name: reason for name, reason in REASONS.items() if name not in mended}
    assert exceptions_after(place, folder, mended) == expected(folder, left)
    with place.open() as collection:
        assert collection.details("bad.txt").origin is None
        assert collection.info().n_no_text == len(left)
