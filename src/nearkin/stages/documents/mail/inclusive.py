"""Inclusive mails, which together contain every passage and every attachment of a thread.

A passage is a run of lines without an empty line between, all quoted equally often. Quote marks, white space, line
breaks, punctuation and attribution lines do not count; capitals do.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import groupby
from typing import Literal

import numpy as np

from nearkin.kernels.characters import ALONE, FORMAT, MARK, SPACE, character_classes

LinePart = Literal["new", "quoted", "attribution", "signature"]
_LONGEST_ATTRIBUTION = 400  # characters
_ATTRIBUTION_LINES = 3
_FOOTER_LINES = 8


@dataclass(slots=True)
class MailLine:
    """A line of a mail.

    Parameters
    ----------
    part : {"new", "quoted", "attribution", "signature"}
        An attribution says who wrote the quoted text that follows.
    """

    depth: int
    text: str
    part: LinePart = "new"


def mail_lines(text: str) -> list[MailLine]:
    """Return the lines of a mail with the part that each belongs to."""
    lines = [_line(line) for line in text.splitlines()]
    _mark_attributions(lines)
    _mark_earlier_mails(lines)
    _mark_signatures(lines)
    return lines


def _line(raw: str) -> MailLine:
    occurrence = QUOTE_MARKS.match(raw) if ">" in raw else None
    if occurrence is None:
        return MailLine(0, raw.strip())
    return MailLine(occurrence[0].count(">"), raw[occurrence.end() :].strip(), "quoted")


def _mark_attributions(lines: list[MailLine]) -> None:
    for i, line in enumerate(lines):
        if not line.text or len(line.text) > _LONGEST_ATTRIBUTION or line.part == "attribution":
            continue
        if SEPARATOR.fullmatch(line.text) or APPLE_FORWARD.fullmatch(line.text):
            line.part = "attribution"
        elif line.text[-1] in ":：" and (first := _start_of_attribution(lines, i)) is not None:
            for attribution in lines[first : i + 1]:
                attribution.part = "attribution"


def _start_of_attribution(lines: list[MailLine], last: int) -> int | None:
    follows = next((line for line in lines[last + 1 : last + 3] if line.text), None)
    is_quote_next = follows is not None and follows.depth > lines[last].depth
    for first in range(last, max(-1, last - _ATTRIBUTION_LINES), -1):
        if not lines[first].text or lines[first].depth != lines[last].depth:
            break
        joined = " ".join(line.text for line in lines[first : last + 1])
        if len(joined) > _LONGEST_ATTRIBUTION:
            break
        if HAS_OPENER.match(joined) and HAS_VERB.search(joined) and IS_DATED.search(joined):
            return first
    is_short = HAS_VERB.search(lines[last].text[-_LONGEST_ATTRIBUTION:])
    return last if is_quote_next and is_short else None


def _mark_earlier_mails(lines: list[MailLine]) -> None:
    """Mark everything after a separator, headers or an attribution without quote marks."""
    last_marked = max((i for i, line in enumerate(lines) if line.depth and line.text), default=-1)
    start = next(
        (i for i, line in enumerate(lines) if not line.depth and _begins_earlier_mail(lines, i, last_marked)), None
    )
    if start is not None and any(line.text and line.part == "new" for line in lines[:start]):
        for line in lines[start:]:
            if line.part == "new":
                line.part = "quoted"


def _begins_earlier_mail(lines: list[MailLine], i: int, last_marked: int) -> bool:
    if lines[i].part == "attribution":
        is_last_line = i + 1 == len(lines) or lines[i + 1].part != "attribution"
        is_explicit = SEPARATOR.fullmatch(lines[i].text) or APPLE_FORWARD.fullmatch(lines[i].text)
        return bool(is_explicit) or (is_last_line and last_marked < i)
    if not FROM_LINE.match(lines[i].text):
        return False
    block = [line for line in lines[i : i + 3] if line.text and HEADER_LINE.match(line.text)]
    return len(block) == 3


def _mark_signatures(lines: list[MailLine]) -> None:
    new_lines = [i for i, line in enumerate(lines) if line.part == "new" and not line.depth]
    if not new_lines:
        return
    marks = [i for i in new_lines if SIGNATURE_MARK.fullmatch(lines[i].text)]
    starts = marks[-1:]
    filled = [i for i in new_lines if lines[i].text]
    for back, i in enumerate(reversed(filled[-_FOOTER_LINES - 1 :])):
        if back and RULE.fullmatch(lines[i].text):
            if any(OF_A_LIST.search(lines[k].text) for k in filled[-back:]):
                starts.append(i)
            break
    if filled and SENT_FROM.fullmatch(lines[filled[-1]].text):
        starts.append(filled[-1])
    for start in starts:
        for line in lines[start:]:
            if line.part in ("quoted", "attribution"):
                break
            line.part = "signature"


_VERBS = (
    "wrote", "writes", "said", "schrieb", "schreibt", "geschrieben", "a écrit", "écrit", "escribió", "ha scritto",
    "scrisse", "escreveu", "schreef", "skrev", "kirjoitti", "napisał", "napisała", "napsal", "napsala", "napsal(a)",
    "написал", "написала", "пишет", "yazdı", "a írta", "írta", "写道", "寫道", "のメール", "님이 작성",
)  # fmt: skip
_OPENERS = ("on", "am", "le", "el", "il", "em", "op", "den", "dnia", "dne", "kl", "w dniu", "în", "at", "in")
_HEADERS = {
    "from": "from|von|de|da|van|från|fra|od|lähettäjä|från|отправитель|от|发件人|寄件者|差出人",
    "other": "sent|gesendet|envoyé|enviado|inviato|verzonden|skickat|sendt|wysłano|odesláno|date|datum|data|fecha|dato"
    "|to|an|à|para|a|aan|till|til|do|komu|cc|kopie|copie|subject|betreff|objet|asunto|oggetto|onderwerp|ämne|emne"
    "|temat|předmět|assunto|reply-to|importance|attachments|anlagen|дата|кому|тема|发送时间|收件人|主题|送信日時|宛先|件名",
}
_SEPARATED = (
    "original message", "original appointment", "forwarded message", "begin forwarded message", "forwarded by .*",
    "ursprüngliche nachricht", "weitergeleitete nachricht", "ursprüngliche mail", "message d'origine",
    "message transféré", "message original", "mensaje original", "mensaje reenviado", "messaggio originale",
    "messaggio inoltrato", "oorspronkelijk bericht", "doorgestuurd bericht", "originalmeddelande",
    "ursprungligt meddelande", "vidarebefordrat meddelande", "opprinnelig melding", "oprindelig meddelelse",
    "wiadomość oryginalna", "mensagem original", "mensagem encaminhada", "исходное сообщение", "邮件原件", "原始邮件",
)  # fmt: skip
_SENT_FROM = (
    "sent from my .*", "sent via .*", "get outlook for .*", "von meinem .* gesendet", "gesendet von .*",
    "envoyé de mon .*", "enviado desde mi .*", "inviato da .*", "verstuurd vanaf .*", "skickat från .*",
)  # fmt: skip

QUOTE_MARKS = re.compile(r"(?:[ \t]{0,3}(?:[A-Z]{2,4})?>[ \t]?){1,100}")
"""Quote marks at the beginning of a line, one per level; some programs put initials before them."""
HAS_VERB = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, _VERBS))})(?!\w)", re.IGNORECASE)
HAS_OPENER = re.compile(rf"\W{{0,3}}(?:{'|'.join(_OPENERS)})\b", re.IGNORECASE)
IS_DATED = re.compile(r"\d|@")
FROM_LINE = re.compile(rf"\W{{0,3}}(?:{_HEADERS['from']})\s{{0,2}}[:：]", re.IGNORECASE)
HEADER_LINE = re.compile(rf"\W{{0,3}}(?:{_HEADERS['from']}|{_HEADERS['other']})\s{{0,2}}[:：]", re.IGNORECASE)
SEPARATOR = re.compile(rf"-{{2,40}}\s{{0,3}}(?:{'|'.join(_SEPARATED)})\s{{0,3}}-{{2,40}}", re.IGNORECASE)
APPLE_FORWARD = re.compile(r"begin forwarded message\s{0,2}:", re.IGNORECASE)
SIGNATURE_MARK = re.compile(r"-- ?")
SENT_FROM = re.compile(rf"(?:{'|'.join(_SENT_FROM)})", re.IGNORECASE)
RULE = re.compile(r"\s{0,3}[-_=*~]{20,}\s*")
OF_A_LIST = re.compile(r"https?://|\bmailing list\b|\bunsubscribe\b|\barchives?\b|\bmailinglist\b", re.IGNORECASE)


GAP = "\f"
"""Mark for an attribution line, which no passage crosses; like line ends, it is in no word."""
_MARKUP = "<>|=~^`"
"""Symbols that mail programs add around links, emphasis and quotations; other symbols are words."""
_DRAWN = "-_=*~#.+|<> \t"


@dataclass(frozen=True, slots=True)
class MailWords:
    """Words of a mail, each with a line end after it, with `GAP` for attribution lines; ``starts`` are places of lines.

    Passages are written in the same way.
    """

    words: str
    starts: tuple[int, ...]
    passages: tuple[str, ...]
    quoted: tuple[str, ...] = ()

    def hold(self, passages: Iterable[str]) -> bool:
        """Whether all passages occur here, in this order."""
        position = 0
        for passage in passages:
            place = self.find(passage, position)
            if place is None:
                return False
            position = place + len(passage)
        return True

    def find(self, passage: str, position: int = 0) -> int | None:
        """Return the first place of whole lines after a position that are this passage; None if there is none."""
        while (line := bisect_left(self.starts, position)) < len(self.starts):
            place = self.words.find(passage, self.starts[line])
            if place < 0:
                break
            end = place + len(passage)
            if self._begins_line(place) and (self.words[end : end + 1] in ("", GAP) or self._begins_line(end)):
                return place
            position = place + 1
        return None

    def _begins_line(self, place: int) -> bool:
        line = bisect_left(self.starts, place)
        return line < len(self.starts) and self.starts[line] == place


def mail_words(text: str, *, is_new_text_only: bool = False) -> MailWords:
    """Return the words and passages of a mail; with ``is_new_text_only`` quoted text and signature are no passages."""
    lines = mail_lines(unicodedata.normalize("NFKC", text))
    words, starts = "", list[int]()
    passages, quoted = list[str](), list[str]()
    for (_, part), group in groupby(lines, key=_passage_key):
        if part == "attribution":
            words += GAP
            continue
        begin = len(words)
        for line in group:
            if line_words := words_of_line(line.text):
                starts.append(len(words))
                words += "\n".join([*line_words, ""])
        if (passage := words[begin:]) and (part == "new" or not is_new_text_only):
            passages.append(passage)
        elif passage and part == "quoted":
            quoted.append(passage)
    return MailWords(words, tuple(starts), tuple(passages), tuple(quoted))


def _passage_key(line: MailLine) -> tuple[int, str]:
    return (line.depth, line.part) if line.text else (-1, "empty")


def words_of_line(line: str) -> list[str]:
    """Return the words of a line; one of signs, such as "???", is a word, unless it is a drawn rule."""
    pattern, ignored = _word_pattern()
    words = pattern.findall(line if line.isascii() else line.translate(ignored))
    if words:
        return words
    signs = line.strip(_DRAWN)
    return [signs] if signs else []


@cache
def _word_pattern() -> tuple[re.Pattern[str], dict[int, None]]:
    classes = character_classes()
    is_between = np.array([unicodedata.category(chr(i))[0] in "PZC" for i in range(0x3000)])
    between = (classes == SPACE) | (classes == FORMAT)
    between[: len(is_between)] |= is_between
    for character in _MARKUP:
        between[ord(character)] = True
    for start, end in ((0x3000, 0x3004), (0x3008, 0x3021), (0xFE10, 0xFE70), (0xFF01, 0xFF10)):
        between[start:end] = True  # punctuation of East Asia
    alone, marks = _ranges(classes == ALONE), _ranges(classes == MARK)
    rest = _ranges(between | (classes == ALONE))
    pattern = re.compile(f"[{alone}][{marks}]*|[^{rest}]+")
    return pattern, dict.fromkeys(np.flatnonzero(classes == FORMAT).tolist())


def _ranges(mask: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> str:
    inside = np.flatnonzero(np.diff(np.concatenate(([False], mask, [False])).astype(np.int8)))
    return "".join(f"\\U{start:08x}-\\U{end - 1:08x}" for start, end in inside.reshape(-1, 2).tolist())


_N_WORDS = 4
_N_HELD = 1 << 11
Grams = frozenset[tuple[str, ...]]


class Quotations:
    """Shares of mails that other mails quote."""

    def __init__(self, text_of: Callable[[int], str]) -> None:
        self._grams = lru_cache(maxsize=_N_HELD)(lambda mail: _grams_of(text_of(mail)))

    def share(self, answer: int, earlier: int) -> float:
        """Return the share of the earlier mail's new text that the answer quotes, in [0, 1]."""
        quoted, _ = self._grams(answer)
        _, new = self._grams(earlier)
        return len(quoted & new) / max(1, len(new))


