"""Backup, restore, and rights of PostgreSQL, run as the page shows them on a real server."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

import postgresql
from docs.pages import ROOT, blocks, line_of
from docs.running import workplace
from functional.conftest import Ended, nearkin_here
from postgresql import Server

PAGE = ROOT / "docs/guides/sql-and-postgresql.md"
OPERATING = [block for block in blocks(PAGE, "sh", "sql") if block.line > line_of(PAGE, "## Connect")]
"""Those for administrators; `test_sql_page` runs the others."""
PEOPLE = {"reader": "eve", "reviewer": "cleo", "loader": "bo"}
RENT = "The tenant pays the rent of {} crowns on the first day of each month to the owner of the house by the mill."
TEXTS = {"lease": RENT.format(900), "copy": RENT.format(950), "note": "Nobody has written anything like this note yet."}


class Database:
    """The database of the page, as each role opens it."""

    def __init__(self, server: Server, folder: Path) -> None:
        self.server, self.folder = server, folder
        owner = {"PGHOST": "127.0.0.1", "PGPORT": str(server.port), "PGUSER": "ada", "PGPASSWORD": "open-sesame"}
        programs = Path(postgresql.program("pg_dump") or "").parent
        path = [str(programs), str(folder / "bin"), os.environ["PATH"]]
        self.owner = {**os.environ, **owner, "PATH": os.pathsep.join(path), "HOME": str(folder / "home")}

    def shell(self, text: str) -> str:
        """Run the commands of a block as the owner."""
        command = ["bash", "-e", "-c", text]
        ran = subprocess.run(
            command, cwd=self.folder, env=self.owner, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip
        assert ran.returncode == 0, f"{text}\n{ran.stdout}"
        return ran.stdout

    def run(self, role: str, command: str, *arguments: str, database: str = "matters") -> Ended:
        """Run a command of Nearkin as somebody."""
        name, password = (PEOPLE[role], "change-me") if role in PEOPLE else ("ada", "open-sesame")
        url = f"postgresql://{name}:{password}@127.0.0.1:{self.server.port}/{database}"
        ended = nearkin_here(command, url, *arguments)
        ended.assert_clean()
        return ended


@pytest.fixture(scope="module")
def kept(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Database:
    """The collection, after the blocks of the page about rights and about backup, in this order."""
    database = Database(server, workplace(tmp_path_factory.mktemp("kept")))
    server.sql("CREATE ROLE ada LOGIN CREATEDB PASSWORD 'open-sesame'")
    server.sql("CREATE DATABASE matters OWNER ada")
    (database.folder / "in.jsonl").write_text(lines(TEXTS))
    added = database.run("owner", "add", str(database.folder / "in.jsonl"), "--wave", "march")
    assert added.code == 0, added.err
    dump, restore = [block.text for block in OPERATING if block.language == "sh"]
    assert database.run("owner", "groups", "--quiet").code == 0
    assert nearkin_here("sql", "install", f"postgresql://ada:open-sesame@127.0.0.1:{server.port}/matters").code == 0
    *rights, person = [block.text for block in OPERATING if block.language == "sql"]
    for text in (*rights, *(person.replace("eve", name).replace("reader", role) for role, name in PEOPLE.items())):
        server.sql(text, "matters")
    database.shell(dump)
    assert "undamaged" in database.shell(restore)
    return database


def lines(texts: dict[str, str]) -> str:
    return "".join(json.dumps({"id": doc_id, "text": text}) + "\n" for doc_id, text in texts.items())


def questions(folder: Path) -> list[list[str]]:
    (folder / "draft.txt").write_text(RENT.format(1000))
    (folder / "labels.csv").write_text("id,label\nlease,yes\ncopy,no\n")
    return [
        ["show", "lease"], ["list"], ["history", "lease"], ["search", "tenant"], ["similar", "lease"],
        ["compare", "lease", "copy"], ["versions", "lease"], ["conflicts", str(folder / "labels.csv")], ["waves"],
        ["tags"], ["log"], ["info"], ["fsck"], ["groups", "--since", "march"], ["groups"],
        ["check", str(folder / "draft.txt")],
    ]  # fmt: skip


def answer(ended: Ended) -> object:
    """What a command said, without what differs from one call and from one user to the next."""
    told = json.loads(ended.out)
    if not isinstance(told, dict):
        return told
    return {
        name: value for name, value in told.items() if name not in ("elapsed_s", "place", "explained", "n_segments")
    }


def test_a_reader_asks_everything_of_the_collection_and_of_the_restored_one(kept: Database) -> None:
    for command, *arguments in questions(kept.folder):
        asked = [command, *arguments, "--json"]
        by_owner = kept.run("owner", *asked, "--read-only")
        assert by_owner.code in (0, 10), by_owner.err
        for role, database in (("reader", "matters"), ("reader", "restored")):
            found = kept.run(role, *asked, "--read-only", database=database)
            assert (found.code, answer(found)) == (by_owner.code, answer(by_owner)), f"{role} {command}: {found.err}"


def state(kept: Database) -> object:
    """Everything that a change would change."""
    return [
        answer(kept.run("owner", *asked, "--json", "--read-only")) for asked in (["log"], ["tags"], ["info"], ["list"])
    ]


DECISIONS = [
    ["tag", "responsive=yes", "lease"],
    ["decide", "--never-group", "lease", "copy"],
    ["decide", "--principal", "lease"],
    ["groups"],
    ["untag", "responsive", "lease"],
    ["undo", "2"],
    ["groups"],
]
STORED = [["add", "more.jsonl"], ["check", "draft.txt", "--store", "--id", "draft"], ["remove", "copy"]]
OWNED = [["purge", "note", "--yes"], ["sql", "install"]]


def changed(kept: Database, role: str, steps: list[list[str]]) -> list[Ended]:
    (kept.folder / "more.jsonl").write_text(lines({"more": RENT.format(975)}))
    (kept.folder / "draft.txt").write_text(RENT.format(1000))
    found = []
    for step in steps:
        command, *arguments = [str(kept.folder / one) if one.endswith((".jsonl", ".txt")) else one for one in step]
        if command == "sql":
            url = f"postgresql://{PEOPLE[role]}:change-me@127.0.0.1:{kept.server.port}/matters"
            found.append(nearkin_here("sql", "install", url))
        else:
            found.append(kept.run(role, command, *arguments))
    return found


def refused(ended: list[Ended]) -> bool:
    """Whether the database refused everything; the messages are shown where it did not."""
    found = [(one.code, one.err) for one in ended if one.code != 7 or "permission denied" not in one.err]
    assert found == []
    return True


def test_who_may_change_what(kept: Database) -> None:
    before = state(kept)
    assert refused(changed(kept, "reader", [*DECISIONS[:4], *STORED, *OWNED]))
    assert state(kept) == before

    assert [one.err for one in changed(kept, "reviewer", DECISIONS) if one.code] == []
    decided = state(kept)
    assert decided != before
    assert refused(changed(kept, "reviewer", [*STORED, *OWNED]))
    assert state(kept) == decided

    assert [one.code for one in changed(kept, "loader", STORED)] == [0, 0, 0]
    assert [one.code for one in changed(kept, "loader", [["groups"], ["tag", "privileged", "note"]])] == [0, 0]
    loaded = state(kept)
    assert loaded != decided
    assert refused(changed(kept, "loader", OWNED))
    assert state(kept) == loaded


def test_relations_that_may_not_be_stored_are_computed(kept: Database) -> None:
    found = []
    for n, role in enumerate(["reviewer", "loader", "owner", "reviewer"]):
        out = kept.folder / f"families-{n}"
        ended = kept.run(role, "families", "--no-report", "--out", str(out))
        assert ended.code == 0, ended.err
        assert ("relations of texts cannot be stored (permission denied" in ended.err) is (n < 1), ended.err
        found.append((out / "families.csv").read_bytes())
    assert found == [found[0]] * 4


def test_tables_that_the_owner_makes_later_are_covered(kept: Database) -> None:
    kept.server.sql("SET ROLE ada; CREATE TABLE nearkin.later (number INTEGER)", "matters")
    asked = "SELECT has_table_privilege('{}', 'nearkin.later', '{}')"
    assert [
        kept.server.sql(asked.format(*one), "matters")
        for one in (("eve", "SELECT"), ("bo", "INSERT"), ("eve", "INSERT"))
    ] == ["t", "t", "f"]
    kept.server.sql("DROP TABLE nearkin.later", "matters")


def test_what_a_loader_and_a_reviewer_can_repair(kept: Database) -> None:
    damage = {
        "index of nearkin check": "DELETE FROM nearkin.check_keys WHERE content = 0",
        "sets of word 5-grams": "DELETE FROM nearkin.shingles WHERE content = 0",
        "words of texts": "DELETE FROM nearkin.search_words WHERE content = 0",
    }
    for said, statement in damage.items():
        kept.server.sql(statement, "matters")
        by_reviewer = kept.run("reviewer", "fsck")
        assert (by_reviewer.code, "permission denied" in by_reviewer.err) == (7, True), by_reviewer.out
        assert "add --read-only" in by_reviewer.err
        by_loader = kept.run("loader", "fsck")
        assert (by_loader.code, "rebuilt" in by_loader.out, said in by_loader.out) == (0, True, True), by_loader.err


def test_a_restored_copy_and_its_original_have_indexes_of_their_own(kept: Database) -> None:
    """The page restores the copy beside the original: both have one id and one cache, and get other texts."""
    for text in ("The first text that only one of the two has.", "And a second text."):
        for database in ("matters", "restored"):
            path = kept.folder / f"{database}.jsonl"
            path.write_text(lines({"own": f"{text} This one is of {database}."}))
            assert kept.run("owner", "add", str(path), database=database).code == 0
    for database in ("matters", "restored") * 2:
        found = kept.run("owner", "similar", "own", "--threshold", "0.1", database=database)
        assert (found.code, found.err) == (0, "")
        checked = kept.run("owner", "fsck", database=database)
        assert "undamaged" in checked.out
        assert "index part" not in checked.out + checked.err
