"""Differences of two texts word by word, as one run of pieces."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from nearkin.errors import check_int
from nearkin.nouns import counted
from nearkin.stages.differences.aligning import align
from nearkin.stages.differences.changes import shared_beginning
from nearkin.stages.differences.comparison import Piece
from nearkin.stages.differences.passages import MIN_HIDDEN
from nearkin.stages.differences.words import Wording, count_words, end_of_word, find_tokens, start_of_last_words


def mark_differences(
    text_a: str,
    text_b: str,
    *,
    context_words: int = 12,
    max_words: int = 20_000,
    max_run: int | None = None,
) -> tuple[Piece, ...]:
    """Find the words that two texts share, and the words that only one of them has, in reading order.

    Words are aligned as everywhere, see :mod:`.aligning`; capitals, invisible characters and lengths of blanks do not
    count. The common beginning and end of texts longer than ``max_words`` are cut off first.

    Parameters
    ----------
    context_words : int, default 12
        Words shown on either side of a difference; the rest of a shared stretch becomes a counted gap.
    max_words : int, default 20000
        Maximum number of words and punctuation characters that are compared. A gap marks a cut.
    max_run : int, optional
        Maximum length of a one-sided stretch in words; of a longer one both ends are shown. None: no limit.
    """
    _check("context_words", context_words, 0)
    _check("max_words", max_words, 1)
    if max_run is not None:
        _check("max_run", max_run, 2)
    fits = all(_end_of_tokens(text, max_words) == len(text.rstrip()) for text in (text_a, text_b))
    head, tail = (0, 0) if fits else _shared_ends(text_a, text_b)
    middle_a, middle_b = text_a[head : len(text_a) - tail], text_b[head : len(text_b) - tail]
    end_a, end_b = _end_of_tokens(middle_a, max_words), _end_of_tokens(middle_b, max_words)
    pieces = [Piece("equal", text_a[:head]), *_compare(Wording(middle_a[:end_a]), Wording(middle_b[:end_b]))]
    rest_a, rest_b = count_words(middle_a[end_a:]), count_words(middle_b[end_b:])
    if end_a < len(middle_a.rstrip()) or end_b < len(middle_b.rstrip()):
        pieces.append(
            Piece("gap", f"cut here: {counted(rest_a, 'more word')} of A and {rest_b:,} of B were not compared")
        )
    pieces.append(Piece("equal", text_a[len(text_a) - tail :]))
    return tuple(_collapsed(_joined(pieces), context_words, max_run))


def _check(parameter: str, value: object, least: int) -> None:
    check_int(parameter, value, least)


def _shared_ends(text_a: str, text_b: str) -> tuple[int, int]:
    """Count the characters of the common ends, cut where white space ends a word in both."""
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


def _end_of_tokens(text: str, number: int) -> int:
    return max((found.end() for found in islice(find_tokens(text), number)), default=0)


def _compare(a: Wording, b: Wording) -> Iterator[Piece]:
    at_a = at_b = 0
    for one in align(a, b).differences:
        start_a, start_b = max(at_a, one.span_a[0]), max(at_b, one.span_b[0])
        yield _shared(a.text, b.text, at_a, start_a, at_b)
        at_a, at_b = max(start_a, one.span_a[1]), max(start_b, one.span_b[1])
        yield Piece("only_a", _spaced(a.text, start_a, at_a))
        yield Piece("only_b", _spaced(b.text, start_b, at_b))
    yield _shared(a.text, b.text, at_a, len(a.text), at_b)


def _shared(text_a: str, text_b: str, start: int, end: int, start_b: int) -> Piece:
    """Return shared words, with a space before them if either side has one."""
    inner = " ".join(text_a[start:end].split())
    is_spaced = _is_spaced(text_a, start) or _is_spaced(text_b, start_b)
    return Piece("equal", f" {inner}" if inner and is_spaced else inner)


def _spaced(text: str, start: int, end: int) -> str:
    inner = " ".join(text[start:end].split())
    return f" {inner}" if inner and _is_spaced(text, start) else inner


def _is_spaced(text: str, place: int) -> bool:
    return text[max(0, place - 1) : place + 1].strip() != text[max(0, place - 1) : place + 1]


def _joined(pieces: list[Piece]) -> list[Piece]:
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
    hidden = count_words(piece.text) - first - last
    if hidden < MIN_HIDDEN:
        yield piece
        return
    if first:
        yield Piece(piece.kind, piece.text[: end_of_word(piece.text, first)])
    yield Piece("gap", f"{hidden:,} {what}")
    if last:
        yield Piece(piece.kind, piece.text[start_of_last_words(piece.text, last) :])
