"""Differences of two texts word by word, as one run of pieces with as few marked words as possible.

Words are those of shingles. A punctuation character is separate. White space alone is not a difference,
nor are the invisible characters that shingles ignore.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from nearkin.errors import MissingExtraError, ParameterError
from nearkin.nouns import counted
from nearkin.stages.differences.comparison import Piece
from nearkin.stages.differences.passages import MIN_HIDDEN
from nearkin.stages.differences.spelling import shared_beginning
from nearkin.stages.differences.words import (
    as_compared,
    count_words,
    end_of_word,
    find_tokens,
    is_word,
    start_of_last_words,
)

try:
    from rapidfuzz.distance import Indel
except ImportError as error:
    raise MissingExtraError.of("Marking differences", "report") from error

_Step = tuple[Literal["equal", "change"], int, int, int, int]


@dataclass(frozen=True, slots=True)
class _Tokens:
    """The tokens of one text: what is compared, and whether white space precedes each."""

    cores: tuple[str, ...]
    spaced: tuple[bool, ...]
    end: int  # number of characters of the text that they cover


def mark_differences(
    text_a: str,
    text_b: str,
    *,
    context_words: int = 12,
    max_words: int = 20_000,
    max_run: int | None = None,
) -> tuple[Piece, ...]:
    """Find the words that two texts share and those that only one of them has.

    As few words as possible are marked. The common beginning and end of both texts is unlimited; between the first
    and the last difference the cost grows with the product of the two lengths, so ``max_words`` applies there.

    Parameters
    ----------
    text_a, text_b : str
        The texts; white space counts only as a boundary of words.
    context_words : int, default 12
        Words shown on either side of a difference; the rest of a shared stretch becomes a counted gap.
    max_words : int, default 20000
        Maximum number of words and punctuation characters compared after the first difference. A gap marks a cut.
    max_run : int, optional
        Maximum length of a one-sided stretch in words; of a longer one both ends are shown. None: no limit.

    Returns
    -------
    tuple of Piece
        In reading order; of two pieces at the same place ``only_a`` comes first. The words of the ``equal`` and
        ``only_a`` pieces are those of ``text_a`` if there is no gap; the same holds for ``text_b``.

    Raises
    ------
    ParameterError
        A limit is out of range.

    Examples
    --------
    >>> for piece in mark_differences("to be paid in 30 days", "to be paid within 45 days"):
    ...     print(piece.kind, repr(piece.text))
    equal 'to be paid'
    only_a ' in 30'
    only_b ' within 45'
    equal ' days'
    """
    _check("context_words", context_words, 0)
    _check("max_words", max_words, 1)
    if max_run is not None:
        _check("max_run", max_run, 2)
    head, tail = _shared_ends(text_a, text_b)
    middle_a, middle_b = text_a[head : len(text_a) - tail], text_b[head : len(text_b) - tail]
    a, b = _tokenise(middle_a, max_words), _tokenise(middle_b, max_words)
    pieces = [Piece("equal", text_a[:head]), *_compare(a, b)]
    rest_a, rest_b = count_words(middle_a[a.end :]), count_words(middle_b[b.end :])
    if a.end < len(middle_a.rstrip()) or b.end < len(middle_b.rstrip()):
        pieces.append(
            Piece("gap", f"cut here: {counted(rest_a, 'more word')} of A and {rest_b:,} of B were not compared")
        )
    pieces.append(Piece("equal", text_a[len(text_a) - tail :]))
    return tuple(_collapsed(_joined(pieces), context_words, max_run))


def _check(parameter: str, value: object, least: int) -> None:
    """Refuse a limit that is not an int of at least ``least``."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ParameterError.of(parameter, "mark_differences", f"an int >= {least}", value)


def _shared_ends(text_a: str, text_b: str) -> tuple[int, int]:
    """Count the characters of the common beginning and end, cut where white space ends a word in both."""
    head = shared_beginning(text_a, text_b)
    if head == len(text_a) == len(text_b):
        return head, 0
    while head and not text_a[head - 1].isspace():
        head -= 1
    while head and text_a[head - 1].isspace():  # spaces belong to the following word
        head -= 1
    tail = shared_beginning(text_a[head:][::-1], text_b[head:][::-1])
    while tail and not text_a[-tail].isspace():
        tail -= 1
    return head, tail


