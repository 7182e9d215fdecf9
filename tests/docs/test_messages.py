"""How messages are written: counted nouns agree with their numbers, rates are "per", formulas are no concern here.

The rules look at the f-strings and strings of ``src``, and at the templates of the pages.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from docs.pages import ROOT

FILES = sorted((ROOT / "src").rglob("*.py"))
NOUNS = (
    "documents?|articles|bands|blocks|bridges|bytes|candidates|chains|characters|columns|comparisons|conflicts|copies|cores|"
    "counts|days|devices|edits|elements|entries|executors|families|features|fields|files|folders|forms|groups|hours|"
    "ids|items|keys|labels|letters|lines|links|machines|matches|members|messages|minutes|mails|numbers|occurrences|"
    "ones|orders|pages|pairs|parts|passages|percent|pieces|places|processes|queries|records|rounds|rows|runs|seconds|"
    "segments|sentences|shards|shingles|sides|signatures|sketches|slots|stages|tables|tasks|terms|texts|tokens|"
    "translations|units|vectors|versions|waves|windows|words|workers"
)
"""Plurals that messages use; a new one belongs here as soon as a message counts it."""
AFTER_A_NUMBER = re.compile(rf" (?:[a-z-]+ ){{0,2}}(?:{NOUNS})\b")
"""A plural right after a number, or after one or two words that describe it: "3 verified pairs"."""
NOT_A_COUNT = re.compile(
    r" (?:of|is|are|was|were|has|have|holds?|says?|in|at|on|and|or|by|the|instead|under|lies?|with|where|like|from|"
    r"not|than|that|times|as|percent)\b"
)
"""What a value that is no count is followed by: "{path} has no columns", "3 of its keys"."""
UNITS = (
    "documents|pairs|bytes|slots|shingles|entries|signatures|comparisons|terms|pieces|rows|tasks|cores|kB|MB|GB|MiB|"
    "GiB|MB/s|characters|features|ns|µs|ms|one|one bit|number|time"
)
THINGS = (
    "second|sketch|document|signature|pair|character|processor|core|size|bin|order|text|query|row|slot|shingle|word|band|"
    "term|comparison|occurrence|stage|executor"
)
RATE = re.compile(rf"\b(?:{UNITS}) an? (?:{THINGS})\b(?! (?:time|of|returns|that))")


def test_the_rules_see_what_they_are_for() -> None:
    assert counted_in('f"{n:,} groups"') == [" groups"]
    assert counted_in('f"{len(found)} verified pairs."') == [" verified pairs"]
    assert counted_in("f\"{counts['kept']} documents\"") == [" documents"]
    assert counted_in('f"{n_left} words"') == [" words"]
    assert not counted_in("f\"{counted(n, 'group')} of {path} lines up\"")
    assert not counted_in('f"{path} is one of the inputs"')
    assert not counted_in('f"{MAX_PAIRS:,} pairs"')
    assert RATE.search("1,024 documents a second")
    assert not RATE.search("documents a second time")
    assert not RATE.search("once a minute")


def counted_in(code: str) -> list[str]:
    """What stands behind numbers in the f-strings of some code, where it is a plural that does not agree by itself."""
    return [text for node in ast.walk(ast.parse(code)) if isinstance(node, ast.JoinedStr) for text in _plurals(node)]


def _plurals(string: ast.JoinedStr) -> Iterator[str]:
    for number, following in zip(string.values, string.values[1:], strict=False):
        if isinstance(number, ast.FormattedValue) and isinstance(following, ast.Constant) and _is_count(number):
            found = AFTER_A_NUMBER.match(str(following.value))
            if found and not NOT_A_COUNT.match(str(following.value)) and not found.group().startswith((" a ", " per ")):
                yield found.group()


def _is_count(value: ast.FormattedValue) -> bool:
    """A number that may be 1: one with separators, or one whose name says that it counts.

    A constant of the code (``MAX_PAIRS``) is the same in every message.
    """
    text = re.sub(r"^len\((.*)\)$", r"\1", of_value := ast.unparse(value.value))
    if re.fullmatch(r"(?:\w+\.)*_?[A-Z][A-Z_0-9]*(?: [-+*/] \d+)?", text):
        return False
    has_separators = value.format_spec is not None and "," in ast.unparse(value.format_spec)
    counts = r"len\(.*\)|(?:.*\.)?n_\w+(?: [-+] .*)?|(?:counts|known|found|told|compared)\[.*\]|sum\(.*\)|n|n_\w+ .*"
    return has_separators or re.fullmatch(counts, of_value) is not None


@functools.cache
def _plurals_and_rates() -> tuple[list[str], list[str]]:
    """Return where messages count without `counted`, and where they have a rate that is not "per".

    Both are found in one go, since parsing all files takes seconds. Docstrings are no messages.
    """
    plurals, rates = [], []
    for path in FILES:
        docstrings = set[int]()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                plurals += [f"{path.relative_to(ROOT)}:{node.lineno}: …{text}" for text in _plurals(node)]
            elif isinstance(node, ast.Expr):  # comes before what it contains
                docstrings.add(id(node.value))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
                found = RATE.finditer(node.value)
                rates += [f"{path.relative_to(ROOT)}:{node.lineno}: {match.group()}" for match in found]
    return plurals, rates


def test_counted_nouns_agree_with_their_numbers() -> None:
    """Through `nearkin.nouns.counted`: "1 group", "2 groups"."""
    plurals, _ = _plurals_and_rates()
    assert not plurals, "\n".join(plurals)


def test_rates_are_per() -> None:
    """Messages and help say "documents per second", not "documents a second"."""
    _, rates = _plurals_and_rates()
    assert not rates, "\n".join(rates)


@pytest.mark.parametrize("path", sorted((ROOT / "src").rglob("*.html*")), ids=lambda path: path.name)
def test_rates_on_pages_are_per(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not RATE.findall(text)
