"""``nearkin batches``, ``second-look`` and ``privilege-log``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nearkin.cli.answering import answer, check_free, opened, say_written
from nearkin.cli.decisions import answer_change, named_ids
from nearkin.errors import ParameterError
from nearkin.options.collection import (
    ChangeOptions,
    IdsOptions,
    ListOptions,
    PlaceOptions,
    ReadOnlyOptions,
    limited,
    wanted,
)  # fmt: skip
from nearkin.options.declared import Same
from nearkin.reports.facts.fact import Fact, Part, Table, not_shown

if TYPE_CHECKING:
    import pyarrow as pa

    from nearkin.collection.decisions.batches import Batch, Kept, SecondLook

BATCHES_HELP = """
List the batches of a collection with their progress, or make new ones. Reviewers check them out and in on the screen.

--make NAME puts documents into numbered batches: those of --search, the given ones, or all. Documents in a batch of \
this name stay there. They get the tag NAME=NUMBER.

Examples:

  nearkin batches matter --make "first pass" --size 50 --families

  nearkin batches matter --make price --size 100 --search "price OR discount*"

  nearkin batches matter --out batches.csv
"""
SECOND_LOOK_HELP = """
Draw a random sample of the documents that a person coded, to be coded again by somebody who does not see the first \
values; without --of, show the rate of overturned calls of each sample, with its interval.

The sample is a batch, and its queue is on the screen. A value that differs is kept beside the first one until an \
admin chooses one on the page Conflicts.

Examples:

  nearkin second-look matter --of ben --size 100 --seed 7

  nearkin second-look matter
"""
PRIVILEGE_LOG_HELP = """
List the privileged documents: date, from, to, cc, subject, privilege, the disputed second value, reason, id and Bates \
number. An attachment has the headers of its mail. --out writes the list to a .csv, .tsv, .jsonl, .parquet or .docx \
(Word) file.

Example:

  nearkin privilege-log matter --out privilege-log.docx
