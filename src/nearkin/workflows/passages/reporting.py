"""Passages → page, and the file of boilerplate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from nearkin.manifests.passages import PassagesManifest
from nearkin.reports.facts.fact import Table
from nearkin.reports.passages import PassagePlace, ShownPassage, render_passages_report
from nearkin.runs.run import JobRun
from nearkin.runs.spool import Chunk, texts_of
from nearkin.stages.documents.ignoring import WORDS
from nearkin.workflows.dedup.corpus import Corpus
from nearkin.workflows.dedup.reporting import first_exceptions
from nearkin.workflows.dedup.row_places import Places
from nearkin.workflows.passages.tables import Passages, RepeatedCharacters, told_apart

_N_SHOWN = 25
_N_PLACES = 3
_N_GROUPS = 50
_AROUND = 160
_MAX_CHARACTERS = 1200


def write_boilerplate(path: Path, found: Passages, proposed: Mapping[int, float], chunks: Sequence[Chunk]) -> None:
    """Write passages for ``--ignore``, a line for each below its frequency."""
    lines = [
        "# Passages that stand in many documents. nearkin dedup --ignore FILE compares documents without them.",
        "# Remove the lines of those that count.",
    ]
    for number, share in proposed.items():
        text = _usual_text(found, number, chunks)
        lines += ["", f"# passage {number}: {found.documents[number]:,} documents, {share:.0%} of a group"]
        lines.append(WORDS + " ".join(text.split()))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _usual_text(found: Passages, number: int, chunks: Sequence[Chunk]) -> str:
    occurrence = int(found.usual[number])
    (text,) = texts_of(chunks, [int(found.parts.row[occurrence])])
    return text[int(found.parts.start[occurrence]) : int(found.parts.end[occurrence])]


def write_page(
    run: JobRun, manifest: PassagesManifest, found: Passages, shares: RepeatedCharacters, places: Places, corpus: Corpus
) -> PassagesManifest:
    """Write ``report.html``; return the manifest with what became of it."""

    def render(record: PassagesManifest) -> str:
        frequent = np.lexsort((np.arange(len(found)), -found.words[found.usual], -found.documents))
        longest = np.lexsort((np.arange(len(found)), -found.words[found.usual]))
        frequent = frequent[found.documents[frequent] > 1]
        chosen = (told_apart(found, numbers, _N_SHOWN) for numbers in (frequent, longest))
        shown = [_shown(found, numbers, places, corpus) for numbers in chosen]
        return render_passages_report(
            record,
            frequent=shown[0],
            longest=shown[1],
            groups=_groups_table(shares, places),
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
            *(f"{row[name] / max(row['characters_sum'], 1):.1%}" for name in ("repeated_sum", "copied_sum")),
            "none" if row["group"] is None else str(row["group"]),
        )
        for row in sums
    ]  # fmt: skip
    return Table(columns, rows, 4)


def _shown(found: Passages, numbers: Sequence[int], places: Places, corpus: Corpus) -> list[ShownPassage]:
    """Return passages with the surroundings of their first occurrences."""
    first = np.searchsorted(found.passage, numbers)
    shown = []
    for number, start in zip(numbers, first.tolist(), strict=True):
        usual = int(found.usual[number])
        others = [at for at in range(start, start + int(found.occurrences[number])) if not found.is_own[at]]
        if corpus.is_against:  # its places in the input come before the item of the other set
            others.sort(key=lambda at: found.parts.row[at] >= corpus.n_inputs)
            usual = others[0]
        chosen = [usual, *(at for at in others[: _N_PLACES + 1] if at != usual)][:_N_PLACES]
        rows = found.parts.row[chosen].tolist()
        shown.append(
            ShownPassage(
                number=number,
                n_words=int(found.words[usual]),
                n_occurrences=int(found.occurrences[number]),
                n_documents=int(found.documents[number]),
                places=tuple(
                    _place(text, int(found.parts.start[at]), int(found.parts.end[at]), places.names[row].as_py())
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
