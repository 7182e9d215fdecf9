"""Links between the editions of Wikipedia: which article of another language is about the same.

Dumps up to 2013 have them in the text of the articles, ``[[en:Title]]``; since then they are in a table of their own,
whose dump (``…-langlinks.sql.gz``) names articles by the numbers of their pages.
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
from nearkin.stages.documents.damage import truncated_input
from nearkin.stages.documents.langlinks import read_langlinks
from nearkin.stages.documents.sniffing import head_of_file, unreadable
from nearkin.stages.documents.streams import ByteStream, Progress, StreamFault, no_progress
from nearkin.stages.documents.wikipedia.pages import PageReader
from nearkin.stages.documents.wikipedia.wikitext import without_comments

_LONGEST_TITLE = 1 << 10
"""Of a link that is one; MediaWiki allows 255 bytes."""


def interwiki_links(
    dump: Path,
    language: str,
    *,
    langlinks: Path | None = None,
    takes_damaged: bool = False,
    progress: Progress = no_progress,
) -> pa.Table:
    """The articles of a dump that are linked to one of another language, and its title there.

    Parameters
    ----------
    dump : Path
        Pages of one edition, XML, which may be packed.
    language : str
        The code of the other edition, such as "en".
    langlinks : Path, optional
        The dump of the table ``langlinks`` of the same edition and day, SQL, which may be packed.
    takes_damaged : bool
        Use the links before the damage of a file; else damage is an error, as a part of the links would be taken for
        all.
    progress : callable, optional
        Told the bytes of the files that were consumed since the last call.

    Returns
    -------
    Table
        Columns ``title`` and ``other``, large_string, in the order of the dump; each pair once. Titles are as the
        reader names documents: with spaces, the other with a capital, without the section that a link may name.
        Only namespace 0, no redirects; stubs are among them. An article may have several.

    Raises
    ------
    SourceError
        A file cannot be read, or is none of these; the message says where.
    TruncatedInputError
        A file is truncated or damaged.
    ParameterError
        The language is no code of an edition.

    Notes
    -----
    The links of that language are held in memory, and nothing else of the files.

    Examples
    --------
    >>> import tempfile
    >>> page = "<page><title>Regen</title><id>7</id><revision><text>[[en:rain]]</text></revision></page>"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     dump = Path(folder, "dewiki.xml")
    ...     _ = dump.write_text(f"<mediawiki>{page}</mediawiki>")
    ...     interwiki_links(dump, "en").to_pylist()
    [{'title': 'Regen', 'other': 'Rain'}]
    """
    language = language.strip().lower()
    if not re.fullmatch(r"[a-z]{2,12}(-[a-z]{2,12})*", language):
        raise ParameterError.of("language", "interwiki_links", "the code of an edition, such as 'en'", language)
    others: dict[int, list[str]] = {}
    if langlinks is not None:
        with _opened(langlinks, progress, takes_damaged=takes_damaged) as stream:
            for page, other in read_langlinks(stream, str(langlinks), language):
                others.setdefault(page, []).append(other)
    titles: list[str] = []
    found: list[str] = []
    with _opened(dump, progress, takes_damaged=takes_damaged) as stream:
        for title, number, inline in _articles(stream, str(dump), language):
            linked = (*others.get(number, ()), *inline) if number is not None else inline
            distinct = dict.fromkeys(normal for other in linked if (normal := _title(other)))
            titles += [title] * len(distinct)
            found += distinct
    return pa.table({"title": strings(titles), "other": strings(found)})


@contextmanager
def _opened(path: Path, progress: Progress, *, takes_damaged: bool) -> Iterator[ByteStream]:
    """A file, unpacked; where it breaks off, the block ends, or that is an error."""
    head = head_of_file(str(path), str(path), "utf-8")
    if head.fault is not None:
        raise SourceError(f"{path}: this is {head.fault}.")
    try:
        opened = path.open("rb", buffering=0)
    except OSError as error:
        raise unreadable(str(path), error) from error
    with opened as raw:
        try:
            yield ByteStream(raw, head.compression, progress=progress)
        except StreamFault as fault:
            if not takes_damaged:
                raise truncated_input(str(path), fault) from fault


def _articles(stream: ByteStream, name: str, language: str) -> Iterator[tuple[str, int | None, list[str]]]:
    """Title, number and inline links of each article."""
    inline = re.compile(rf"\[\[[ \t_]*+{language}[ \t_]*+:([^\[\]{{}}|<>\n]++)", re.IGNORECASE)
    reader = PageReader(stream, name)
    pages = reader.pages()
    while True:
        try:
            page = next(pages, None)
        except StreamFault as fault:
            raise StreamFault(f"{fault}, after line {reader.line:,}") from fault
        if page is None:
            return
        if not page.namespace and not page.is_redirect and page.problem is None:
            yield page.title, page.number, inline.findall(without_comments(page.wikitext))


def _title(linked: str) -> str:
    """What a link names, as the other edition writes it.

    >>> _title("rain_(music)#Early&nbsp;works")
    'Rain (music)'
    """
    title = html.unescape(linked.partition("#")[0].replace("_", " ")) if len(linked) < _LONGEST_TITLE else ""
    title = " ".join(title.split())
    return title[:1].upper() + title[1:]
