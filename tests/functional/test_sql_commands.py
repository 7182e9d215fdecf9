"""``nearkin sql``, and the index of a collection, as a user gives the commands."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

import postgresql
from functional.conftest import nearkin_done, nearkin_json, write_jsonl
from made_up_prose import Prose
from places import SomePlace

ODD = "'; DROP TABLE documents; -- \\dt"


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    prose = Prose(21)
    original = prose.text(120)
    records = [{"id": ODD, "text": original}, {"id": "copy", "text": prose.altered(original, 1)}]
    records += [{"id": "other", "text": prose.text(100)}, {"id": "short", "text": "No"}]
    return write_jsonl(tmp_path / "documents.jsonl", records)


def found(place: str, *arguments: str | Path) -> list[str]:
    return [one["doc_id"] for one in nearkin_json("similar", place, ODD, *arguments)["documents"]]


def asked_of_psql(server: postgresql.Server, script: str) -> list[str]:
    """What psql makes of a script on its standard input."""
    command = [postgresql.program("psql"), "-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", server.url()]
    return subprocess.run(command, input=script, check=True, capture_output=True, text=True).stdout.splitlines()


# -- the index --------------------------------------------------------------------------------------------------------


def test_the_index_is_chosen_once_and_asked(place, documents):
    nearkin_done("add", place.address, documents, "--index", "1B:k=3")
    info = nearkin_json("info", place.address)
    assert (info["similarity_index"], info["n_indexed"]) == ("1B:k=3,w=100", 3)
    assert re.search(r"similarity index +1B:k=3,w=100 +of 3 texts", nearkin_done("info", place.address).out)
    by_index = nearkin_json("similar", place.address, ODD, "--measure", "index", "--tolerance", "0.9")
    assert (by_index["measure"], by_index["value"], by_index["expected_recall"]) == ("index", 0.9, None)
    assert isinstance(by_index["similarity_index"], int)
    assert all(isinstance(one["similarity_index"], int) for one in by_index["documents"])
    shown = nearkin_done("similar", place.address, ODD, "--measure", "index", "--tolerance", "0.9").out
    assert re.search(rf"similarity index +{by_index['similarity_index']} ", shown)
    assert "43B" in nearkin_done("add", place.address, documents, "--index", "43B", code=2).err
    assert "index" in nearkin_done("add", place.address, documents, "--index", "nonsense", code=2).err
    assert "too few words" in nearkin_done("similar", place.address, "short", "--measure", "index").out
    versions = nearkin_done("versions", place.address, "copy", "--measure", "index", "--tolerance", "0.9").out
    assert "whose similarity index differs by less than 90%" in versions


def test_functions_are_installed(server, tmp_path, documents):
    place = SomePlace.new(tmp_path, server)
    assert nearkin_done("sql", "install", place.address, code=7).out == ""
    nearkin_done("add", place.address, documents, "--cache", place.cache, "--index", "1B:k=3")
    installed = nearkin_json("sql", "install", place.address)
    assert installed["similarity_index"] == "1B:k=3,w=100"
    shown = nearkin_done("sql", "install", place.address).out
    assert re.findall(r"^function +(.*)$", shown, re.MULTILINE) == installed["functions"]
    assert [row.split("|")[0] for row in asked_of_psql(server, installed["example"])] == ["copy"]
    assert nearkin_done("sql", "install", place.address, "-q").out == ""