"""


class BatchesCommand(ListOptions, ChangeOptions, IdsOptions, PlaceOptions):
    """Options of the command."""

    make: Same[str | None] = wanted(
        metavar="NAME", excludes="out", help="Make batches with this name, which is a field of tags."
    )
    size: Same[int | None] = wanted(
        kind=int, needs="make", minimum=1, maximum=100_000, help="Documents of a batch. [default: 50]"
    )
    search: Same[str | None] = wanted(
        metavar="QUERY", needs="make", excludes="ids from_file", help="Documents that this search finds."
    )
    families: Same[bool] = wanted(False, needs="make", help="Keep a mail and its attachments together.")
    groups: Same[bool] = wanted(False, needs="make", help="Keep stored groups and identical texts together.")
    limit: Same[int] = limited(50)


def batches(job: BatchesCommand) -> None:
    """List or make batches."""
    from nearkin.collection.decisions import batches as made
    from nearkin.collection.decisions.log import ChangeRequest
    from nearkin.collection.listing.lists import DocumentFilter, listed_ids
    from nearkin.collection.word_search.searching import found_ids

    ids = named_ids(job)
    if ids and job.make is None:
        raise ParameterError("Documents are put into batches with --make NAME.")
    with opened(job) as collection:
        store, options = collection.opened.store, ChangeRequest(by=job.by, dry_run=job.dry_run)
        if job.make is not None:
            keep: list[Kept] = [*["families"] * job.families, *["groups"] * job.groups]  # type: ignore[list-item]
            with store.reading() as connection:
                if job.search is not None:
                    ids = found_ids(connection, job.search, wave=None)
                elif not ids:
                    ids = listed_ids(connection, DocumentFilter(), "id")
            answer_change(
                job, made.make_batches(store, ids, job.make, job.size or 50, keep=keep, options=options), job.limit
            )
        else:
            with store.reading() as connection:
                all_batches = made.batches(connection)
            answer(
                job, {"batches": all_batches}, _batches_view(all_batches, job.limit),
                rows=lambda: made.table_of_batches(all_batches), row="batch",
            )  # fmt: skip


def _batches_view(listed: list[Batch], limit: int) -> list[Part]:
    rows = [
        (
            batch.n_documents, batch.n_done, batch.n_left, batch.tag, batch.holder or "",
            ", ".join(f"{by} {n:,}" for by, n in batch.done_by.items()),
        )
        for batch in listed[:limit]
    ]  # fmt: skip
    columns = ("documents", "done", "left", "batch", "held by", "done by")
    return [Table(columns, rows, 3, empty="There are no batches."), *not_shown(len(listed) - limit)]


class SecondLookCommand(ChangeOptions, PlaceOptions):
    """Options of the command."""

    of_person: Same[str | None] = wanted(names=("--of",), metavar="NAME", help="Person whose calls are drawn.")
    size: Same[int | None] = wanted(
        kind=int, needs="of_person", minimum=1, maximum=100_000, help="Documents of the sample. [default: 100]"
    )
    seed: Same[int | None] = wanted(
        kind=int, needs="of_person", help="The same seed draws the same documents. [default: 0]"
    )


def second_look(job: SecondLookCommand) -> None:
    """Draw a second look, or show the rates."""
    from nearkin.collection.decisions.batches import draw_second_look, second_looks
    from nearkin.collection.decisions.log import ChangeRequest

    with opened(job) as collection:
        store = collection.opened.store
        if job.of_person is not None:
            options = ChangeRequest(by=job.by, dry_run=job.dry_run)
            answer_change(job, draw_second_look(store, job.of_person, job.size or 100, job.seed or 0, options), 20)
            return
        with store.reading() as connection:
            looks = second_looks(connection)
    answer(job, {"second_looks": looks}, [_looks_table(looks)])


def _looks_table(looks: list[SecondLook]) -> Table:
    rows = []
    for look in looks:
        counts = look.number, look.n_calls, look.n_documents, look.n_coded, look.n_overturned
        rate = "" if look.rate is None else f"{look.rate:.3f}"
        interval = "" if look.low is None or look.high is None else f"{look.low:.3f} to {look.high:.3f}"
        rows.append((*counts, rate, interval, look.of))
    columns = ("number", "calls", "sample", "coded again", "overturned", "rate", "interval", "of")
    return Table(columns, rows, 7, empty="There are no second looks.")


class PrivilegeLogCommand(ListOptions, ReadOnlyOptions, PlaceOptions):
    """Options of the command."""

    tag: Same[str | None] = wanted(
        metavar="FIELD[=VALUE]",
        help="Tag of the documents; without a value, every value but no. [default: privileged and privilege, else the "
        "sensitive fields of the coding panel]",
    )  # fmt: skip
    reason: Same[str | None] = wanted(
        metavar="FIELD", help="Field with the reason. [default: the first text field of the coding panel]"
    )
    bates: Same[str | None] = wanted(metavar="FIELD", help="Field with the Bates number. [default: bates]")
    limit: Same[int] = limited(20)


def privilege_log(job: PrivilegeLogCommand) -> None:
    """List the privileged documents."""
    from nearkin.collection.decisions.log import checked_by
    from nearkin.workflows.collection import privilege_log as made

    if job.out is not None:
        made.check_privilege_log(job.out)
        check_free(job.out, overwrite=job.overwrite)
    with opened(job, has_list=False) as collection:
        full_table = made.privilege_log(collection, job.tag, job.reason, job.bates)
    if job.out is not None:
        made.write_privilege_log(full_table, job.out, checked_by(None))
        say_written(job, len(full_table), "document", job.out)
    summary = {"n_found": len(full_table), "documents": full_table.slice(0, job.limit).to_pylist()}
    answer(job, summary, _log_view(full_table, job.limit))


def _log_view(table: pa.Table, limit: int) -> list[Part]:
    names = ("date", "from", "subject", "privilege", "disputed", "reason", "id")
    rows = [[row[name] or "" for name in names] for row in table.slice(0, limit).to_pylist()]
    return [Table(names, rows), Fact("privileged documents", len(table)), *not_shown(len(table) - limit)]
