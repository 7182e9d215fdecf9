"""``nearkin check --server``: the answers, the output and the exit codes of ``nearkin check`` in the collection."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from commands import quick_command
from example_counts import every
from functional.conftest import nearkin_done, nearkin_here
from generator.office_files import mail, rtf
from nearkin.collection.collection import Collection
from review_client import DOCUMENTS, LEASE

CLOCK = re.compile(r"[\d,.]+ ms|\"elapsed_s\": [\d.]+")


@dataclass(frozen=True)
class Served:
    """A collection, and the service that has it open."""

    place: Path
    url: str
    token_file: Path


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("served")
    with Collection.open(folder / "matter", create=True) as collection:
        collection.add(DOCUMENTS, wave="march")
        collection.check(LEASE)  # makes the keys
    token = folder / "token"
    token.write_text("t" * 40, "utf-8")
    token.chmod(0o600)
    command = quick_command("serve", folder / "matter", "--token-file", token, "--by", "ada")
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.search(r"http://[^/]+", line)
        assert found is not None, line
        yield Served(folder / "matter", found[0], token)
        process.terminate()


UNNAMED = "--against COLLECTION"
"""Beginning of a proposed command after a check by a service, which does not tell where its collection is."""
TEXTS = {
    "same.txt": LEASE,
    "near.txt": f"{LEASE} Signed by Ada Kern, and read.",
    "new.txt": "A poem on kites, which has no word in common with anything that is stored in this place.",
    "short.txt": "x",
    "page.html": f"<html><body><p>{LEASE}</p></body></html>",
    "letter.eml": mail({"Subject": "x"}, LEASE, {"a.rtf": rtf([LEASE]), "b.txt": b"A note."}).decode("ascii"),
    "partial.rtf": rtf([LEASE])[:-1].decode("ascii") + r"{\object{\*\objdata 0105}}}",
}

EXTRACTED = ["letter.eml", "page.html", "partial.rtf"]


@pytest.mark.parametrize("name", [*(name for name in TEXTS if name not in EXTRACTED), *every(3, EXTRACTED)])
def test_the_same_output_and_exit_code(
    name: str, served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_text(TEXTS[name], "utf-8")
    by_server = (name, "--server", served.url, "--token-file", served.token_file)
    for more in ((), ("--json",), ("--containment", "off", "--threshold", "0.95"), ("--measure", "index")):
        here, there = nearkin_here("check", served.place, name, *more), nearkin_here("check", *by_server, *more)
        assert there.code == here.code
        assert CLOCK.sub("", there.out) == CLOCK.sub("", here.out).replace(f"--against {served.place}", UNNAMED)


def test_a_document_is_stored_by_the_service(served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NEARKIN_TOKEN", served.token_file.read_text("utf-8"))
    Path("draft.txt").write_text("Words that nobody has ever stored here before this moment, and some more.", "utf-8")
    answer = nearkin_here("check", "draft.txt", "--server", served.url, "--store", "--json")
    assert json.loads(answer.out)["stored_as"] == "draft.txt"
    nearkin_done("check", served.place, "draft.txt", code=10)


def test_no_service_and_no_url(served: Served, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(LEASE, "utf-8")
    for url, code in (
        ("http://127.0.0.1:9", 7), ("http://example.org", 2), ("file:///etc/passwd", 2), ("http://[", 2),
    ):  # fmt: skip
        answer = nearkin_here("check", tmp_path / "a.txt", "--server", url, "--token-file", served.token_file)
        assert answer.code == code, answer.err
