"""Passages → page, file of boilerplate, and copies of the corpus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

from nearkin.errors import TruncatedInputError
from nearkin.kernels.passages import COPIED
from nearkin.manifests.stored import KeptFile, PassagesManifest
from nearkin.options.families import PassageOptions
from nearkin.paths import file_sha256
from nearkin.records import I64, Bool
from nearkin.reports.facts.fact import Table
from nearkin.reports.families import PassagePlace, ShownPassage, render_passages_report
from nearkin.reports.quantities import percent_text
from nearkin.runs.run import JobRun
from nearkin.runs.spool import Chunk, texts_of
from nearkin.stages.documents.annotating import Shortened
from nearkin.stages.documents.formats import TABLES
from nearkin.stages.documents.ignoring import WORDS
from nearkin.stages.documents.source import Source
from nearkin.stages.passages.windows import Windows
from nearkin.workflows.dedup.corpus import UNREADABLE, Corpus
from nearkin.workflows.dedup.kept_corpus import write_kept, write_kept_corpus
from nearkin.workflows.dedup.reporting import first_exceptions
from nearkin.workflows.dedup.row_places import Places
from nearkin.workflows.passages.contamination import FoundItem, score_names
from nearkin.workflows.passages.tables import (
    OriginalTexts,
    Passages,
    RepeatedCharacters,
    TextParts,
    annotation_columns,
    cuts_by_line,
    told_apart,
    write_cuts,
)
from nearkin.workflows.reading.request import ReadingRequest

_N_SHOWN = 25
_N_PLACES = 3
_N_GROUPS = 50
_N_ITEMS = 100
_AROUND = 160
_MAX_CHARACTERS = 1200


def write_boilerplate(path: Path, passages: Passages, proposed: Mapping[int, float], chunks: Sequence[Chunk]) -> None:
    """Write passages for ``--ignore``, a line for each below its frequency."""
    lines = [
        "# Passages that stand in many documents. nearkin dedup --ignore FILE compares documents without them.",
        "# Remove the lines of those that count.",
    ]
    for number, share in proposed.items():
        text = _usual_text(passages, number, chunks)
        lines += ["", f"# passage {number}: {passages.documents[number]:,} documents, {share:.0%} of a group"]
        lines.append(WORDS + " ".join(text.split()))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _usual_text(passages: Passages, number: int, chunks: Sequence[Chunk]) -> str:
    occurrence = int(passages.usual[number])
    (text,) = texts_of(chunks, [int(passages.parts.row[occurrence])])
    return text[int(passages.parts.start[occurrence]) : int(passages.parts.end[occurrence])]


def items_table(items: Sequence[FoundItem], fields: Sequence[str], places: Places) -> Table:
    """Return the items found, each with the document that has the most of it."""
    scores = [name.removeprefix("score_") for name in score_names(fields)]
    rows = [
        [*(f"{score:.0%}" for score in item.scores), *(places.names[row].as_py() for row in (item.item_row, item.row))]
        for item in items[:_N_ITEMS]
    ]
    return Table((*scores, "of the other set", "most of it in"), rows, len(scores))


def write_page(run: JobRun, manifest: PassagesManifest, whole: Found, items: Table) -> PassagesManifest:
    """Write ``report.html``; return the manifest with what became of it."""
    corpus_passages, places, corpus = whole.passages, whole.places, whole.corpus

    def render(record: PassagesManifest) -> str:
        frequent = np.lexsort(
            (np.arange(len(corpus_passages)), -corpus_passages.words[corpus_passages.usual], -corpus_passages.documents)
        )
        longest = np.lexsort((np.arange(len(corpus_passages)), -corpus_passages.words[corpus_passages.usual]))
        frequent = frequent[corpus_passages.documents[frequent] > 1]
        chosen = (told_apart(corpus_passages, numbers, _N_SHOWN) for numbers in (frequent, longest))
        shown = [_shown(corpus_passages, numbers, places, corpus) for numbers in chosen]
        return render_passages_report(
            record,
            frequent=shown[0],
            longest=shown[1],
            groups=_groups_table(whole.shares, places),
            items=items,
            exceptions=first_exceptions(places.exceptions),
        )

    return run.report(manifest, render)


def _groups_table(shares: RepeatedCharacters, places: Places) -> Table:
    columns = ("documents", "characters", "in passages", "in an earlier document", "group")
    if not places.carried:
        return Table(columns, (), 4)
    (group,) = places.carried.values()
    table = pa.table({"group": group, **{name: getattr(shares, name) for name in ("characters", "repeated", "copied")}})
    sums = table.group_by("group").aggregate(
        [("characters", "count"), *((name, "sum") for name in ("characters", "repeated", "copied"))]
    )
    sums = sums.sort_by([("characters_sum", "descending"), ("group", "ascending")]).slice(0, _N_GROUPS).to_pylist()
    rows = [
        (
            f"{row['characters_count']:,}", f"{row['characters_sum']:,}",
            *(percent_text(row[name], row["characters_sum"]) for name in ("repeated_sum", "copied_sum")),
            "none" if row["group"] is None else str(row["group"]),
        )
        for row in sums
    ]  # fmt: skip
    return Table(columns, rows, 4)


def _shown(passages: Passages, numbers: Sequence[int], places: Places, corpus: Corpus) -> list[ShownPassage]:
    first = np.searchsorted(passages.passage, numbers)
    shown = []
    for number, start in zip(numbers, first.tolist(), strict=True):
        usual = int(passages.usual[number])
        others = [at for at in range(start, start + int(passages.occurrences[number])) if not passages.is_own[at]]
        if corpus.is_against:  # its places in the input come before the item of the other set
            others.sort(key=lambda at: passages.parts.row[at] >= corpus.n_inputs)
            usual = others[0]
        chosen = [usual, *(at for at in others[: _N_PLACES + 1] if at != usual)][:_N_PLACES]
        rows = passages.parts.row[chosen].tolist()
        shown.append(
            ShownPassage(
                number=number,
                n_words=int(passages.words[usual]),
                n_occurrences=int(passages.occurrences[number]),
                n_documents=int(passages.documents[number]),
                places=tuple(
                    _place(text, int(passages.parts.start[at]), int(passages.parts.end[at]), places.names[row].as_py())
                    for at, row, text in zip(chosen, rows, texts_of(corpus.chunks, rows), strict=True)
                ),
            )
        )
    return shown


def _place(text: str, start: int, end: int, name: str) -> PassagePlace:
    passage = text[start:end]
    if len(passage) > _MAX_CHARACTERS:
        half = _MAX_CHARACTERS // 2
        passage = f"{passage[:half]} […] {passage[-half:]}"
    before, after = text[max(start - _AROUND, 0) : start], text[end : end + _AROUND]
    if start > _AROUND:
        before = f"… {before.partition(' ')[2] or before}"
    if end + _AROUND < len(text):
        after = f"{after.rpartition(' ')[0] or after} …"
    return PassagePlace(name=name, start=start, before=before, passage=passage, after=after)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Passages of a run, before they are written."""

    corpus: Corpus
    places: Places
    texts: OriginalTexts
    passages: Passages
    shares: RepeatedCharacters
    windows: Windows
    flags: np.ndarray


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """Corpora that were written.

    Parameters
    ----------
    is_emptied : bool array, shape (n_documents,), or None
        Documents of which no word is left.
    keep : bool array, shape (n_inputs,), or None
        Documents that ``drop_over`` keeps.
    """

    files: tuple[KeptFile, ...]
    cuts: TextParts | None
    is_emptied: Bool | None
    keep: Bool | None


