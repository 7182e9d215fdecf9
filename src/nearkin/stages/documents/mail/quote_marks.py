"""Lines that introduce quoted text, and lines below which a signature stands, in several languages."""

from __future__ import annotations

import re

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
