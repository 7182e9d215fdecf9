"""``nearkin add``."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from nearkin.cli.answering import answer, working
from nearkin.options.collection import CacheOptions, PlaceOptions, WaitOptions
from nearkin.options.declared import Same, option
from nearkin.options.reading import InputsArgument, ReadingOptions
from nearkin.options.running import ThreadOptions
from nearkin.workflows.resources import Resources

HELP = """
Add documents to a collection. A missing collection is created.

A command stores all of its readable documents or none, and skips those that are already stored, so you can run an \
interrupted command again. Another text under a stored id becomes a new version of it. The id of a file is its path \
below the given folder, or the path as you give it. If two deliveries have the same paths, add the folder above both.

To see later what a wave changed in the groups, run nearkin groups after each wave.

Examples:

  nearkin add matter contracts/ --wave march

  nearkin add matter mail.jsonl --text body --id control_number --wave april

  nearkin add postgresql://ada:secret@localhost/matters contracts/ --wait 60
"""
_new = partial(option, panel="The collection")


class AddCommand(ThreadOptions, CacheOptions, WaitOptions, ReadingOptions, InputsArgument, PlaceOptions):
    """Options of the command."""

    wave: Same[str | None] = _new(help="Name of a new or existing wave. [default: wave 1, wave 2, …]")
    similarity_index: Same[str | None] = _new(
        names=("--index",),
        help="Similarity index of a new collection, for --measure index and similar_by_index, such as 43B:k=40 or "
        "1A:k=4. [default: 43B:k=40]",
    )
    ignored: Same[Path | None] = _new(
        names=("--ignore",), metavar="FILE", kind=Path,
        help="File of passages that do not count in a new collection, as for nearkin dedup. The stored texts are "
        "unchanged.",
    )  # fmt: skip
    ignore_numbers: Same[bool] = _new(False, help="Ignore digits in a new collection.")
    dry_run: Same[bool] = option(
        False, panel="Output", help="Count what would be stored, list what would be removed, and change nothing."
    )


def add(job: AddCommand) -> None:
    """Add documents."""
    from nearkin.collection.collection import Collection
    from nearkin.reports.facts.stored import add_facts
    from nearkin.stages.documents.ignoring import Ignored
    from nearkin.workflows.collection.adding import add_files, opened_to_preview
    from nearkin.workflows.reading.request import ReadingRequest

    resources, place = Resources(job.threads), job.collection
    has_passages = job.ignored is not None or job.ignore_numbers
    passages = Ignored.of(job.ignored, numbers=job.ignore_numbers) if has_passages else None
    with working(job) as bars:
        # before the collection is made: a wrong name leaves nothing behind
        texts = ReadingRequest.from_options(job.inputs, job).opened(bars)
        open_at = partial(
            Collection.open, similarity_index=job.similarity_index, ignored=passages,
            cache=job.cache, wait=job.wait, progress=bars,
        )  # fmt: skip
        with opened_to_preview(place, open_at) if job.dry_run else open_at(place, create=True) as opened:
            is_first = passages is not None and opened.info().n_versions == 0
            added = add_files(opened, texts, wave=job.wave, resources=resources, progress=bars, dry_run=job.dry_run)
            if is_first:  # passages are not looked for again in texts that were stored before
                opened.opened.counting.ignored.say_not_found(bars.say)
    damaged = texts.damaged_files
    beside = {"not_read": texts.not_read} if texts.not_read else {}
    summary = added.to_dict() | {"damaged_files": damaged, **beside}
    answer(job, summary, add_facts(added, damaged))
