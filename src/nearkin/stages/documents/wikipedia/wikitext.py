"""Plain text of a page written in wikitext: what a reader would read as its text.

One scan from mark to mark, with a stack of open elements, and one line by line take linear time; mwparserfromhell
(0.7.2) takes quadratic time if tags, comments or links are not closed. Templates are not expanded: their output is
lost.
"""

from __future__ import annotations

import html
import re

HIDDEN = frozenset({"file", "image", "media", "category", "datei", "bild", "kategorie"})
"""Prefixes of links that are not text of the page: files and categories."""
_EDITION = re.compile(r"(?:[a-z]{2,3}(?:-[a-z]{1,8}){0,2}|simple):")
"""Beginning of a link to the same article in another language."""

# Each part ends where the next mark could begin, so that each character is examined by only a few of them; the
# possessive "*+" never backtracks. Complete calls and links without inner marks are the most frequent, and come first.
_MARK = re.compile(
    r"(?P<link>\[\[(?P<target>[^\[\]{}|<>\n]*+)(?:\|(?P<label>[^\[\]{}|<>\n]*+))?+\]\])"
    r"|(?P<call>\{\{[^{}<]*+\}\})"
    r"|(?P<comment><!--)"
    r"|(?P<tag><(?P<end>/?)(?P<name>[A-Za-z][A-Za-z0-9]*+)(?P<rest>[^<>]*+)>)"
    r"|(?P<open_calls>\{\{+)"
    r"|(?P<close_calls>\}\}+)"
    r"|(?P<open_link>\[\[(?P<begun>[^\[\]{}|<>\n]*+)\|?+)"
    r"|(?P<url>\[(?:https?:|ftp:)?//[^\s\[\]<>{}]*+[ \t]*+)"
    r"|(?P<close_links>\]++)"
    r"|(?P<open_table>\{\|)"
    r"|(?P<close_table>\|\}(?!\}(?!\})))"  # in "|}}" the braces close a call
)
_UNREAD = """
    ce categorytree chem gallery graph hiero imagemap includeonly inputbox indicator languages mapframe maplink math pre
    ref references score script source style syntaxhighlight templatedata templatestyles timeline
    """
"""Elements that are removed with their content."""
_BREAKS = "blockquote br caption center dd div dl dt h1 h2 h3 h4 h5 h6 hr li ol p poem tbody td th thead tr ul"
_UNMARKED = """
    a abbr b bdi bdo big cite code data del dfn em font i ins kbd langconvert mark noinclude onlyinclude phonos q
    rb rbc rp rt rtc ruby s samp section small span strike strong sub sup time translate tt tvar u var wbr
    """
"""Elements of which only the tags are removed."""
_END_OF = {name: re.compile(rf"</{name}\s*+>", re.IGNORECASE) for name in ("nowiki", *_UNREAD.split())}
_BREAKING, _BARE = frozenset(_BREAKS.split()), frozenset(_UNMARKED.split())
_CALL, _TABLE, _SHOWN, _HIDDEN = range(4)
_LONGEST_INDENT = 16

_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_QUOTES = re.compile(r"''+")
_ADDRESS = re.compile(r"(?:https?|ftp)://[^\s\[\]<>\"|]*+")
_SWITCH = re.compile(r"__(?P<word>[^\W\d_]++(?:_[^\W\d_]++)*+)__")
_HOLLOW = re.compile(r"\([ ,;]*+\)")
_BLANKS = re.compile(r"[ \t\xa0]{2,}|[\t\xa0]")
_OF_LISTS = "*#:; \t"


def plain_text(wikitext: str, hidden: frozenset[str] = HIDDEN) -> str:
    """Return the text of a page: paragraphs, headings and list items, one per line, without blank lines.

    Templates, tables, references, formulas, comments, files, categories, links to other languages and addresses of
    links are removed; labels of links stay. ``hidden`` has lower-case prefixes of links that are not shown, such as
    "file". Unclosed elements are text, except comments, which last to the end. The result is never longer than the
    input, in characters.
    """
    walk = _Walk(wikitext, hidden)
    return _tidied(walk.marked_off(), has_open_table=walk.n_open[_TABLE] > 0)


