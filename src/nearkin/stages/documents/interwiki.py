"""Links between editions of Wikipedia, from articles to those in another language on the same subject.

Dumps up to 2013 have them in the text of the articles, ``[[en:Title]]``, later ones in a table
(``…-langlinks.sql.gz``).
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from nearkin.errors import ParameterError, SourceError
from nearkin.kernels.buffers import strings
from nearkin.stages.documents.faults import StreamFault, truncated_input
from nearkin.stages.documents.head import opened_text
from nearkin.stages.documents.readers.wikipedia import PageReader, without_comments
from nearkin.stages.documents.streams import ByteStream, Progress, unreported

_LONGEST_TITLE = 1 << 10
"""Maximum length of a valid link; MediaWiki allows 255 bytes."""


def interwiki_links(
    dump: Path,
    language: str,
    *,
    langlinks: Path | None = None,
    takes_damaged: bool = False,
    progress: Progress = unreported,
) -> pa.Table:
    """Return the articles of a dump that are linked to another language, with their titles there.

    Parameters
    ----------
    dump, langlinks
        Pages (XML) and, since 2013, the table ``langlinks`` (SQL) of one edition and day, possibly compressed.
    takes_damaged
        Use the links before the damage of a file; otherwise it is a TruncatedInputError.

    Returns
    -------
    Table
        Columns ``title`` and ``other``, large_string, in the order of the dump, without repeated pairs. Titles are as
        document names: with spaces, the other with a capital, without a section. Only namespace 0, without redirects.
    """
    language = language.strip().lower()
    if not re.fullmatch(r"[a-z]{2,12}(-[a-z]{2,12})*", language):
        raise ParameterError.of("language", "the code of an edition, such as 'en'", language)
    others: dict[int, list[str]] = {}
    if langlinks is not None:
        with _opened(langlinks, progress, takes_damaged=takes_damaged) as stream:
            for page, other in read_langlinks(stream, str(langlinks), language):
                others.setdefault(page, []).append(other)
    titles: list[str] = []
    links: list[str] = []
    with _opened(dump, progress, takes_damaged=takes_damaged) as stream:
        for title, number, inline in _articles(stream, str(dump), language):
            linked = (*others.get(number, ()), *inline) if number is not None else inline
            distinct = dict.fromkeys(normal for other in linked if (normal := _title(other)))
            titles += [title] * len(distinct)
            links += distinct
    return pa.table({"title": strings(titles), "other": strings(links)})


@contextmanager
def _opened(path: Path, progress: Progress, *, takes_damaged: bool) -> Iterator[ByteStream]:
    with opened_text(str(path), progress=progress) as stream:
        try:
            yield stream
        except StreamFault as fault:
            if not takes_damaged:
                raise truncated_input(str(path), fault) from fault


def _articles(stream: ByteStream, name: str, language: str) -> Iterator[tuple[str, int | None, list[str]]]:
    inline = re.compile(rf"\[\[[ \t_]*+{language}[ \t_]*+:([^\[\]{{}}|<>\n]++)", re.IGNORECASE)
    reader = PageReader(stream, name)
    try:
        for page in reader.pages():
            if not page.namespace and not page.is_redirect and page.problem is None:
                yield page.title, page.number, inline.findall(without_comments(page.wikitext))
    except StreamFault as fault:
        raise StreamFault(f"{fault}, after line {reader.line:,}") from fault


def _title(linked: str) -> str:
    title = html.unescape(linked.partition("#")[0].replace("_", " ")) if len(linked) < _LONGEST_TITLE else ""
    title = " ".join(title.split())
    return title[:1].upper() + title[1:]


_READ_BYTES = 1 << 20
_MAX_OF_A_ROW = 1 << 16
"""Maximum length of a row: it has a number, a code and a title of at most 255 bytes."""
_INSERT = re.compile(rb"\nINSERT INTO `langlinks`(?: \([^)]{0,200}\))? VALUES\s")
_LONGEST_INSERT = 512
_STRING = rb"'((?:[^'\\]++|\\.|'')*+)'"
_ROW = re.compile(rb"\s*+\(\s*+([0-9]{1,18}),\s*+" + _STRING + rb",\s*+" + _STRING + rb"\s*+\)\s*+([,;])", re.DOTALL)
_ESCAPE = re.compile(rb"\\(.)|''", re.DOTALL)
_ESCAPED = {b"0": b"\0", b"b": b"\b", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"Z": b"\x1a"}


def read_langlinks(stream: ByteStream, name: str, language: str) -> Iterator[tuple[int, str]]:
    """Yield number and title of each page with a title in a language; SourceError if it is another table."""
    wanted = language.encode()
    data, n_statements, is_inside = b"\n", 0, False
    piece = b"\n"
    while piece:
        piece = stream.read(_READ_BYTES)
        data, place = data + piece, 0
        while True:
            if not is_inside:
                insert = _INSERT.search(data, place)
                if insert is None:
                    place = max(place, len(data) - _LONGEST_INSERT)
                    break
                place, n_statements = insert.end(), n_statements + 1
            row = _ROW.match(data, place)
            is_inside = row is None or row[4] == b","
            if row is None:
                break
            place = row.end()
            if row[2] == wanted:
                yield int(row[1]), _unescaped(row[3])
        data = data[place:]
        if is_inside and len(data) > _MAX_OF_A_ROW:
            came = data[:40].decode("utf-8", "replace")
            raise SourceError(f"{name}: a row must be (page,'language','title'). Got {came!r}.")
    if is_inside:
        raise StreamFault("the file ends inside a statement")
    if not n_statements:
        raise SourceError(f"{name} is not a dump of the table langlinks: it has no 'INSERT INTO `langlinks` VALUES'.")


def _unescaped(literal: bytes) -> str:
    if b"\\" in literal or b"'" in literal:
        literal = _ESCAPE.sub(
            lambda occurrence: _ESCAPED.get(occurrence[1], occurrence[1]) if occurrence[1] else b"'", literal
        )
    return literal.decode("utf-8", "replace")
