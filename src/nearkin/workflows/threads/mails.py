"""Batches of documents → mails with their headers, their attachments, and their texts in a spool."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from nearkin.errors import SourceError
from nearkin.nouns import counted
from nearkin.records import I64
from nearkin.runs.progress import Progress
from nearkin.runs.spool import Spool
from nearkin.stages.documents.mail.inclusive import originals_of
from nearkin.stages.documents.mail.threads import NamedMail, copy_key
from nearkin.stages.documents.members import MailHeaders, Origin
from nearkin.stages.documents.normalisation import AS_IT_CAME
from nearkin.stages.documents.preparing import ORIGIN, PARENT
from nearkin.workflows.dedup.row_places import Origins, find_origins
from nearkin.workflows.reading.texts import TextBatch, Texts, check_readable


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    row: int
    key: tuple[int, str]
    headers: MailHeaders
    digest: bytes
    is_read: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadMails:
    """All mails that are not attached to others, in reading order.

    Parameters
    ----------
    attachments
        SHA-256 of all that is inside each mail, without technical attachments.
    original
        Number of the mail of which each one is a spare, see `_copy_key`; that of the mail itself, if it is no spare.
    documents
        Everything that was read: ``id``, ``name``, ``line``, ``problem``, ``source``, ``parent``.
    """

    mails: list[NamedMail]
    rows: I64
    attachments: list[frozenset[str]]
    is_read: list[bool]
    original: list[int]
    documents: pa.Table
    origins: Origins | None
    n_inside: int
    n_by_source: list[int]
    n_unreadable: int

    @property
    def order(self) -> list[int]:
        """Numbers of the mails, the earliest first."""
        return sorted(range(len(self.mails)), key=lambda number: self.mails[number].order)


class MailReader:
    """Reader of batches, which keeps the data of each document that threads need."""

    def __init__(self, texts: Texts, spool: Spool, origins: Spool) -> None:
        self._texts, self._spool, self._origins = texts, spool, origins
        self._found: list[_Found] = []
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
                self._found.append(_mail(first + i, (source, ids[i]), row, text))
                chosen.append(i)
        if chosen:
            self._spool.write(0, number, pa.record_batch([prepared["text"].take(pa.array(chosen))], names=["text"]))

    def _joined(self, n_by_source: list[int]) -> ReadMails:
        parents = pa.chunked_array(self._parents, pa.large_string())
        documents = self._texts.documents(self._facts).append_column("parent", parents)
        rows = np.array([one.row for one in self._found], np.int64)
        names = documents["name"].combine_chunks().take(pa.array(rows)).to_pylist()
        mails = [NamedMail(name, one.headers) for name, one in zip(names, self._found, strict=True)]
        attachments = [frozenset(filter(None, self._inside.get(one.key, ()))) for one in self._found]
        order = sorted(range(len(mails)), key=lambda number: mails[number].order)
        keys = [_copy_key(one, inside) for one, inside in zip(self._found, attachments, strict=True)]
        return ReadMails(
            mails=mails,
            rows=rows,
            attachments=attachments,
            is_read=[one.is_read for one in self._found],
            original=originals_of(keys, sorted(order, key=lambda number: mails[number].headers.bcc is None)),
            documents=documents,
            origins=find_origins(self._origins.chunks()),
            n_inside=sum(len(self._inside.get(one.key, ())) for one in self._found),
            n_by_source=n_by_source,
            n_unreadable=sum(len(some) - some["problem"].null_count for some in self._facts),
        )


def _mail(row: int, key: tuple[int, str], origin: Mapping[str, Any], text: str | None) -> _Found:
    told = origin["sha256"] if text is None else " ".join(text.split())
    headers = Origin.of_row(origin).mail or MailHeaders()
    return _Found(
        row=row,
        key=key,
        headers=headers,
        digest=hashlib.sha256(told.encode()).digest(),
        is_read=text is not None and origin["exception"] is None,
    )


def _no_mail(n_documents: int, n_without: int) -> SourceError:
    return SourceError(
        f"There is no mail among {counted(n_documents, 'document')}, of which {n_without:,} gave no text. "
        "nearkin threads takes mails with their headers: EML, MBOX and MSG files, and folders and archives of these."
    )


def _copy_key(mail: _Found, attachments: frozenset[str]) -> bytes:
    """Return a key that two mails share if one is a duplicate spare of the other."""
    headers = copy_key(mail.headers) or replace(mail.headers, bcc=None)
    told = (headers, mail.digest, mail.is_read, sorted(attachments))
    return hashlib.sha256(repr(told).encode("utf-8", "backslashreplace")).digest()
