"""The passage of a text that has the most of the words that were searched for."""

from __future__ import annotations

from collections.abc import Sequence

from nearkin.collection.word_search.results import SnippetPiece
from nearkin.collection.word_search.terms import MetTerm
from nearkin.collection.word_search.tokens import spans_of
from nearkin.stages.differences.passages import LONGEST_WORD

_WORDS = 24
_WORDS_BEFORE = 6
_GAP = "…"


def snippet(text: str, tokens: Sequence[str], met: Sequence[MetTerm]) -> tuple[SnippetPiece, ...]:
    r"""Return a passage with the words marked, in one line.

    Parameters
    ----------
    text : str
    tokens : sequence of str
        Its words.
    met : sequence of (int, int, int)
        Where the terms of the query begin, as `WordQuery.met_in` returns it for the text.

    Examples
    --------
    >>> from nearkin.collection.word_search.terms import parse_words
    >>> from nearkin.collection.word_search.tokens import tokens_of
    >>> text = "The rent is\ndue today."
    >>> tokens = tokens_of([text])
    >>> (words,), (met,) = tokens.by_text(), parse_words("rent du*").met_in(tokens)
    >>> [piece.text for piece in snippet(text, words, met) if piece.is_match]
    ['rent', 'due']
    """
    spans = spans_of(text, tokens)
    if spans is None or not len(spans):
        return _joined([SnippetPiece(text[: _WORDS * LONGEST_WORD], False)])
    first = _best_start(met)
    low = max(0, min(first - _WORDS_BEFORE, len(spans) - _WORDS))
    high = min(len(spans), low + _WORDS)
    marked = {place for start, n, _ in met for place in range(start, start + n)}
    near = spans[low:high].tolist()
    start = 0 if low == 0 else near[0][0]
    end = len(text) if high == len(spans) else near[-1][1]
    start = max(start, near[first - low][0] - _WORDS_BEFORE * LONGEST_WORD)
    end = min(end, start + _WORDS * LONGEST_WORD)
    pieces = _pieces(text, [own for place, own in enumerate(near, low) if place in marked], start, end)
    if start > 0:
        pieces.insert(0, SnippetPiece(_GAP, False))
    if end < len(text):
        pieces.append(SnippetPiece(_GAP, False))
    return _joined(pieces)


def _best_start(matches: Sequence[MetTerm]) -> int:
    """Return the match after which the most different terms follow within a passage; the first of several."""
    best, n_best, low = 0, 0, 0
    here = dict[int, int]()
    for place, _, number in matches:
        here[number] = here.get(number, 0) + 1
        while matches[low][0] <= place - (_WORDS - _WORDS_BEFORE):
            gone = matches[low][2]
            here[gone] -= 1
            if not here[gone]:
                del here[gone]
            low += 1
        if len(here) > n_best:
            best, n_best = matches[low][0], len(here)
    return best


def _pieces(text: str, marked: Sequence[Sequence[int]], start: int, end: int) -> list[SnippetPiece]:
    """Return the text between two places, with marked words; words of a phrase are marked one by one."""
    pieces, at = list[SnippetPiece](), start
    for low, high in marked:
        if low < at or low >= end:
            continue
        pieces += [SnippetPiece(text[at:low], False), SnippetPiece(text[low : min(high, end)], True)]
        at = min(high, end)
    return [*pieces, SnippetPiece(text[at:end], False)]


def _joined(pieces: Sequence[SnippetPiece]) -> tuple[SnippetPiece, ...]:
    """Return the pieces in one line: white space is a single space."""
    lines = [SnippetPiece(_line(piece.text) if piece.text.strip() else " " * bool(piece.text), piece.is_match)
             for piece in pieces]  # fmt: skip
    lines = [one for one in lines if one.text]
    if lines and not lines[0].is_match:
        lines[0] = SnippetPiece(lines[0].text.lstrip(), False)
    if lines and not lines[-1].is_match:
        lines[-1] = SnippetPiece(lines[-1].text.rstrip(), False)
    return tuple(one for one in lines if one.text)


def _line(text: str) -> str:
    """Collapse white space, and keep a single space at either end."""
    before, after = text[:1].isspace(), text[-1:].isspace()
    return " " * before + " ".join(text.split()) + " " * after
