"""``nearkin sql``, and the index of a collection, as a user gives the commands."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pytest

import postgresql
from functional.conftest import Ended, nearkin_here, write_jsonl
from made_up_prose import Prose
from places import SomePlace

ODD = "'; DROP TABLE documents; --\n\\dt"


def run(*arguments: str | Path, code: int = 0) -> Ended:
    ended = nearkin_here(*arguments)
    ended.assert_clean()
    assert ended.code == code, ended.err
    return ended


def told(*arguments: str | Path) -> Any:
    return json.loads(run(*arguments, "--json").out)


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    prose = Prose(21)
    original = prose.text(120)
    records = [{"id": ODD, "text": original}, {"id": "copy", "text": prose.altered(original, 1)}]
    records += [{"id": "other", "text": prose.text(100)}, {"id": "short", "text": "No"}]
    return write_jsonl(tmp_path / "documents.jsonl", records)


def found(place: str, *arguments: str | Path) -> list[str]:
    return [one["doc_id"] for one in told("similar", place, ODD, *arguments)["documents"]]


def asked_of_psql(server: postgresql.Server, script: str) -> list[str]:
    """What psql makes of a script on its standard input."""
    command = [postgresql.program("psql"), "-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", server.url()]
    return subprocess.run(command, input=script, check=True, capture_output=True, text=True).stdout.splitlines()


# -- the index --------------------------------------------------------------------------------------------------------


def test_the_index_is_chosen_once_and_asked(place, documents):
    run("add", place.address, documents, "--index", "1B:k=3")
    info = told("info", place.address)
    assert (info["similarity_index"], info["n_indexed"]) == ("1B:k=3,w=100", 3)
    said = "Similarity index 1B:k=3,w=100, for --measure si and --method si only: 1 of 4 texts has none, which"
    assert said in run("info", place.address).out
    by_index = told("similar", place.address, ODD, "--method", "si", "--tolerance", "0.9", "--index", "1B:k=3")
    assert (by_index["method"], by_index["tolerance"], by_index["expected_recall"]) == ("si", 0.9, None)
    assert isinstance(by_index["similarity_index"], int)
    assert all(isinstance(one["similarity_index"], int) for one in by_index["documents"])
    shown = run("similar", place.address, ODD, "--method", "si", "--tolerance", "0.9").out
    assert f"Similarity index {by_index['similarity_index']}." in shown
    refused = run("similar", place.address, ODD, "--method", "si", "--index", "43B:k=40", code=2).err
    assert "1B:k=3" in refused or "1B, k 3" in refused
    assert "43B, k 40" in refused
    assert "43B" in run("add", place.address, documents, "--index", "43B", code=2).err
    assert "index" in run("add", place.address, documents, "--index", "nonsense", code=2).err
    assert "too few words" in run("similar", place.address, "short", "--method", "si").out
    versions = run("versions", place.address, "copy", "--method", "si", "--tolerance", "0.9").out
    assert "whose similarity index differs by less than 90%" in versions


# -- queries ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "how", [("--method", "si", "--tolerance", "0.9"), ("--gamma", "0.05"), ("--threshold", "0.4"), ()]
)
def test_a_query_is_piped_into_a_shell(place, documents, tmp_path, how):
    run("add", place.address, documents, "--index", "1B:k=3")
    run("sql", "install", place.address)
    right = found(place.address, *how)
    assert right[:1] == ["copy"]
    printed = run(
        "sql",
        "similar",
        ODD,
        "--dialect",
        place.kind,
        "--schema",
        "nearkin" if not place.server else place.schema,
        *how,
    )
    assert printed.err == ""
    if place.server is not None:
        assert [row.split("|")[0] for row in asked_of_psql(place.server, printed.out)] == right
    else:
        with closing(sqlite3.connect(place.file)) as connection:
            assert [row[0] for row in connection.execute(printed.out)] == right
    copied = told("sql", "copy", place.address, tmp_path / "copy.duckdb")
    assert copied["n_rows"]["documents"] == 4
    query = run("sql", "similar", ODD, "--dialect", "duckdb", *how).out
    with duckdb.connect(str(tmp_path / "copy.duckdb")) as copy:
        assert [row[0] for row in copy.execute(query).fetchall()] == right


def test_a_copy_of_a_damaged_collection_says_so(place, documents, tmp_path):
    matter, file = place.address, tmp_path / "copy.duckdb"
    run("add", matter, documents, "--quiet")
    for column in ("text", "digest"):
        zeros = "zeroblob(20)" if place.server is None else "decode(repeat('00', 20), 'hex')"
        right = place.rows(f"SELECT {column} FROM {prefix(place)}contents WHERE content = 0")[0][0]
        place.sql(f"UPDATE contents SET {column} = {zeros} WHERE content = 0")
        ended = run("sql", "copy", matter, file, "--overwrite", code=7)
        assert "the text of" in ended.out
        with duckdb.connect(str(file)) as copy:
            assert copy.execute("SELECT count(*) FROM contents").fetchone()[0] > 1
        place.sql(f"UPDATE contents SET {column} = {literal(place, right)} WHERE content = 0")
    place.sql("UPDATE waves SET name = 'another name altogether'")
    copied = json.loads(run("sql", "copy", matter, file, "--overwrite", "--json", code=7).out)
    assert (copied["damaged_documents"], len(copied["faults"])) == ([], 1)


def prefix(place) -> str:
    return "" if place.server is None else f"{place.schema}."


def literal(place, data: bytes) -> str:
    return f"x'{data.hex()}'" if place.server is None else f"decode('{data.hex()}', 'hex')"


def test_a_copy_does_not_replace_a_file_by_itself(documents, tmp_path):
    matter, file = tmp_path / "matter", tmp_path / "matter.duckdb"
    run("add", matter, documents)
    assert "4 documents" in run("sql", "copy", matter, file).out
    assert "--overwrite" in run("sql", "copy", matter, file, code=5).err
    run("remove", matter, "copy")
    assert "4 versions of documents (3 current), with " in run("sql", "copy", matter, file, "--overwrite").out
    assert run("sql", "copy", tmp_path / "nothing", tmp_path / "x.duckdb", code=7).err
    assert not (tmp_path / "x.duckdb").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("similar", "a\0b"),
        ("similar", "a", "--dialect", "oracle"),
        ("similar", "a", "--method", "hamming"),
        ("similar", "a", "--threshold", "0"),
        ("similar", "a", "--threshold", "0.5", "--gamma", "0.1"),
        ("install", "m", "--measure", "words"),
        ("install", "postgresql://nobody@localhost:1/none", "--flag-look-alikes", "0.5", "--measure", "si"),
        ("similar", "a", "--method", "si", "--gamma", "0.1"),
        ("similar", "a", "--gamma", "-1"),
        ("similar", "a", "--gamma", "1"),
        ("groups", "--gamma", "5"),
        ("similar", "a", "--schema", "a;b"),
        ("schema", "--dialect", "oracle"),
        ("install", "m", "--flag-look-alikes", "0.05"),
        ("install", "m", "--no-flag"),
    ],
)
def test_wrong_usage_ends_with_2_and_leaves_nothing(tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    ended = run("sql", *arguments, code=2)
    assert (ended.out, list(tmp_path.iterdir())) == ("", [])


def test_a_limit_that_makes_no_sense_is_refused_with_the_rule():
    for measure, rule, limits in (
        ("letters", "at least 0 and below 1", ("1", "5", "-0.1", "nan")),
        ("words", "above 0 and at most 1", ("0", "1.01", "-0.1", "nan")),
    ):
        for limit in limits:
            flag = "--flag-look-alikes", limit, "--measure", measure
            ended = run("sql", "install", "postgresql://nobody@localhost:1/none", *flag, code=2)
            assert "--flag-look-alikes" in ended.err
            assert rule in ended.err


def test_the_tables_make_a_database(tmp_path, server):
    with closing(sqlite3.connect(":memory:")) as made:
        made.executescript(run("sql", "schema", "--dialect", "sqlite").out)
        assert made.execute("SELECT count(*) FROM indexed_documents").fetchone() == (0,)
    schema = f"printed_{os.getpid()}"
    asked_of_psql(server, run("sql", "schema", "--schema", schema).out)
    assert server.sql(f"SELECT count(*) FROM {schema}.indexed_documents") == "0"
    with duckdb.connect() as made:
        made.execute(run("sql", "schema", "--dialect", "duckdb").out)


def test_the_tables_make_a_collection_that_opens(tmp_path, server):
    (tmp_path / "made").mkdir()
    with closing(sqlite3.connect(tmp_path / "made" / "nearkin.sqlite")) as made:
        made.executescript(run("sql", "schema", "--dialect", "sqlite").out)
    schema = f"opened_{os.getpid()}"
    asked_of_psql(server, run("sql", "schema", "--schema", schema).out)
    for place in (str(tmp_path / "made"), server.url(schema=schema)):
        assert "0 documents" in run("info", place).out
        run("add", place, Path(__file__), "--cache", tmp_path, "-q")
        assert "1 document" in run("info", place).out
        assert run("fsck", place, "--cache", tmp_path).code == 0


# -- functions --------------------------------------------------------------------------------------------------------


def test_functions_are_installed_before_anything_is_added(server, tmp_path, documents):
    place = SomePlace.new(tmp_path, server)
    installed = told("sql", "install", place.address, "--index", "1B:k=3", "--flag-look-alikes", "0.4")
    assert (installed["flags_look_alikes"], installed["flag_measure"]) == (0.4, "words")
    assert installed["similarity_index"] == "1B:k=3,w=100"
    assert run("sql", "install", place.address).out.count("Jaccard similarity of at least 0.4") == 1
    run("add", place.address, documents, "--cache", place.cache)
    assert place.sql("SELECT similar_doc_id FROM look_alikes ORDER BY 1").splitlines()[-1] == "copy"
    shown = run("sql", "install", place.address).out
    assert {f"  {one}" for one in installed["functions"]} <= set(shown.splitlines())
    example = shown.partition("Try: ")[2]
    assert example.startswith(f"SELECT * FROM {place.schema}.similar_by_words(")
    installed = told("sql", "install", place.address, "--no-flag")
    assert installed["flags_look_alikes"] is None
    assert [row.split("|")[0] for row in asked_of_psql(server, installed["example"])] == ["copy"]
    run("purge", place.address, "copy", "--yes", "--cache", place.cache)
    assert "copy" not in place.sql("SELECT doc_id, similar_doc_id FROM look_alikes").split()
    assert "similarity indexes by 1B" in run("sql", "install", place.address, "--index", "43B", code=2).err


def test_a_directory_gets_its_tables(tmp_path):
    first = run("sql", "install", tmp_path / "matter").out
    assert "a new, empty one was created" in first
    again = run("sql", "install", tmp_path / "matter").out
    assert "was created" not in again
    assert "matter is ready for plain SQL (similarity index 43B:k=40,w=100)" in " ".join(again.split())
    assert told("sql", "install", tmp_path / "other")["is_new_collection"] is True
    assert told("sql", "install", tmp_path / "other")["is_new_collection"] is False
    assert "SQLite cannot store functions" in first
    assert told("info", tmp_path / "matter")["n_documents"] == 0


def test_a_query_by_letters_says_that_it_does_not_compare_the_wording():
    by_letters = nearkin_here("sql", "similar", "a", "--gamma", "0.05").out
    assert "-- Letters only: the wording is not compared" in by_letters
    assert "-- Letters only" not in nearkin_here("sql", "similar", "a").out


def test_a_query_is_printed_without_numba():
    program = (
        "import sys\nfrom nearkin.cli.main import run\ntry:\n    run(['sql', 'similar', 'a'])\nexcept SystemExit:\n"
        "    pass\nprint('numba' in sys.modules, 'duckdb' in sys.modules, file=sys.stderr)"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stderr.strip() == "False False"


def test_an_installation_can_be_quiet(tmp_path):
    ended = run("sql", "install", tmp_path / "matter", "-q")
    created = "There was no collection: a new, empty one was created. To use one that exists, check the name."
    assert (ended.out, ended.err) == ("", f"Warning: {created}\n")
    refused = run("sql", "install", tmp_path / "matter", "-x", code=2)
    assert refused.err.endswith("No such option: -x\n")


def test_a_database_of_somebody_else_is_not_read(tmp_path):
    with sqlite3.connect(tmp_path / "tickets.sqlite") as database:
        database.execute("CREATE TABLE tickets (id, body)")
    for arguments, code in ((("sql", "install"), 5), (("info",), 7)):
        said = run(*arguments, tmp_path / "tickets.sqlite", code=code).err
        assert "Nearkin does not read tables of your own; pipe their rows to it: sqlite3 -csv -header FILE" in said
    (tmp_path / "other.txt").write_text("A letter.")
    assert "sqlite3" not in run("sql", "install", tmp_path / "other.txt", code=5).err


def test_a_database_without_a_collection_gets_the_way_to_add_its_rows(server, tmp_path):
    place = SomePlace.new(tmp_path, server)
    said = run("info", place.address, code=7).err
    assert "Create one by adding documents: nearkin add" in said
    command = said.partition("(from rows of your own tables: psql -c ")[2]
    assert "COPY (SELECT id, body FROM tickets ORDER BY id) TO STDOUT (FORMAT csv, HEADER)" in command
    assert "COLLECTION" not in command
    assert "open-sesame" not in said
    assert "psql" not in run("info", tmp_path / "none", code=7).err
