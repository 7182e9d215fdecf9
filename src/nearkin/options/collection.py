"""Options that the commands about a collection share."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Literal

from nearkin.options.declared import Options, Same, argument, option
from nearkin.options.reading import ENCODING
from nearkin.options.running import PrintOptions

_collection = partial(option, panel="The collection")
_alike = partial(option, panel="Tolerance")
_output = partial(option, panel="Output")
wanted = partial(option, panel="Documents")
changed = partial(option, panel="The change")
limited = partial(
    option, panel="Output", minimum=1, help="Maximum number of results to print; the total is always shown."
)
COLLECTION = argument(
    "COLLECTION",
    # a help text at 80 columns cuts off words of more than 35 characters
    help="A directory, or postgresql://USER@HOST/DATABASE?schema=NAME; parts may be omitted, as for psql.",
)
DOC_ID = argument("DOC_ID", help="Id of a document.")
DOC_IDS = argument("DOC_ID...", (), kind=list, required=False, help="Ids of documents.")
ID_PATTERN = wanted(
    names=("--id",), metavar="PATTERN",
    help="Only documents whose id matches: * any characters, ? one character.",
)  # fmt: skip
_GAMMA = (
    "Maximum Euclidean distance of two vectors of letter counts, divided by the norm of {}; 0: the same counts. Finds "
    "every document within this distance; similar documents may be farther away. At least 0 and below 1. "
    "[default: 0.025]"
)


class PlaceOptions(PrintOptions):
    """Place of a collection."""

    collection: Same[str] = COLLECTION


class WaitOptions(Options):
    """Time for other processes that write."""

    wait: Same[float | None] = _collection(
        kind=float, metavar="SECONDS", minimum=0,
        help="Maximum time to wait while another process is writing (nearkin add: at least as long as it has read). "
        "[default: 2]",
    )  # fmt: skip


class ReadOnlyOptions(Options):
    """Whether anything may be written."""

    read_only: Same[bool] = _collection(
        False,
        help="Write nothing, for a collection on a read-only medium.",
    )


class CacheOptions(Options):
    """Index of a collection in PostgreSQL."""

    cache: Same[Path | None] = _collection(
        kind=Path,
        help="Directory for the index of a collection in PostgreSQL. [default: $XDG_CACHE_HOME/nearkin, else "
        "~/.cache/nearkin]",
    )  # fmt: skip


class ListOptions(Options):
    """File of a list."""

    out: Same[Path | None] = _output(kind=Path, help="File for all rows: .csv, .tsv, .jsonl or .parquet.")
    overwrite: Same[bool] = _output(False, help="Replace the file of --out.")


class ChangeOptions(WaitOptions):
    """Who changes a collection, and whether the change is only shown."""

    by: Same[str | None] = changed(help="Name that the activity log records. [default: your user name]")
    dry_run: Same[bool] = changed(False, help="Show what would be changed, and change nothing.")


class ManyOptions(ChangeOptions):
    """Limits of a change of many documents."""

    yes: Same[bool] = changed(False, help="Change more than 100 documents.")
    limit: Same[int] = limited(20)


class IdsOptions(Options):
    """Documents by their ids."""

    ids: Same[Sequence[str]] = DOC_IDS
    from_file: Same[Path | None] = wanted(
        names=("--from",), metavar="FILE", kind=Path,
        help="File with the ids of the documents: one per line, or a column of a table or load file.",
    )  # fmt: skip
    id: Same[str | None] = wanted(
        metavar="COLUMN", needs="from_file", help="Column of --from with the ids. [default: guessed]"
    )
    encoding: Same[str] = wanted("utf-8", needs="from_file", help=ENCODING.help)


class GroupOptions(Options):
    """Documents by their group."""

    group: Same[int | None] = wanted(metavar="NUMBER", kind=int, help="Only members of this group; see nearkin groups.")
    threshold: Same[float | None] = wanted(kind=float, help="Minimum Jaccard similarity of the groups. [default: 0.5]")
    gamma: Same[float | None] = wanted(
        kind=float, help="Maximum distance (gamma) of the groups, for groups by letter counts."
    )


class ToleranceOptions(Options):
    """Similarity of a search."""

    measure: Same[Literal["jaccard", "letters", "index", "containment"] | None] = _alike(
        help="jaccard (shared word 5-grams, by --threshold), letters (letter counts, by --gamma), containment (share "
        "of one text's word 5-grams in the other, by --threshold) or index (one number per text, by --tolerance; "
        "misses similar texts). [default: jaccard]",
    )
    gamma: Same[float | None] = _alike(kind=float, help=_GAMMA.format("the vector of the query"))
    threshold: Same[float | None] = _alike(
        kind=float,
        help="Minimum Jaccard similarity; with --measure containment, the minimum of that measure. "
        "[default: 0.5; for containment 0.9]",
    )  # fmt: skip
    tolerance: Same[float | None] = _alike(
        kind=float, help="Maximum relative difference of similarity indexes; only for index. [default: 0.3]"
    )


class GroupTolerance(Options):
    """Similarity of the members of a group."""

    measure: Same[str | None] = _alike(
        help="jaccard (shared word 5-grams, by --threshold) or letters (letter counts, by --gamma). [default: jaccard]",
    )
    threshold: Same[float | None] = _alike(
        kind=float, help="Minimum Jaccard similarity of a match, for --measure jaccard. [default: 0.5]"
    )
    gamma: Same[float | None] = _alike(kind=float, help=_GAMMA.format("the longer vector"))