def _grams_of(text: str) -> tuple[Grams, Grams]:
    words: dict[LinePart, list[str]] = {"quoted": [], "new": []}
    for line in mail_lines(text):
        if line.part in words:
            words[line.part] += words_of_line(line.text)
    quoted, new = (
        frozenset(tuple(words[part][i : i + _N_WORDS]) for i in range(len(words[part]) - _N_WORDS + 1))
        for part in ("quoted", "new")
    )
    return quoted, new


InclusiveReason = Literal["message", "attachment", "not read"]
REASONS: tuple[InclusiveReason, ...] = ("message", "attachment", "not read")
"""Reasons for which a mail is inclusive: a passage of it occurs in no later mail; its passages do, but an
attachment does not; its text, or a part of it, could not be read."""


@dataclass(frozen=True, slots=True)
class MailContent:
    """Words and attachments (SHA-256) of a mail, for comparison with other mails of its thread."""

    words: MailWords
    attachments: frozenset[str] = frozenset()
    is_read: bool = True


@dataclass(frozen=True, slots=True)
class InclusionVerdict:
    """Whether a mail is inclusive.

    Parameters
    ----------
    quotes_more
        Whether the mail is not inclusive, and a quoted passage that was not looked for there is in no inclusive
        mail of its thread.
    """

    reason: InclusiveReason | None
    included_in: int | None = None
    quotes_more: bool | None = False


