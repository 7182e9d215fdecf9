"""Batches of documents → mails with their headers, their attachments, and their texts in a spool."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from nearkin.errors import SourceError
from nearkin.nouns import counted
from nearkin.runs.progress import Progress
from nearkin.runs.spool import Spool, gathered
from nearkin.stages.documents.mail.threads import NamedMail, copy_key
from nearkin.stages.documents.members import MailHeaders, Origin
from nearkin.stages.documents.normalisation import AS_IT_CAME
from nearkin.stages.documents.preparing import ORIGIN, PARENT
from nearkin.workflows.dedup.row_places import Origins, find_origins
from nearkin.workflows.reading.texts import TextBatch, Texts, check_readable


@dataclass(frozen=True, slots=True, kw_only=True)
class Mail(NamedMail):
    """A mail that is not attached to another; ``text`` is its number in the spool.

    Parameters
    ----------
    family
        Number of the source, and id.
    digest
        SHA-256 of its words.
    attachments
        SHA-256 of all that is inside it, without technical attachments.
    spares
        Mails with the same headers, words and attachments, the earliest first.
    """

    row: int
    text: int
    family: tuple[int, str]
    digest: bytes
    is_read: bool
    attachments: frozenset[str] = frozenset()
    spares: tuple[Mail, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadMails:
    """Mails without the duplicate spares, and everything that was read.

    Parameters
    ----------
    documents
        ``id``, ``name``, ``line``, ``problem``, ``source``, ``parent``.
    """

    mails: list[Mail]
    texts: pa.ChunkedArray
    documents: pa.Table
    origins: Origins | None
    n_inside: int
    n_by_source: list[int]
    n_unreadable: int

    def text_of(self, mail: Mail) -> str:
        """Return the text of a mail; empty if it has none."""
        return self.texts[mail.text].as_py() or ""

    @property
    def with_spares(self) -> list[Mail]:
        """All mails, each with its spares."""
        return [one for mail in self.mails for one in (mail, *mail.spares)]


class MailReader:
    """Reader of batches, which keeps the data of each document that threads need."""

    def __init__(self, texts: Texts, spool: Spool, origins: Spool) -> None:
        self._texts, self._spool, self._origins = texts, spool, origins
        self._found: list[Mail] = []
        self._inside: dict[tuple[int, str], list[str | None]] = {}
        self._facts: list[pa.RecordBatch] = []
        self._parents: list[pa.LargeStringArray] = []
        self._n_rows = 0

    def read(self, progress: Progress) -> ReadMails:
        """Read all documents."""
        n_sources = len(self._texts.places)
        counts = np.zeros(n_sources, np.int64)
        for number, raw in enumerate(self._texts.raw_batches(progress)):
            batch = self._texts.prepare(raw, AS_IT_CAME)
            self._take(number, batch)
            prepared = batch.prepared
            own = {name: prepared[name] for name in (PARENT, ORIGIN) if name in prepared.schema.names}
            self._origins.write(0, number, pa.record_batch({"line": prepared["line"], **own}))
            self._facts.append(self._texts.facts(batch))
            self._parents.append(own.get(PARENT, pa.nulls(prepared.num_rows, pa.large_string())))
            counts += np.bincount(batch.sources, minlength=n_sources)
        check_readable(self._facts, self._texts.rules)
        if not self._found:
            raise _no_mail(self._n_rows, sum(not one.is_partial for one in self._texts.exceptions))
        return self._joined(counts.tolist())

    def _take(self, number: int, batch: TextBatch) -> None:
        prepared, chosen = batch.prepared, list[int]()
        first, self._n_rows = self._n_rows, self._n_rows + prepared.num_rows
        if ORIGIN not in prepared.schema.names:
            return
        ids, problems = prepared["doc_id"].to_pylist(), prepared["problem"].to_pylist()
        for i, row in enumerate(prepared[ORIGIN].to_pylist()):
            if row is None:
                continue
            source, family = int(batch.sources[i]), row["family"]
            if family is not None and family != ids[i]:
                compared = None if row["exception"] == "technical" else row["sha256"] or f"unread {first + i}"
                self._inside.setdefault((source, family), []).append(compared)
            elif row["mail"] is not None:
                text = None if problems[i] is not None else prepared["text"][i].as_py()
                told = row["sha256"] if text is None else " ".join(text.split())
                mail = Mail(
                    name="", headers=Origin.of_row(row).mail or MailHeaders(), row=first + i, text=len(self._found),
                    family=(source, ids[i]), digest=hashlib.sha256(told.encode()).digest(),
                    is_read=text is not None and row["exception"] is None,
                )  # fmt: skip
                self._found.append(mail)
                chosen.append(i)
        if chosen:
            self._spool.write(0, number, pa.record_batch([prepared["text"].take(pa.array(chosen))], names=["text"]))

    def _joined(self, n_by_source: list[int]) -> ReadMails:
        parents = pa.chunked_array(self._parents, pa.large_string())
        documents = self._texts.documents(self._facts).append_column("parent", parents)
        names = documents["name"].combine_chunks().take(pa.array([one.row for one in self._found])).to_pylist()
        same = dict[bytes, list[Mail]]()
        for name, found in zip(names, self._found, strict=True):
            inside = frozenset(filter(None, self._inside.get(found.family, ())))
            mail = replace(found, name=name, attachments=inside)
            same.setdefault(_copy_key(mail), []).append(mail)
        mails = list[Mail]()
        for copies in same.values():
            copies.sort(key=lambda mail: mail.order)
            original = min(copies, key=lambda mail: mail.headers.bcc is None)  # the first with a Bcc, else the first
            mails.append(replace(original, spares=tuple(one for one in copies if one is not original)))
        return ReadMails(
            mails=mails,
            texts=pa.chunked_array(gathered(self._spool.chunks(), "text"), pa.large_string()),
            documents=documents,
            origins=find_origins(self._origins.chunks()),
            n_inside=sum(len(self._inside.get(one.family, ())) for one in self._found),
            n_by_source=n_by_source,
            n_unreadable=sum(len(some) - some["problem"].null_count for some in self._facts),
        )


def _no_mail(n_documents: int, n_without: int) -> SourceError:
    return SourceError(
        f"There is no mail among {counted(n_documents, 'document')}, of which {n_without:,} gave no text. "
        "nearkin threads takes mails with their headers: EML, MBOX and MSG files, and folders and archives of these."
    )


def _copy_key(mail: Mail) -> bytes:
    """Return a key that two mails share if one is a duplicate spare of the other."""
    headers = copy_key(mail.headers) or replace(mail.headers, bcc=None)
    told = (headers, mail.digest, mail.is_read, sorted(mail.attachments))
    return hashlib.sha256(repr(told).encode("utf-8", "backslashreplace")).digest()
