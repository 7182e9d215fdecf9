"""Links between editions, from the text of old dumps and from the table of new ones."""

from __future__ import annotations

import bz2
import gzip
import re
from pathlib import Path

import pytest
from hypothesis import strategies as st

from nearkin.errors import ParameterError, SourceError
from nearkin.stages.documents.readers.wikipedia import interwiki_links
from wikipedia_dumps import PROSE, dump, old_page, page

HEAD = """\
-- MySQL dump 10.19  Distrib 10.3.38-MariaDB, for debian-linux-gnu (x86_64)
--
/*!40101 SET @saved_cs_client     = @@character_set_client */;
DROP TABLE IF EXISTS `langlinks`;
CREATE TABLE `langlinks` (
  `ll_from` int(8) unsigned NOT NULL DEFAULT 0,
  `ll_lang` varbinary(35) NOT NULL DEFAULT '',
  `ll_title` varbinary(255) NOT NULL DEFAULT '',
  PRIMARY KEY (`ll_from`,`ll_lang`)
) ENGINE=InnoDB DEFAULT CHARSET=binary;
/*!40000 ALTER TABLE `langlinks` DISABLE KEYS */;
"""
TAIL = "/*!40000 ALTER TABLE `langlinks` ENABLE KEYS */;\n-- Dump completed on 2025-02-01 12:00:00\n"


def inserted(*rows: tuple[int, str, str]) -> str:
    def quoted(text: str) -> str:
        return "'" + re.sub(r"(['\"\\])", r"\\\1", text).replace("\n", "\\n").replace("\0", "\\0") + "'"

    values = ",".join(f"({number},{quoted(code)},{quoted(title)})" for number, code, title in rows)
    return f"INSERT INTO `langlinks` VALUES {values};\n"


def links(tmp_path: Path, data: bytes, sql: str | bytes | None = None, language: str = "en") -> list[tuple[str, str]]:
    path, table = tmp_path / "dewiki.xml", tmp_path / "langlinks.sql"
    path.write_bytes(data)
    if sql is not None:
        table.write_bytes(sql.encode() if isinstance(sql, str) else sql)
    consumed: list[int] = []
    found = interwiki_links(path, language, langlinks=table if sql is not None else None, progress=consumed.append)
    assert found.column_names == ["title", "other"]
    assert {str(field.type) for field in found.schema} == {"large_string"}
    assert sum(consumed) == path.stat().st_size + (table.stat().st_size if sql is not None else 0)
    return list(zip(found["title"].to_pylist(), found["other"].to_pylist(), strict=True))


def test_links_in_the_text_of_old_dumps(tmp_path: Path) -> None:
    data = dump(
        old_page("Regen", f"{PROSE}\n[[en:rain]]\n[[fr:Pluie]]\n[[en: Rain_(weather)#Kinds]][[EN:Rain]]"),
        old_page("Schnee", "<!-- [[en:Old snow]] -->[[:en:Snow shown]] [[English:Snow]] [[en:]] [[en:Snow &amp; ice]]"),
        old_page("Niederschlag", "#REDIRECT [[Regen]] [[en:Precipitation]]"),
        old_page("Vorlage:Wetter", "[[en:Weather]]"),
        old_page("Nichts", PROSE),
    )
    expected = [("Regen", "Rain"), ("Regen", "Rain (weather)"), ("Schnee", "Snow & ice")]
    assert links(tmp_path, data) == expected
    assert links(tmp_path, bz2.compress(data)) == expected
    assert links(tmp_path, data, language="FR") == [("Regen", "Pluie")]
    assert links(tmp_path, data, language="zh-min-nan") == []


PAGES = dump(
    page("Regen", PROSE, number=7),
    page("Weg", "#REDIRECT [[Regen]]", number=8, redirect="Regen"),
    page("Diskussion:Regen", PROSE, number=9, namespace=1),
    page("Qual der Wahl", "[[en:Inline]] [[en:Hobson's choice]]", number=10),
)


def test_links_of_the_table(tmp_path: Path) -> None:
    sql = HEAD + inserted((7, "de-x", "a"), (7, "en", "Rain"), (7, "fr", "Pluie")) + inserted((8, "en", "Away"))
    sql += inserted((9, "en", "Talk:Rain"), (10, "en", "Hobson's choice"), (99, "en", "Gone")) + TAIL
    expected = [("Regen", "Rain"), ("Qual der Wahl", "Hobson's choice"), ("Qual der Wahl", "Inline")]
    assert links(tmp_path, PAGES, sql) == expected
    assert links(tmp_path, PAGES, gzip.compress(sql.encode())) == expected


characters = st.text(st.characters(exclude_categories=["Cs"]), max_size=9)


GOOD = HEAD + inserted((7, "en", "Rain"), (8, "en", "Snow"))
BROKEN = [
    (GOOD[:-2], r"langlinks.sql: the file ends inside a statement. Get the file again"),
    (GOOD[:-17], "the file ends inside a statement"),
    (GOOD + "INSERT INTO `langlinks` VALUES (x,'en','Rain');\n" + "y" * 99_999, "a row must be"),
    (GOOD + "INSERT INTO `langlinks` VALUES " + "(1,'en','" + "y" * (2 << 20), "a row must be"),
    (GOOD.replace("`langlinks` VALUES", "`page` VALUES"), "is not a dump of the table langlinks"),
    ("", "is not a dump of the table langlinks"),
    (gzip.compress(GOOD.encode())[:-30], "langlinks.sql.*: the gzip stream is truncated"),
    (b"%PDF-1.7 a", "is a PDF file"),
]


@pytest.mark.parametrize(("sql", "message"), BROKEN, ids=range(len(BROKEN)))
def test_a_broken_table_is_refused(tmp_path: Path, sql: str | bytes, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        links(tmp_path, PAGES, sql)


@pytest.mark.parametrize("language", ["", "e", "en|de", "English!", "a" * 20])
def test_a_language_is_a_code(tmp_path: Path, language: str) -> None:
    with pytest.raises(ParameterError, match="must be the code of an edition, such as 'en'"):
        interwiki_links(tmp_path / "a.xml", language)