def write_corpora(
    result: Found, sources: Sequence[Source], request: ReadingRequest, options: PassageOptions, run: JobRun
) -> Written:
    """Write the annotated documents, those without passages, and those that have few."""
    n, files, keep, cuts, is_emptied = result.texts.n_inputs, list[KeptFile](), None, None, None
    write = partial(write_kept_corpus, sources, result.places, meter=run.meter)
    is_readable = result.corpus.status[:n] != UNREADABLE
    if options.annotate:
        columns = annotation_columns(result.passages, result.shares, is_readable)
        files += write(np.ones(n, np.bool_), run.results / "annotated", columns=columns)
    if options.drop_over is not None:
        keep = is_readable & (result.shares.share(result.shares.copied) <= options.drop_over)
        files += write(keep, run.results / "kept")
    if options.cut:
        spans = result.windows.spans((result.flags & COPIED) > 0)
        is_mine = spans.document >= result.texts.n_others
        cuts, is_emptied = result.texts.cuts(type(spans)(*(column[is_mine] for column in spans)))
        write_cuts(run.results / "cut.parquet", cuts, result.places, result.corpus.chunks)
        files += _write_cut(result, sources, cuts, is_emptied, run)
    return Written(files=tuple(files), cuts=cuts, is_emptied=is_emptied, keep=keep)


def _write_cut(
    result: Found, sources: Sequence[Source], cuts: TextParts, is_emptied: Bool, run: JobRun
) -> list[KeptFile]:
    n, places = result.texts.n_inputs, result.places
    starts = np.searchsorted(places.source[:n], np.arange(len(sources) + 1))

    def lines(source: int) -> I64:
        return places.line[starts[source] : starts[source + 1]]

    def has_words(source: int) -> Bool:
        mask = np.ones(int(lines(source).max(initial=0)) + 1, np.bool_)
        mask[lines(source)[is_emptied[starts[source] : starts[source + 1]]]] = False
        return mask

    def shortened(source: int) -> Shortened:
        by_line = cuts_by_line(cuts, lines(source), int(starts[source]))
        column = sources[source].text if _is_in_place(sources[source]) else None
        return Shortened(sources[source].name, lines(source), column or "text", by_line, sources[source].encoding)

    out = run.results / "cut"
    with run.stage("write cut", sum(source.size_bytes for source in sources), "bytes") as progress:
        written = write_kept(sources, has_words, out, progress=progress, added=shortened, in_place=_is_in_place)
        return [
            KeptFile(str(path.relative_to(run.results)), number, path.stat().st_size, file_sha256(str(path)))
            for number, path in sorted(written.items())
        ]


def _is_in_place(source: Source) -> bool:
    text = source.text or "text"
    if source.format == "jsonl":
        return "," not in text and "[]" not in text
    if source.format != "parquet":
        return False
    try:
        with TABLES["parquet"].reader.at(source.path, source.name) as table:
            schema = table.schema
    except TruncatedInputError:  # nothing of it is written
        return False
    return text in schema.names and (
        pa.types.is_string(kind := schema.field(text).type) or pa.types.is_large_string(kind)
    )
