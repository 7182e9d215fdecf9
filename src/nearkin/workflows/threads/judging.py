"""Trees of mails → rows of ``threads.parquet``: the place of each mail, whether it is inclusive."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import groupby
from typing import Any

import pyarrow as pa

from nearkin.options.families import MailOptions
from nearkin.runs.progress import Progress
from nearkin.runs.spool import Chunk, gathered
from nearkin.stages.documents.mail.inclusive import (
    InclusionVerdict,
    InclusiveReason,
    MailContent,
    MailWords,
    Quotations,
    WordNumbers,
    judge_inclusion,
    mail_words,
)
from nearkin.stages.documents.mail.threads import (
    NamedMail,
    ThreadNode,
    base_subject,
    reading_order,
    thread_mails,
)
from nearkin.stages.documents.members import MailHeaders
from nearkin.workflows.threads.mails import ReadMails

_NO_WORDS = MailWords((), (), ())


Row = Mapping[str, Any]
"""Row of ``threads.parquet``, without the columns that repeat those of documents."""


class Threading:
    """Threads of mails that were read."""

    def __init__(self, read: ReadMails, options: MailOptions, chunks: Sequence[Chunk]) -> None:
        self._texts = pa.chunked_array(gathered(chunks, "text"), pa.large_string())
        self._read, self._options = read, options
        firsts = [number for number, first in enumerate(read.original) if number == first]
        self._numbers = firsts
        """Number among all mails of each mail that is no spare."""
        self._spares: dict[int, list[int]] = {}
        for number in read.order:
            if read.original[number] != number:
                self._spares.setdefault(read.original[number], []).append(number)
        of_spares = {first: tuple(read.mails[one].headers for one in some) for first, some in self._spares.items()}
        self._mails: Sequence[NamedMail] = [
            replace(read.mails[number], of_spares=of_spares.get(number, ())) for number in firsts
        ]
        quotations = Quotations(lambda mail: self._text(firsts[mail]))
        self.nodes = thread_mails(self._mails, timedelta(days=options.window_days), quotations)

    def _text(self, number: int) -> str:
        return str(self._texts[number].as_py())

    def rows(self, progress: Progress) -> Iterator[list[Row]]:
        """Yield the rows of each thread, in the order of its tree."""
        for _, some in groupby(self.nodes, key=lambda node: node.thread):
            nodes = list(some)
            verdicts = self._verdicts(nodes)
            size = sum(1 + len(self._spares.get(self._numbers[mail], ())) for mail in verdicts)
            found = [row for node in nodes for row in self._of_node(node, nodes, size, verdicts)]
            yield found
            progress.advance(sum(not row["is_missing"] for row in found))

    def _verdicts(self, nodes: Sequence[ThreadNode]) -> dict[int, InclusionVerdict]:
        order = reading_order(nodes, self._mails, self._size_of)
        contents, vocabulary = list[MailContent](), WordNumbers()
        for mail in order:
            number = self._numbers[mail]
            words = _NO_WORDS
            if len(order) > 1:
                words = mail_words(self._text(number), vocabulary, is_new_text_only=self._options.new_text_only)
            contents.append(MailContent(words, self._read.attachments[number], self._read.is_read[number]))
        return {
            mail: replace(verdict, included_in=None if verdict.included_in is None else order[verdict.included_in])
            for mail, verdict in zip(order, judge_inclusion(contents), strict=True)
        }

    def _size_of(self, mail: int) -> tuple[int, int]:
        number = self._numbers[mail]
        return len(self._read.attachments[number]), len(self._text(number))

    def _of_node(
        self, node: ThreadNode, nodes: Sequence[ThreadNode], size: int, verdicts: dict[int, InclusionVerdict]
    ) -> Iterator[Row]:
        if node.mail is None:
            yield self._row(node, nodes, size, None, None, None)
            return
        for mail in node.mails:
            verdict, number = verdicts[mail], self._numbers[mail]
            name = None if verdict.included_in is None else self._mails[verdict.included_in].name
            quotes_more = verdict.quotes_more if self._options.new_text_only else None
            yield self._row(node, nodes, size, number, verdict.reason, name, quotes_more)
            for spare in self._spares.get(number, ()):
                yield self._row(node, nodes, size, spare, None, name or self._mails[mail].name)

    def _row(
        self, node: ThreadNode, nodes: Sequence[ThreadNode], size: int, number: int | None,
        reason: InclusiveReason | None, included_in: str | None, quotes_more: bool | None = None,
    ) -> Row:  # fmt: skip
        above = None if node.parent is None else nodes[node.parent - 1]
        row: Row = {
            "thread": node.thread, "thread_size": size, "position": node.position, "depth": node.depth,
            "is_missing": number is None, "message_id": node.message_id, "linked_by": node.source,
            "parent_mail": None if above is None or above.mail is None else self._mails[above.mail].name,
            "parent_message_id": None if above is None else above.message_id,
        }  # fmt: skip
        if number is None:
            return row
        mail = self._read.mails[number]
        is_spare = self._read.original[number] != number
        same = [self._read.mails[one] for one in (number, *(() if is_spare else self._spares.get(number, ())))]
        parent = None if above is None or above.mail is None else self._mails[above.mail].headers
        return {
            **row,
            "name": mail.name, "row": int(self._read.rows[number]), "subject": mail.headers.subject,
            "sender": mail.headers.sender, "sent_at": mail.headers.sent_at,
            "n_attachments": len(self._read.attachments[number]), "is_inclusive": reason is not None, "reason": reason,
            "is_duplicate_spare": is_spare, "included_in": included_in, "quotes_more": quotes_more,
            "bcc": ", ".join(dict.fromkeys(one.headers.bcc for one in same if one.headers.bcc)) or None,
            "all_places": None if is_spare else [one.name for one in same],
            "is_other_subject": node.source == "headers" and parent is not None and _differ(mail.headers, parent),
            "edrm_mih": edrm_hash(mail.headers.message_id),
        }  # fmt: skip


def _differ(answer: MailHeaders, mail: MailHeaders) -> bool:
    own, other = base_subject(answer.subject).text, base_subject(mail.subject).text
    return bool(own and other) and own != other


def edrm_hash(message_id: str | None) -> str | None:
    """Return the EDRM Message Identification Hash, by which tools of review recognise copies of a mail.

    Source: EDRM, Cross Platform Email Duplicate Identification Specification: MD5 of the Message-ID with its brackets.

    Examples
    --------
    >>> edrm_hash("CALckR-a8UDkRjO4xJyjd_s0GPxQWw@mail.gmail.com"), edrm_hash(None)
    ('1de319c276884bd0c9e2f1621ada26cc', None)
    """
    if message_id is None:
        return None
    return hashlib.md5(f"<{message_id}>".encode("utf-8", "backslashreplace"), usedforsecurity=False).hexdigest()
