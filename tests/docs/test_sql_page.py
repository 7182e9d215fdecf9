"""The SQL of the page about SQL runs as it stands, by psql, with the rights of a reader."""

from __future__ import annotations

import json
import re
from pathlib import Path

from docs.pages import ROOT, blocks, line_of
from nearkin.collection.collection import Collection
from nearkin.collection.plain_sql import install
from postgresql import Server

PAGE = ROOT / "docs/guides/sql-and-postgresql.md"
READER = """
CREATE ROLE reader;
GRANT USAGE ON SCHEMA nearkin TO reader;
GRANT SELECT ON ALL TABLES IN SCHEMA nearkin TO reader;
"""


def test_every_query_of_the_page_runs(server: Server, collection: Path, tmp_path: Path) -> None:
    server.sql("CREATE DATABASE page")
    lines = (collection / "contracts.jsonl").read_text(encoding="utf-8").splitlines()
    with Collection.open(server.url("page"), create=True, cache=tmp_path) as opened:
        opened.add(list(map(json.loads, lines)), wave="march")
        install(opened.opened)
        opened.groups()
    server.sql("CREATE TABLE tickets AS SELECT doc_id AS id FROM nearkin.documents", "page")
    queries = [block.text for block in blocks(PAGE, "sql") if block.line < line_of(PAGE, "## Connect")]
    similar, of_tickets, *lists = queries
    server.sql(READER, "page")
    members = "SELECT doc_id, principal_doc_id FROM nearkin.group_of_documents WHERE doc_id <> principal_doc_id"
    represented = server.sql(of_tickets, "page").splitlines()
    assert len(represented) > 50
    assert sorted(represented) == sorted(server.sql(members, "page").splitlines())
    answers = [server.sql(f"SET ROLE reader; {query}", "page") for query in (similar, *lists)]
    assert answers[0].splitlines()[1].startswith("nda-00/retyped|1|march|1|0|f")
    assert "3543382775" in answers[0].splitlines()
    assert 40 < len(answers[1].splitlines()) < 60
    assert len(answers[2].splitlines()) > 10


def test_rows_become_lines_of_json(server: Server) -> None:
    """The recipe of the page, for a text with everything that has to be escaped."""
    text = 'a "quoted" word, C:\\temp\\new,\ta tab\nand a line; café \u2028'
    server.sql("CREATE DATABASE of_tickets")
    literal = "E'" + text.replace("\\", "\\\\") + "'"
    server.sql(f"CREATE TABLE tickets AS SELECT 7 AS id, {literal} AS body UNION ALL SELECT 3, 'x'", "of_tickets")
    (recipe,) = re.findall(r'psql matters -XAtc "(.+?)"', PAGE.read_text(encoding="utf-8"))
    lines = server.sql(recipe, "of_tickets").split("\n")
    assert [json.loads(line) for line in lines] == [{"id": "3", "text": "x"}, {"id": "7", "text": text}]