class _Walk:
    def __init__(self, text: str, hidden: frozenset[str]) -> None:
        self._text = text
        self._hidden_prefixes = hidden
        self._shown: list[str] = []
        self._stack: list[tuple[int, int]] = []  # open elements, and the number of parts shown before each
        self.n_open = [0, 0, 0, 0]
        self._n_addresses = 0
        self._never_ended: set[str] = set()
        self._actions = {
            "comment": self._comment, "tag": self._tag, "open_calls": self._open_calls,
            "close_calls": self._close_calls, "open_link": self._open_link, "url": self._url,
            "close_links": self._close_links, "open_table": self._open_table, "close_table": self._close_table,
        }  # fmt: skip

    def marked_off(self) -> str:
        text, shown, search = self._text, self._shown, _MARK.search
        place = 0
        while (mark := search(text, place)) is not None:
            start = mark.start()
            if start > place:
                shown.append(text[place:start])
            kind = mark.lastgroup or ""
            if kind == "link":
                shown.append(self._words_of(mark["target"], mark["label"]))
                place = mark.end()
            elif kind == "call":
                place = mark.end()
            else:
                place = self._actions[kind](mark)
        shown.append(text[place:])
        return "".join(shown)

    def _words_of(self, target: str, label: str | None) -> str:
        if ":" in target and self._is_hidden(target):
            return ""
        return label or target.removeprefix(":")

    def _is_hidden(self, target: str) -> bool:
        prefix, colon, _ = target.partition(":")
        return bool(colon) and (prefix.strip(" _").lower() in self._hidden_prefixes or bool(_EDITION.match(target)))

    def _open(self, kind: int, n_times: int = 1) -> None:
        self._stack += [(kind, len(self._shown))] * n_times
        self.n_open[kind] += n_times

    def _close(self, kind: int) -> None:
        """Close the innermost element of a kind, and remove all inside, except the text of a link."""
        while True:
            last, n_shown = self._stack.pop()
            self.n_open[last] -= 1
            if last == kind:
                break
        if kind != _SHOWN:
            del self._shown[n_shown:]

    def _comment(self, mark: re.Match[str]) -> int:
        end = self._text.find("-->", mark.end())
        return end + 3 if end >= 0 else len(self._text)

    def _tag(self, mark: re.Match[str]) -> int:
        name = mark["name"].lower()
        is_pair = not mark["end"] and not mark["rest"].endswith("/")
        if name in _END_OF:
            end = self._end_of(name, mark.end()) if is_pair else None
            if name == "nowiki" and end is not None:
                self._shown.append(self._text[mark.end() : end.start()])
            return mark.end() if end is None else end.end()
        if name == "table":
            if is_pair:
                self._open(_TABLE)
            elif self.n_open[_TABLE]:
                self._close(_TABLE)
        elif name in _BREAKING:
            self._shown.append("\n")
        elif name not in _BARE:  # "a <b or c> d": not a tag, and it may contain marks
            self._shown.append("<")
            return mark.start() + 1
        return mark.end()

    def _end_of(self, name: str, place: int) -> re.Match[str] | None:
        """A missing end is searched for only once per name."""
        if name in self._never_ended:
            return None
        end = _END_OF[name].search(self._text, place)
        if end is None:
            self._never_ended.add(name)
        return end

    def _open_calls(self, mark: re.Match[str]) -> int:
        self._open(_CALL, len(mark[0]) // 2)
        return mark.end()

    def _close_calls(self, mark: re.Match[str]) -> int:
        for _ in range(min(len(mark[0]) // 2, self.n_open[_CALL])):
            self._close(_CALL)
        return mark.end()

    def _open_link(self, mark: re.Match[str]) -> int:
        if self._is_hidden(mark["begun"]):
            self._open(_HIDDEN)
        else:
            self._open(_SHOWN)
            if not mark[0].endswith("|"):
                self._shown.append(mark["begun"])
        return mark.end()

    def _url(self, mark: re.Match[str]) -> int:
        self._n_addresses += 1
        return mark.end()

    def _close_links(self, mark: re.Match[str]) -> int:
        n_left = len(mark[0])
        if n_left % 2 and self._n_addresses:
            self._n_addresses -= 1
            n_left -= 1
        while n_left >= 2 and self._stack and self._stack[-1][0] in (_SHOWN, _HIDDEN):
            self._close(self._stack[-1][0])
            n_left -= 2
        self._shown.append("]" * n_left)
        return mark.end()

    def _begins_line(self, place: int) -> bool:
        _, newline, indent = self._text[max(0, place - _LONGEST_INDENT) : place].rpartition("\n")
        return not indent.strip(_OF_LISTS) and (bool(newline) or place <= _LONGEST_INDENT)

    def _open_table(self, mark: re.Match[str]) -> int:
        if self._begins_line(mark.start()):
            self._open(_TABLE)
        else:
            self._shown.append(mark[0])
        return mark.end()

    def _close_table(self, mark: re.Match[str]) -> int:
        if self.n_open[_TABLE] and self._begins_line(mark.start()):
            self._close(_TABLE)
            return mark.end()
        self._shown.append("|")  # the brace may be one of a pair
        return mark.start() + 1


def _tidied(text: str, *, has_open_table: bool) -> str:
    if "&" in text:
        text = _ENTITY.sub(lambda entity: html.unescape(entity[0]), text)
    if "''" in text:
        text = _QUOTES.sub("", text)
    if "://" in text:
        text = _ADDRESS.sub("", text)
    if "__" in text:
        text = _SWITCH.sub(lambda switch: "" if switch["word"].isupper() else switch[0], text)
    text = _BLANKS.sub(" ", _HOLLOW.sub("", text))
    lines = (_line(line.strip(), has_open_table) for line in text.split("\n"))
    return "\n".join(line for line in lines if line)


def _line(line: str, has_open_table: bool) -> str:
    if not line:
        return ""
    first = line[0]
    if first in _OF_LISTS:
        return line.lstrip(_OF_LISTS)
    if first == "=" and line[-1] == "=":
        return line.strip("=").strip()
    if first == "|" or line.startswith("{|") or (first == "!" and has_open_table):
        return ""
    return line.lstrip("-").lstrip() if line.startswith("----") else line


def template_names(wikitext: str) -> set[str]:
    """Return the names of the templates that a page calls, in lower case."""
    return {name.strip(" _\n").replace("_", " ").lower() for name in _NAME.findall(wikitext)}


_NAME = re.compile(r"\{\{([^{}|<>\[\]]{1,99}+)")


def without_comments(wikitext: str) -> str:
    """Return the wikitext without comments; the content of ``<nowiki>`` stays."""
    parts = wikitext.split("<!--")
    return "".join([parts[0], *(part.partition("-->")[2] for part in parts[1:])])
