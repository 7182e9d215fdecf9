"""Families of near-duplicates in files: from arguments on a command line to a directory of results."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearkin.manifests.dedup import DedupManifest, FamilyCounts
from nearkin.records import F64, I64, U32, U64, Matches
from nearkin.reports.families import Kin
from nearkin.runs.progress import Progress
from nearkin.runs.spool import Spool, gathered
from nearkin.stages.differences.particulars import Original
from nearkin.stages.differences.relations import COPY, N_SHOWN, MemberComparison, compare
from nearkin.stages.documents.normalisation import AS_IT_CAME, prepare
from nearkin.workflows.dedup.corpus import READABLE
from nearkin.workflows.dedup.files import RunResult
from nearkin.workflows.dedup.job import Result
from nearkin.workflows.dedup.outcome import NO_ROW
from nearkin.workflows.dedup.reporting import first_problems
from nearkin.workflows.families.tables import PageKin, render_page, write_families
from nearkin.workflows.reading.rereading import Reread, changed_while_read


class FamiliesEnding:
    """Tables and page of ``nearkin families``."""

    command = "families"

    def __init__(self) -> None:
        self._page = PageKin()

    def write(self, result: RunResult) -> FamilyCounts:
        """Write ``families.csv`` and ``families.parquet``."""
        members = Members.of(result.result)
        original = read_originals(result, members.to_read())
        kin = self._page.passing(_all_kin(result, members, original))
        write_families(result.run.results, kin, result.result.places.own_ids.type)
        n_alone = int((result.result.corpus.status == READABLE).sum()) - len(members.rows)
        return FamilyCounts(len(members.principals), len(members.rows), n_alone, self._page.all_relations())

    def render(self, result: RunResult, manifest: DedupManifest) -> str:
        """Return ``report.html``."""
        places = result.result.places
        return render_page(
            manifest,
            self._page,
            problems=first_problems(places),
            exceptions=places.exceptions,
        )


def _all_kin(result: RunResult, members: Members, original: Callable[[int], str]) -> Iterator[Kin]:
    with result.run.stage("compare", len(members.rows), "documents") as progress:
        for number in range(len(members.principals)):
            yield from _family(result, members, original, number, progress)


def _family(
    result: RunResult, members: Members, original: Callable[[int], str], number: int, progress: Progress
) -> Iterator[Kin]:
    places, outcome = result.result.places, result.result.judged.outcome
    principal = int(members.principals[number])
    rows = members.rows_of(number)
    ids, names = places.id_at(rows).to_pylist(), places.names_at(rows)
    inside, holding = members.containments(rows, principal)
    compared: dict[str, MemberComparison] = {}
    text: Original | None = None
    for i, row in enumerate(rows.tolist()):
        comparison = None if row == principal else COPY
        if row != principal and outcome.copy_of[row] != principal:
            text = text or Original(original(principal))
            other = original(row)
            if other not in compared:
                compared[other] = compare(text, Original(other), n_shown=N_SHOWN)
            comparison = compared[other]
        yield Kin(
            family=number + 1,
            family_size=len(rows),
            principal=ids[0],
            doc_id=ids[i],
            name=names[i],
            row=row,
            source=places.source_names[int(places.source[row])],
            line=int(places.line[row]),
            similarity=float(outcome.similarity[row]),
            containment_in_principal=float(inside[i]),
            containment_of_principal=float(holding[i]),
            comparison=comparison,
            text_row=row if outcome.copy_of[row] == NO_ROW else int(outcome.copy_of[row]),
            place=places.shown_place(row),
        )
        progress.advance(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Members:
    """Families, the largest first, the earlier one first among equals.

    Parameters
    ----------
    rows : int64 array, shape (n_documents,)
        Documents of one family after another: the principal, then the others, the most similar first.
    """

    principals: U32
    rows: I64
    starts: I64
    copy_of: U32
    matches: Matches
    keys: U64

    @classmethod
    def of(cls, result: Result) -> Members:
        """Make the families of a run that has just ended."""
        outcome, groups = result.judged.outcome, result.judged.groups
        principals = groups.principal[np.argsort(-groups.size, kind="stable")]
        rows = np.flatnonzero(np.isin(outcome.principal, principals))
        number_of = np.zeros(len(outcome.principal), np.int64)
        number_of[principals] = np.arange(len(principals))
        number = number_of[outcome.principal[rows]]
        similarity = outcome.similarity[rows]
        order = np.lexsort((rows, -similarity, outcome.principal[rows] != rows, number))
        starts = np.searchsorted(number[order], np.arange(len(principals) + 1))
        matches = result.judged.matches
        keys = _key(matches.left.astype(np.uint64), matches.right)
        return cls(
            principals=principals, rows=rows[order], starts=starts, copy_of=outcome.copy_of, matches=matches, keys=keys
        )

    def rows_of(self, number: int) -> I64:
        """Return the documents of a family."""
        return self.rows[self.starts[number] : self.starts[number + 1]]

    def to_read(self) -> I64:
        """Return the rows whose texts are needed: no exact copies of a principal, no principals with only those."""
        principal_of = np.repeat(self.principals, np.diff(self.starts))
        is_compared = (self.rows != principal_of) & (self.copy_of[self.rows] != principal_of)
        return np.unique(np.concatenate([self.rows[is_compared], principal_of[is_compared]])).astype(np.int64)

    def containments(self, rows: I64, principal: int) -> tuple[F64, F64]:
        """Return the shares of documents that the principal contains, and the reverse."""
        text = np.where(self.copy_of[rows] == NO_ROW, rows, self.copy_of[rows]).astype(np.uint64)
        low, high = np.minimum(text, np.uint64(principal)), np.maximum(text, np.uint64(principal))
        place = np.minimum(np.searchsorted(self.keys, _key(low, high)), len(self.keys) - 1)
        pairs = self.matches.where(place)
        is_left = low != np.uint64(principal)
        a, b = pairs.containment_left_in_right, pairs.containment_right_in_left
        is_same = text == principal
        return np.where(is_same, 1.0, np.where(is_left, a, b)), np.where(is_same, 1.0, np.where(is_left, b, a))


def _key(left: U64, right: U64 | U32) -> U64:
    return (left << np.uint64(32)) | right


_BATCH_DOCUMENTS = 4096


def read_originals(result: RunResult, rows: I64) -> Callable[[int], str]:
    """Read some documents again, which must be ascending; return the text of a row."""
    spool = Spool(result.run.work / "originals")
    shutil.rmtree(spool.path, ignore_errors=True)  # left by an interrupted run
    spool.path.mkdir()
    n_sources = sum(len(part.sources) for part in result.inputs)
    again = Reread(result.inputs, np.bincount(result.result.places.source, minlength=n_sources))
    with result.run.stage("read again", sum(part.size_bytes for part in result.inputs), "bytes") as progress:
        for number, (block, texts) in enumerate(_texts(again, rows, progress)):
            differs = pc.utf8_length(texts).to_numpy() != result.result.corpus.n_characters[block]
            if differs.any():
                raise changed_while_read(result.result.places.where(int(block[np.argmax(differs)])))
            spool.write(0, number, pa.record_batch([texts], names=["text"]))
    kept = pa.chunked_array(gathered(spool.chunks(), "text"), pa.large_string())
    return lambda row: str(kept[int(np.searchsorted(rows, row))].as_py())


def _texts(again: Reread, rows: I64, progress: Progress) -> Iterator[tuple[I64, pa.LargeStringArray]]:
    for here, batch, name in again.batches(progress, rows):
        for i in range(0, len(batch), _BATCH_DOCUMENTS):
            block = slice(i, i + _BATCH_DOCUMENTS)
            yield here[block], prepare(batch.slice(i, _BATCH_DOCUMENTS), AS_IT_CAME, source_name=name)["text"]
