"""A list of names of files is never read as texts: it is refused, and the message says how to read the files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import nearkin
from nearkin.errors import ParameterError

FIRST, SECOND = "the rent is due on the first day of each month", "the rent is due on the second day of each month"
MAIL = "From: ada@example.org\nDate: 5 Jan 2004 {}:00 +0000\nMessage-ID: <{}@x>\nSubject: The house\n\nIs it sold?"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with two texts and two mails."""
    monkeypatch.chdir(tmp_path)
    for name, text in (
        ("a.txt", FIRST),
        ("b.txt", SECOND),
        ("a.eml", MAIL.format(10, "a")),
        ("b.eml", MAIL.format(11, "b")),
    ):
        Path(name).write_text(text)
    return tmp_path


def added(documents: object) -> object:
    with nearkin.Collection.open("matter", create=True) as collection:
        return collection.add(documents)


TAKE_TEXTS: dict[str, Callable[[object], object]] = {
    "dedup": nearkin.dedup,
    "against": lambda names: nearkin.dedup([FIRST], against=names),
    "pairs": lambda names: nearkin.pairs(names, [FIRST]),
    "sign": nearkin.sign,
    "families": nearkin.families,
    "plan": nearkin.plan,
    "add": added,
    "ignore": lambda names: nearkin.dedup([FIRST], ignore=list(names)),
}


@pytest.mark.parametrize("function", TAKE_TEXTS)
def test_names_are_no_texts(function: str) -> None:
    with pytest.raises(ParameterError, match=r"Texts are expected\. Got 2 names of files or folders, such as 'a\.txt'"):
        TAKE_TEXTS[function](["a.txt", "b.txt"])


def test_iterables_of_paths_are_read_as_files() -> None:
    for paths in ([Path("a.txt"), "b.txt"], {Path("a.txt"), Path("b.txt")}, Path().glob("*.txt")):
        result = nearkin.dedup(paths, shingle="words:2", threshold=0.5)
        assert sorted(result.documents["id"].to_pylist()) == ["a.txt", "b.txt"]
        assert len(result.kept) == 1
        assert len(result.pairs) == 1


def test_paths_are_refused_where_no_files_are_read() -> None:
    with pytest.raises(ParameterError, match=r"Collection\.add reads no files: run nearkin add"):
        added([Path("a.txt"), Path("b.txt")])
    with pytest.raises(ParameterError, match="documents: must be documents in memory"):
        nearkin.dedup([FIRST]).keep([Path("a.txt")])


def test_threads_read_a_list_of_strings_as_files() -> None:
    assert len(nearkin.threads(["a.eml", "b.eml"]).mails) == 2


def test_two_names_are_not_compared() -> None:
    with pytest.raises(ParameterError, match="Read the files first, or run nearkin compare"):
        nearkin.compare("a.txt", "b.txt")
    assert nearkin.compare("a.txt", FIRST).jaccard == 0
