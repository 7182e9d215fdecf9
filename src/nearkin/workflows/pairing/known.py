"""Known pairs: the number that was found, and their similarities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearkin.errors import ParameterError, SourceError
from nearkin.kernels.buffers import strings
from nearkin.manifests.pairs import KnownFound
from nearkin.nouns import counted
from nearkin.records import F64, U64
from nearkin.runs.progress import Meter, Progress
from nearkin.stages.documents.interwiki import interwiki_links
from nearkin.stages.search.stretches import keys_of, rows_of
from nearkin.workflows.pairing.collecting import Collected
from nearkin.workflows.pairing.searching import cosines_of
from nearkin.workflows.pairing.tables import KnownPairs, Ranked
from nearkin.workflows.pairing.vectors import PairVectors
from nearkin.workflows.reading.sheets import read_sheet

SAME_IDS, LINKS = "same-ids", "links"
_SHOWN = 60
BINS = 10
"""Bins of the figure: cosines in steps of 0.1, as in the article."""


@dataclass(frozen=True, slots=True)
class Known:
    """Pairs of documents known to belong together.

    Parameters
    ----------
    keys : uint64 array, shape (n_pairs,)
        Ascending: the left row in the upper 32 bits of each, the right row in the lower.
    n_told
        Number of given pairs, including those with a missing document.
    """

    told_by: str
    keys: U64
    n_told: int

    def __len__(self) -> int:
        return len(self.keys)


def is_of_links(known: str | None) -> bool:
    """Whether known pairs are links between editions of Wikipedia: in the dump, or in a file of SQL."""
    return known == LINKS or (known is not None and known.endswith((".sql", ".sql.gz")))


def check_known(known: str | None) -> None:
    """Refuse what names no known pairs, before anything is read."""
    if known not in (None, SAME_IDS, LINKS) and not Path(str(known)).exists():
        raise ParameterError.of("known", f"{SAME_IDS}, {LINKS}, or an existing file of pairs", known)


def known_pairs(
    known: str, left: Collected, right: Collected, language: str | None, meter: Meter, *, takes_damaged: bool
) -> Known:
    """Return the known pairs, of links those to the edition in ``language``."""
    if known == SAME_IDS:
        return known_by_id(left, right)
    if not is_of_links(known):
        return known_by_file(Path(known), left, right)
    if language is None:
        raise ParameterError("the language of the right side is not known: give right_language.", parameter="known")
    langlinks = None if known == LINKS else Path(known)
    with meter.stage("links", 0, "bytes") as progress:
        return known_by_links(left, right, language, langlinks, progress, takes_damaged=takes_damaged)


def known_by_id(left: Collected, right: Collected) -> Known:
    """Return the documents that have the same id on both sides."""
    ids = [_ids(left), _ids(right)]
    place = pc.index_in(ids[0], value_set=ids[1])
    rows = np.flatnonzero(place.is_valid().to_numpy(zero_copy_only=False))
    if not len(rows):
        first, second = (shortened(doc_id[0].as_py()) for doc_id in ids)
        raise ParameterError(
            f"known={SAME_IDS!r}: left={left.name!r} and right={right.name!r} have no id in common ({first}, "
            f"{second}, …). Name the columns with 'left_id' and 'right_id', or give a file of pairs of "
            "ids."
        )
    return Known("equal ids", keys_of(rows, place.drop_null().to_numpy().astype(np.int64)), len(rows))


def known_by_file(path: Path, left: Collected, right: Collected) -> Known:
    """Return pairs of ids from the first two columns of a Parquet, CSV or TSV file."""
    try:
        sheet = read_sheet(path, "utf-8", lambda names: range(min(2, len(names))))
    except SourceError as error:
        error.parameter = "known"
        raise
    if len(sheet.names) < 2:
        raise SourceError(f"{path} must have two columns: left ids and right ids. Got fewer.", parameter="known")
    sides = left, right
    is_pair = sheet.first is not None and all(
        _ids(side).index(value).as_py() >= 0 for side, value in zip(sides, sheet.first)
    )
    header = () if sheet.first is None or is_pair else sheet.names[:2]
    sheet = sheet.without_header() if is_pair else sheet
    columns = [strings([sheet.text(place, row) for row in range(len(sheet.rows))]) for place in (0, 1)]
    return _by_ids(str(path), columns, left, right, header=header)


def known_by_links(
    left: Collected,
    right: Collected,
    language: str,
    langlinks: Path | None,
    progress: Progress,
    *,
    takes_damaged: bool = False,
) -> Known:
    """Return the pairs of articles that the left Wikipedia dump links to the other edition.

    Parameters
    ----------
    langlinks
        Dump of the table ``langlinks``, which holds the links since 2013; None: use the links in the articles.
    """
    dumps = [Path(one.path) for one in left.inputs if one.format == "wikipedia"]
    if not dumps:
        raise ParameterError(f"left={left.name!r} is not a Wikipedia dump and has no such links.", parameter="known")
    tables = [
        interwiki_links(dump, language, langlinks=langlinks, takes_damaged=takes_damaged, progress=progress.advance)
        for dump in dumps
    ]
    links = pa.concat_tables(tables)
    columns = [links[name].combine_chunks() for name in ("title", "other")]
    return _by_ids("links between editions", columns, left, right)


def judge(known: Known, told: KnownPairs, pairs: Ranked) -> KnownFound:
    """Judge how many known pairs were found."""
    n_found = int((told.ranks > 0).sum())
    n_reported = int(np.isin(pairs.left, rows_of(known.keys)[0]).sum())
    cosines = told.cosines[~np.isnan(told.cosines)]
    return KnownFound(
        told_by=known.told_by,
        n_told=known.n_told,
        n_known=len(known),
        n_comparable=len(cosines),
        n_found=n_found,
        n_first=int((told.ranks == 1).sum()),
        recall=_share(n_found, len(known)),
        n_pairs=len(pairs),
        precision_of_all_pairs=_share(n_found, len(pairs)),
        n_pairs_of_known_left=n_reported,
        precision_of_known_left=_share(n_found, n_reported),
        mean_cosine=round(float(cosines.mean()), 6) if len(cosines) else None,
        histogram=histogram(cosines),
    )


def told_of(known: Known, pairs: Ranked, vectors: PairVectors, threads: int) -> KnownPairs:
    """Return each known pair with its cosine, and its rank among the reported pairs."""
    left, right = rows_of(known.keys)
    is_there = (vectors.left.sizes[left] > 0) & (vectors.right.sizes[right] > 0)
    cosines = np.full(len(known), np.nan)
    cosines[is_there] = cosines_of(vectors, known.keys[is_there], threads)
    ranks = np.zeros(len(known), np.int64)
    found = keys_of(pairs.left, pairs.right)
    place = np.searchsorted(known.keys, found)
    is_known = np.isin(found, known.keys)
    ranks[place[is_known]] = pairs.rank[is_known]
    return KnownPairs(known.keys, cosines, ranks)


def histogram(cosines: F64) -> tuple[int, ...]:
    """Count the cosines in each step of 0.1 from 0 to 1; 1 belongs to the last."""
    counts, _ = np.histogram(cosines, np.linspace(0.0, 1.0, BINS + 1))
    return tuple(counts.tolist())


def _by_ids(
    name: str, columns: Sequence[pa.Array], left: Collected, right: Collected, *, header: Sequence[str] = ()
) -> Known:
    places = []
    for side, column in zip((left, right), columns, strict=True):
        ids = _ids(side)
        places.append(pc.index_in(column, value_set=ids).fill_null(-1).to_numpy().astype(np.int64))
    is_there = (places[0] >= 0) & (places[1] >= 0)
    if not is_there.any():
        shown = " and ".join(shortened(column[0].as_py()) for column in columns) if len(columns[0]) else "nothing"
        taken = f" Its first line, {' and '.join(map(shortened, header))}, was taken as a header." if header else ""
        called = [shortened(_ids(side)[0].as_py()) if len(_ids(side)) else "nothing" for side in (left, right)]
        raise SourceError(
            f"{name}: none of its {counted(len(is_there), 'pair')} has documents on both sides (the first is {shown})."
            f"{taken} The first documents are {called[0]} on the left and {called[1]} on the right. If "
            "these are not your ids, name the columns of the ids."
        )
    return Known(name, np.unique(keys_of(places[0][is_there], places[1][is_there])), len(is_there))


def shortened(text: str) -> str:
    """Return an id, shortened for a message."""
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")


def _ids(side: Collected) -> pa.LargeStringArray:
    return side.documents["name"].combine_chunks()


def _share(n: int, of: int) -> float | None:
    return round(n / of, 6) if of else None
