"""Text files that a load file names: never outside the folder, and found under any spelling."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from example_counts import examples
from nearkin.stages.documents.readers.load_file import TextFolder
from nearkin.stages.documents.rules import RecordFault

SECRET = "the secret of another matter"
PARTS = ["..", ".", "/", "\\", "out", "TEXT", "secret.txt", "vol", "link.txt", " ", "C:", "A-1.txt"]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return a folder of texts, with a secret beside it, and links, pipes and sockets inside."""
    (tmp_path / "secret.txt").write_text(SECRET)
    root = tmp_path / "vol"
    (root / "TEXT").mkdir(parents=True)
    (root / "DATA").mkdir()
    (root / "TEXT" / "A-1.txt").write_text("one")
    (root / "TEXT" / "Grüße.TXT").write_bytes("Grüße".encode("cp1252"))
    (root / "wide.txt").write_text("wide", encoding="utf-16")
    (root / "scan.txt").write_bytes(b"%PDF-1.7\n")
    (root / "link.txt").symlink_to(tmp_path / "secret.txt")
    (root / "out").symlink_to(tmp_path)
    (root / "inner").symlink_to(root / "TEXT")
    os.mkfifo(root / "pipe.txt")
    (root / "same.txt").write_text("lower")
    (root / "SAME.txt").write_text("upper")
    (root / os.fsdecode("caf\xe9.txt".encode("cp1252"))).write_text("latin")
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(root / "socket.txt"))
    return root


def text_of(root: Path, path: str, **given: object) -> str:
    return TextFolder(str(root), str(root), **given).read(path).decode()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("TEXT/A-1.txt", "one"),
        (r"TEXT\A-1.txt", "one"),
        (r".\text\a-1.TXT", "one"),
        (r"\TEXT\A-1.txt", "one"),
        ("TEXT/../TEXT/A-1.txt", "one"),
        ("wide.txt", "wide"),
        ("café.txt", "latin"),
        ("cafe\u0301.txt", "latin"),
        ("same.txt", "lower"),
    ],
)
def test_a_text_is_found_under_any_spelling(place: Path, path: str, text: str) -> None:
    assert text_of(place, path) == text


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("../secret.txt", "leads out"),
        ("TEXT/../../secret.txt", "leads out"),
        (r"..\secret.txt", "leads out"),
        ("/etc/passwd", "is absolute"),
        (r"\\server\share\a.txt", "is absolute"),
        ("//server/share/a.txt", "is absolute"),
        (r"C:\a.txt", "is absolute"),
        ("c:a.txt", "is absolute"),
        ("link.txt", "links are not followed"),
        ("out/secret.txt", "links are not followed"),
        ("inner/A-1.txt", "links are not followed"),
        ("TEXT", "not a regular file"),
        ("pipe.txt", "not a regular file"),
        ("socket.txt", "not a regular file"),
        ("a\0b.txt", "names no file"),
        ("x" * 5_000, "cannot be opened"),
        ("x" * 300, "cannot be opened"),
        ("a/" * 100 + "x", "names no file"),
        ("nothing.txt", "is missing"),
        ("TEXT/A-1.txt/x", "cannot be opened"),
        ("Same.txt", "ambiguous"),
        ("scan.txt", "a PDF file"),
        ("TEXT/Grüße.txt", "not valid UTF-8"),
        (".", "names no file"),
    ],
)
def test_a_hostile_path_is_refused_by_name(place: Path, path: str, told: str) -> None:
    with pytest.raises(RecordFault, match=told):
        text_of(place, path)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples(300), deadline=None)
@given(st.lists(st.sampled_from(PARTS), max_size=9))
def test_no_path_leads_to_the_secret(place: Path, parts: list[str]) -> None:
    for joint in ("/", "\\", ""):
        try:
            assert SECRET not in text_of(place, joint.join(parts))
        except RecordFault:
            continue
