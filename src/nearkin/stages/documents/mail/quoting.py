"""New text of a mail apart from quoted text, attribution lines and signature, by plain rules."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

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
    lines = [_line(one) for one in text.splitlines()]
    _mark_attributions(lines)
    _mark_earlier_mails(lines)
    _mark_signatures(lines)
    return lines


def _line(raw: str) -> MailLine:
    found = QUOTE_MARKS.match(raw) if ">" in raw else None
    if found is None:
        return MailLine(0, raw.strip())
    return MailLine(found[0].count(">"), raw[found.end() :].strip(), "quoted")


def _mark_attributions(lines: list[MailLine]) -> None:
    """Mark lines such as "On Monday, Ada wrote:", up to three."""
    for i, line in enumerate(lines):
        if not line.text or len(line.text) > _LONGEST_ATTRIBUTION or line.part == "attribution":
            continue
        if SEPARATOR.fullmatch(line.text) or APPLE_FORWARD.fullmatch(line.text):
            line.part = "attribution"
        elif line.text[-1] in ":：" and (first := _start_of_attribution(lines, i)) is not None:
            for one in lines[first : i + 1]:
                one.part = "attribution"


def _start_of_attribution(lines: list[MailLine], last: int) -> int | None:
    follows = next((one for one in lines[last + 1 : last + 3] if one.text), None)
    is_quote_next = follows is not None and follows.depth > lines[last].depth
    for first in range(last, max(-1, last - _ATTRIBUTION_LINES), -1):
        if not lines[first].text or lines[first].depth != lines[last].depth:
            break
        joined = " ".join(one.text for one in lines[first : last + 1])
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
    """Mark the lines after "-- ", footers of mailing lists, and "Sent from my …"."""
    own = [i for i, line in enumerate(lines) if line.part == "new" and not line.depth]
    if not own:
        return
    marks = [i for i in own if SIGNATURE_MARK.fullmatch(lines[i].text)]
    starts = marks[-1:]
    filled = [i for i in own if lines[i].text]
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