def _tokenise(text: str, limit: int) -> _Tokens:
    """Return the first ``limit`` words and punctuation characters of a text."""
    cores: list[str] = []
    spaced: list[bool] = []
    end = 0
    for found in islice(find_tokens(text), limit):
        cores.append(found.group())
        spaced.append(found.start() > end)
        end = found.end()
    return _Tokens(tuple(cores), tuple(spaced), end)


def _compare(a: _Tokens, b: _Tokens) -> Iterator[Piece]:
    """Yield the pieces of two token lists, without gaps."""
    numbers: dict[str, int] = {}  # RapidFuzz compares hashes: small numbers are their own, so no two words can collide
    codes_a, codes_b = (
        [numbers.setdefault(as_compared(core), len(numbers)) for core in tokens.cores] for tokens in (a, b)
    )
    steps: list[_Step] = []
    for code in Indel.opcodes(codes_a, codes_b):
        place = (code.src_start, code.src_end, code.dest_start, code.dest_end)
        steps.append(("equal" if code.tag == "equal" else "change", *place))
    for name, a_start, a_end, b_start, b_end in _without_islands(steps, a):
        if name == "equal":
            yield Piece("equal", _spell_shared(a, b, a_start, a_end, b_start))
            continue
        if a_end > a_start:
            yield Piece("only_a", _spell(a, a_start, a_end))
        if b_end > b_start:
            yield Piece("only_b", _spell(b, b_start, b_end))


def _without_islands(steps: list[_Step], a: _Tokens) -> list[_Step]:
    """Merge neighbouring changes, also across shared punctuation: a single comma does not split a change."""
    result: list[_Step] = []
    for index, step in enumerate(steps):
        name, a_start, a_end, b_start, b_end = step
        inner = 0 < index < len(steps) - 1
        if name == "equal" and not (inner and not any(map(is_word, a.cores[a_start:a_end]))):
            result.append(step)
        elif result and result[-1][0] == "change":
            result[-1] = ("change", result[-1][1], a_end, result[-1][3], b_end)
        else:
            result.append(("change", a_start, a_end, b_start, b_end))
    return result


def _spell(tokens: _Tokens, start: int, end: int) -> str:
    """Return the text of tokens of one side."""
    return "".join((" " if tokens.spaced[i] else "") + tokens.cores[i] for i in range(start, end))


def _spell_shared(a: _Tokens, b: _Tokens, start: int, end: int, b_start: int) -> str:
    """Return the text of shared tokens, with a space where either side has one, so that words never run together."""
    shift = b_start - start
    return "".join((" " if a.spaced[i] or b.spaced[i + shift] else "") + a.cores[i] for i in range(start, end))


def _joined(pieces: list[Piece]) -> list[Piece]:
    """Merge neighbouring pieces of a kind, without empty ones."""
    result: list[Piece] = []
    for piece in pieces:
        if not piece.text:
            continue
        if result and result[-1].kind == piece.kind:
            result[-1] = Piece(piece.kind, result[-1].text + piece.text)
        else:
            result.append(piece)
    return result


def _collapsed(pieces: list[Piece], context_words: int, max_run: int | None) -> Iterator[Piece]:
    """Replace the middle of long pieces by a gap."""
    for index, piece in enumerate(pieces):
        if piece.kind == "gap":
            yield piece
        elif piece.kind == "equal":
            first = context_words if index or len(pieces) == 1 else 0
            last = context_words if index < len(pieces) - 1 else 0
            yield from _with_gap(piece, first, last, "equal words")
        elif max_run is not None:
            side = piece.kind[-1].upper()
            yield from _with_gap(piece, max_run - max_run // 2, max_run // 2, f"more words only in {side}")
        else:
            yield piece


def _with_gap(piece: Piece, first: int, last: int, what: str) -> Iterator[Piece]:
    """Yield a piece unchanged, or its first and last words around a gap that counts the rest."""
    hidden = count_words(piece.text) - first - last
    if hidden < MIN_HIDDEN:
        yield piece
        return
    if first:
        yield Piece(piece.kind, piece.text[: end_of_word(piece.text, first)])
    yield Piece("gap", f"{hidden:,} {what}")
    if last:
        yield Piece(piece.kind, piece.text[start_of_last_words(piece.text, last) :])
