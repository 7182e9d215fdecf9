"""Ctrl-C near the end of ``nearkin add``: the message says whether the documents are stored."""

from __future__ import annotations

import json
import subprocess

import pytest

from commands import quick_python
from nearkin.collection.collection import Collection
from places import SomePlace

TEXT = "The tenant shall pay the rent of 900 crowns on the first day of each month to the landlord, clause {}."

# A command that presses Ctrl-C on itself just before or after it calls a function.
INTERRUPTED = """
import importlib, os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs are started deaf to Ctrl-C
module, owner, name, when = (sys.argv.pop(1) for _ in range(4))
owner = getattr(importlib.import_module(module), owner) if owner else importlib.import_module(module)
function = getattr(owner, name)
def watched(*arguments, **options):
    if when == "before":
        os.kill(os.getpid(), signal.SIGINT)
    try:
        return function(*arguments, **options)
    finally:
        if when == "after":
            os.kill(os.getpid(), signal.SIGINT)
setattr(owner, name, watched)
from nearkin.cli.main import run
run()
"""
STORED = "Interrupted. All documents of this command are stored."


@pytest.fixture
def documents(tmp_path):
    path = tmp_path / "documents.jsonl"
    path.write_text("".join(json.dumps({"id": f"d{i}", "text": TEXT.format(i)}) + "\n" for i in range(50)))
    return path


def test_an_interruption_while_the_database_commits(place, documents):
    """Python delivers it when the database has answered."""
    with place.open():
        pass
    n_commits = 0
    for commit in range(1, 30):
        ended = interrupted(place, documents, ("sqlalchemy.engine.default", "DefaultDialect", "do_commit", commit), ())
        with place.open() as collection:
            n_documents = collection.info().n_documents
        if ended.returncode == 0:
            break
        n_commits += 1
        assert ended.returncode == 130
        assert (STORED in ended.stderr) == (n_documents == 50), (commit, ended.stderr)
        if n_documents:
            return
    pytest.fail(f"no interruption of {n_commits} came after the documents were stored")


def interrupted(place: SomePlace, documents, where, options) -> subprocess.CompletedProcess[str]:
    """Run the command to its end; a number instead of a moment counts calls, of which that one is interrupted."""
    code, (*names, when) = INTERRUPTED, where
    if isinstance(when, int):
        code = code.replace("def watched", "calls = iter(range(1, 1_000_000))\ndef watched").replace(
            'if when == "after":', f"if next(calls) == {when}:"
        )
    arguments = ("add", place.address, documents, "--cache", place.cache, *options)
    own = quick_python(code, *names, str(when), *map(str, arguments))
    return subprocess.run(own, capture_output=True, text=True, timeout=120, check=False)


def test_a_dry_run_stores_nothing(tmp_path, documents):
    place = SomePlace.new(tmp_path, None)
    with place.open():
        pass
    ended = interrupted(place, documents, ("nearkin.cli.printing", "", "tell", "before"), ("--dry-run",))
    assert (ended.returncode, STORED in ended.stderr) == (130, False)
    with Collection.open(place.address) as collection:
        assert collection.info().n_documents == 0
