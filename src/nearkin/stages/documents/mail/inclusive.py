"""Inclusive mails, which together contain every passage and every attachment of a thread."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from nearkin.stages.documents.mail.passages import N_KEY_WORDS, MailWords, PassagePlaces

InclusiveReason = Literal["message", "attachment", "not read"]
REASONS: tuple[InclusiveReason, ...] = ("message", "attachment", "not read")
"""Reasons for which a mail is inclusive: a passage of it occurs in no later mail; its passages do, but an
attachment does not; its text, or a part of it, could not be read."""


@dataclass(frozen=True, slots=True)
class MailContent:
    """Words and attachments of a mail, for comparison with other mails of its thread.

    Parameters
    ----------
    words : MailWords
    attachments : frozenset of str
        SHA-256 of each.
    is_read : bool
        Whether all of its text could be read.
    """

    words: MailWords
    attachments: frozenset[str] = frozenset()
    is_read: bool = True


@dataclass(frozen=True, slots=True)
class InclusionVerdict:
    """Whether a mail is inclusive.

    Parameters
    ----------
    reason : {"message", "attachment", "not read"} or None
        None if the mail is not inclusive.
    included_in : int or None
        Number of an inclusive mail that holds all of it.
    quotes_more : bool
        Whether the mail is not inclusive, and a quoted passage that was not looked for there is in no inclusive
        mail of its thread.
    """

    reason: InclusiveReason | None
    included_in: int | None = None
    quotes_more: bool = False


def judge_inclusion(mails: Sequence[MailContent]) -> list[InclusionVerdict]:
    r"""Judge each mail of a thread.

    A mail is not inclusive if every passage of it stands, in its order, in one later mail that is inclusive, and each
    of its attachments is at that mail too. So every passage and every attachment is at some inclusive mail.

    Parameters
    ----------
    mails : sequence of MailContent
        The earliest first; a mail comes after the one that it answers. Without duplicate spares.

    Returns
    -------
    list of InclusionVerdict
        Of several mails that hold a mail, the latest is named.

    Examples
    --------
    >>> from nearkin.stages.documents.mail.passages import WordNumbers, mail_words
    >>> numbers = WordNumbers()
    >>> texts = "Is the mill sold?", "No, it is let.\n> Is the mill sold?", "Let to whom?"
    >>> verdicts = judge_inclusion([MailContent(mail_words(text, numbers)) for text in texts])
    >>> [(one.reason, one.included_in) for one in verdicts]
    [(None, 1), ('message', None), ('message', None)]
    """
    index, verdicts = _LineIndex(), list[InclusionVerdict]()
    for number in range(len(mails) - 1, -1, -1):
        verdict = _judged(mails[number], mails, index)
        if verdict.reason is not None:
            index.add(number, mails[number].words)
        verdicts.append(verdict)
    return [
        verdict if verdict.reason is not None else replace(verdict, quotes_more=not index.hold_each(mail.words.quoted))
        for mail, verdict in zip(mails, reversed(verdicts), strict=True)
    ]


def _judged(mail: MailContent, mails: Sequence[MailContent], index: _LineIndex) -> InclusionVerdict:
    if not mail.is_read:
        return InclusionVerdict("not read")
    reason: InclusiveReason = "message"
    for other in index.candidates(mail.words.passages):
        if index.places[other].hold(mail.words.passages):
            if mail.attachments <= mails[other].attachments:
                return InclusionVerdict(None, other)
            reason = "attachment"
    return InclusionVerdict(reason)


class _LineIndex:
    """Inclusive mails by the words at the beginnings and at the ends of their lines."""

    def __init__(self) -> None:
        self.places: dict[int, PassagePlaces] = {}
        self._by_first: dict[tuple[int, ...], list[int]] = {}
        self._by_last: dict[tuple[int, ...], list[int]] = {}

    def add(self, number: int, mail: MailWords) -> None:
        """Add a mail; numbers descend."""
        places = self.places[number] = PassagePlaces(mail)
        for key in places.first_words():
            self._by_first.setdefault(key, []).append(number)
        for key in places.last_words():
            self._by_last.setdefault(key, []).append(number)

    def hold_each(self, passages: Iterable[tuple[int, ...]]) -> bool:
        """Whether each passage occurs in some mail."""
        return all(
            any(self.places[mail].find(one, 0) is not None for mail in self.candidates([one])) for one in passages
        )

    def candidates(self, passages: Sequence[tuple[int, ...]]) -> list[int]:
        """Return the mails that contain the rarest beginning or end of a passage, the latest first."""
        if not passages:
            return list(self.places)
        found = [self._by_first.get(passage[:N_KEY_WORDS], []) for passage in passages]
        found += [self._by_last.get(passage[-N_KEY_WORDS:], []) for passage in passages]
        return min(found, key=lambda mails: len(mails))


def originals_of(keys: Sequence[bytes], order: Iterable[int]) -> list[int]:
    """Return for each mail the first mail with the same key: itself unless it is a duplicate spare.

    Parameters
    ----------
    keys : sequence of bytes
        Equal for mails with equal text, headers and attachments.
    order : iterable of int
        Numbers of the mails, the earliest first.

    Examples
    --------
    >>> originals_of([b"x", b"y", b"x"], [2, 0, 1])
    [2, 1, 2]
    """
    first: dict[bytes, int] = {}
    for number in order:
        first.setdefault(keys[number], number)
    return [first[key] for key in keys]