_N_KEY_WORDS = 5


def judge_inclusion(mails: Sequence[MailContent]) -> list[InclusionVerdict]:
    """Judge each mail of a thread, without duplicate spares; the earliest first, each after the one that it answers.

    A mail is not inclusive if every passage of it stands, in its order, in one later mail that is inclusive, and each
    of its attachments is at that mail too. Of several mails that hold a mail, the latest is named.
    """
    by_first, inclusive = dict[str, list[int]](), list[int]()
    """Mails by the first words of each line, and all, the latest first."""
    verdicts = list[InclusionVerdict]()

    def candidates(passages: Iterable[str]) -> list[int]:
        return min((by_first.get(_beginnings(passage)[-1], []) for passage in passages), key=len, default=inclusive)

    def judged(mail: MailContent) -> InclusionVerdict:
        if not mail.is_read:
            return InclusionVerdict("not read")
        reason: InclusiveReason = "message"
        for other in candidates(mail.words.passages):
            if mails[other].words.hold(mail.words.passages):
                if mail.attachments <= mails[other].attachments:
                    return InclusionVerdict(None, other)
                reason = "attachment"
        return InclusionVerdict(reason)

    for number in range(len(mails) - 1, -1, -1):
        verdicts.append(judged(mails[number]))
        if verdicts[-1].reason is not None:
            inclusive.append(number)
            words = mails[number].words
            for first in {first for start in words.starts for first in _beginnings(words.words, start)}:
                by_first.setdefault(first, []).append(number)
    return [
        verdict
        if verdict.reason is not None
        else replace(
            verdict,
            quotes_more=not all(
                any(mails[other].words.find(passage) is not None for other in candidates([passage]))
                for passage in mail.words.quoted
            ),
        )
        for mail, verdict in zip(mails, reversed(verdicts), strict=True)
    ]


def _beginnings(words: str, start: int = 0) -> list[str]:
    """Return the first word from a place, the first two, and so on to five: many mails begin with the same one."""
    ends = [start]
    while len(ends) <= _N_KEY_WORDS and (end := words.find("\n", ends[-1]) + 1):
        ends.append(end)
    return [words[start:end] for end in ends[1:]]
