"""``nearkin add`` and ``nearkin remove``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nearkin.cli.options.collection import (
    Cache,
    ChosenAlphabet,
    ChosenIgnored,
    ChosenIgnoredNumbers,
    ChosenIndex,
    DocIds,
    DryRun,
    DryRunOfAdd,
    IdsColumn,
    IdsFile,
    Limit,
    Place,
    Wait,
    Wave,
    WaveToRemove,
)  # fmt: skip
from nearkin.cli.options.decisions import By, YesRemove
from nearkin.cli.options.definitions import Encoding, Json, Quiet, Threads
from nearkin.cli.options.reading import Inputs
from nearkin.options.reading import ReadingOptions

if TYPE_CHECKING:
    from nearkin.cli.printing import Printer
    from nearkin.collection.decisions.removing import Removed

_WITHOUT_YES = 100
"""Maximum number of removed documents for which --yes is not needed."""

ADD_HELP = """
Add documents to a collection. A missing collection is created.

A command stores all of its readable documents or none. Documents that are already stored are skipped, so you can run \
an interrupted command again. A document with the id of a stored document and another text becomes a new version of \
it, even if the two texts are unrelated. The id of a file is its path below the given folder, or the path as you give \
it for a file that you name on its own. If files of two deliveries have the same path below their folders, add the \
folder above both deliveries: then their ids differ. If an id occurs twice with two texts, the first is stored, and \
the second is listed by nearkin exceptions.

To see later what a wave changed in the groups, run nearkin groups after each wave.

Examples:

  nearkin add matter contracts/ --wave march

  nearkin add matter mail.jsonl --text body --id control_number --wave april

  nearkin add postgresql://ada:secret@localhost/matters contracts/ --wait 60
"""
REMOVE_HELP = """
Remove documents from a collection. Queries no longer find them; their texts stay in the history, and adding them \
again brings them back. More than 100 documents are only listed, with exit code 2, unless you add --yes. nearkin log \
lists every removal.

Examples:

  nearkin remove matter lease-17 lease-18

  nearkin remove matter --wave march --dry-run

  nearkin remove matter --from expired.csv
"""


def add(
    collection: Place,
    inputs: Inputs,
    *,
    wave: Wave = None,
    alphabet: ChosenAlphabet = None,
    similarity_index: ChosenIndex = None,
    ignored: ChosenIgnored = None,
    ignore_numbers: ChosenIgnoredNumbers = False,
    dry_run: DryRunOfAdd = False,
    reading: ReadingOptions,
    cache: Cache = None,
    wait: Wait = None,
    as_json: Json = False,
    quiet: Quiet = False,
    threads: Threads = 0,
) -> None:
    """Add documents."""
    from dataclasses import asdict
    from functools import partial

    from nearkin.cli.bars import bars_shown
    from nearkin.cli.printing import tell
    from nearkin.collection.collection import Collection
    from nearkin.reports.facts.stored import add_facts
    from nearkin.stages.documents.ignoring import Ignored
    from nearkin.workflows.collection.adding import add_files, opened_to_preview
    from nearkin.workflows.reading.request import ReadingRequest, not_read_files
    from nearkin.workflows.resources import Resources

    resources = Resources(threads)
    passages = Ignored.of(ignored, numbers=ignore_numbers) if ignored is not None or ignore_numbers else None
    with bars_shown(is_quiet=quiet or as_json) as bars:
        # before the collection is made: a wrong name leaves nothing behind
        texts = ReadingRequest.from_options(inputs, reading).opened(bars)
        open_at = partial(
            Collection.open,
            alphabet=alphabet,  # type: ignore[arg-type]  # it checks it
            similarity_index=similarity_index,
            ignored=passages,
            cache=cache,
            wait=wait,
            progress=bars,
        )
        with opened_to_preview(collection, open_at) if dry_run else open_at(collection, create=True) as opened:
            is_first = passages is not None and opened.info().n_versions == 0
            added = add_files(
                opened,
                texts,
                wave=wave,
                resources=resources,
                progress=bars,
                dry_run=dry_run,
            )
            if is_first:  # passages are not looked for again in texts that were stored before
                opened.opened.counting.ignored.say_not_found(bars.say)
    damaged, not_read = texts.damaged_files, not_read_files(texts.not_read)
    beside = {} if not_read is None else {"not_read": [one.as_stored() for one in not_read]}
    tell(
        lambda: asdict(added) | {"damaged_files": [one.as_stored() for one in damaged], **beside},
        lambda console: console.say(add_facts(added, damaged)),
        as_json=as_json,
        quiet=quiet,
    )


def remove(
    collection: Place,
    ids: DocIds = None,
    wave: WaveToRemove = None,
    file: IdsFile = None,
    id: IdsColumn = None,
    encoding: Encoding = "utf-8",
    by: By = None,
    dry_run: DryRun = False,
    wait: Wait = None,
    yes: YesRemove = False,
    limit: Limit = 20,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Remove documents."""
    from nearkin.cli.printing import tell
    from nearkin.collection.collection import Collection
    from nearkin.errors import ParameterError
    from nearkin.nouns import counted
    from nearkin.workflows.collection.id_files import read_ids

    if sum(one is not None for one in (ids or None, wave, file)) != 1:
        raise ParameterError("Name the documents to remove by exactly one of DOC_ID..., --wave WAVE and --from FILE.")
    if file is None and id is not None:
        raise ParameterError("--id names a column of --from FILE: add --from.")
    if file is None and encoding != "utf-8":
        raise ParameterError("--encoding is the encoding of --from FILE: add --from.")
    wanted = (ids or []) if file is None else read_ids(file, column=id, encoding=encoding)
    with Collection.open(collection, wait=wait) as opened:
        removed = opened.remove(wanted, wave=wave, by=by, dry_run=dry_run, max_documents=None if yes else _WITHOUT_YES)
    tell(removed.to_dict, lambda console: _show_removed(console, removed, limit), as_json=as_json, quiet=quiet)
    if removed.is_dry_run and not dry_run:
        n = removed.n_documents + removed.n_unread
        raise ParameterError(
            f"Nothing was removed. This would remove {counted(n, 'document')}. Add --yes to remove them."
        )


def _show_removed(console: Printer, removed: Removed, limit: int) -> None:
    from nearkin.cli.printing import shown
    from nearkin.reports.facts.stored import removed_facts

    if removed.is_dry_run:
        for doc_id in [*removed.doc_ids, *removed.unread_ids][:limit]:
            console.print(f"  {shown(doc_id)}", highlight=False, soft_wrap=True)
    console.say(removed_facts(removed, limit))
