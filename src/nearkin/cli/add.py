"""``nearkin add`` and ``nearkin remove``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from nearkin.cli.collection_options import Cache, ChosenAlphabet, ChosenIndex, DocIds, Json, Place, Wave, WaveToRemove
from nearkin.cli.options import Inputs, Quiet, Threads
from nearkin.cli.reading_options import ReadingOptions
from nearkin.nouns import counted

if TYPE_CHECKING:
    from rich.console import Console

    from nearkin.collection.adding import Added

ADD_HELP = """
Add documents to a collection; a missing collection is created. A command stores all of its documents or none. \
Documents that are already stored are skipped, so an interrupted command can be run again. A changed document becomes \
a new version, and so does a row that repeats the id of an earlier row with another text.

[bold]Examples[/]

  nearkin add matter contracts/ --wave march

  nearkin add matter mail.jsonl --text body --id control_number --wave april

  nearkin add postgresql://ada:secret@localhost/matters contracts/
"""
REMOVE_HELP = """
Remove documents from a collection. They are found no more; their texts stay in the history of the collection, and \
adding them again brings them back.

[bold]Examples[/]

  nearkin remove matter lease-17 lease-18

  nearkin remove matter --wave march
"""


def add(
    collection: Place,
    inputs: Inputs,
    *,
    wave: Wave = None,
    alphabet: ChosenAlphabet = None,
    index: ChosenIndex = None,
    reading: ReadingOptions,
    cache: Cache = None,
    as_json: Json = False,
    quiet: Quiet = False,
    threads: Threads = 0,
) -> None:
    """Add documents."""
    from dataclasses import asdict

    from nearkin.cli.bars import bars_shown
    from nearkin.cli.printing import tell
    from nearkin.collection.collection import Collection
    from nearkin.workflows.collection.adding import add_files
    from nearkin.workflows.resources import Resources

    resources = Resources(threads)
    with bars_shown(is_quiet=quiet or as_json) as bars:
        # before the collection is made: a wrong name leaves nothing behind
        texts = reading.request(inputs).opened(bars)
        with Collection.open(
            collection,
            create=True,
            alphabet=alphabet,  # type: ignore[arg-type]  # it checks it
            similarity_index=index,
            cache=cache,
            progress=bars,
        ) as opened:
            added = add_files(opened, texts, wave=wave, resources=resources, progress=bars)
    damaged = texts.damaged_files
    tell(
        lambda: asdict(added) | {"damaged_files": damaged},
        lambda console: _show(console, added, damaged),
        as_json=as_json,
        quiet=quiet,
    )


def _show(console: Console, added: Added, damaged: Sequence[Mapping[str, object]]) -> None:
    from nearkin.cli.printing import shown
    from nearkin.cli.summary import warn_of_damage

    came = added.n_documents
    changed = f"{added.n_new_versions:,} changed"
    if added.n_new_versions:
        changed += " (their older texts are kept as versions: nearkin versions)"
    parts = [f"{added.n_new:,} new", changed, f"{added.n_unchanged:,} there already"]
    console.print(
        f"[bold]{shown(added.wave)}: {counted(came, 'document')}[/], {', '.join(parts)}; "
        f"{counted(added.n_contents, 'new distinct text')}",
        highlight=False,
        soft_wrap=True,
    )
    if added.n_repeated:
        n = added.n_repeated
        as_version = (
            "repeats an id and was stored as a version" if n == 1 else "repeat an id and were stored as versions"
        )
        console.print(f"{counted(n, 'row')} {as_version}", highlight=False)
    if added.n_repaired:
        entries = counted(added.n_repaired, "damaged entry", "damaged entries")
        console.print(f"[yellow]{entries} of the store repaired", highlight=False)
    if added.n_missing:
        texts = counted(added.n_missing, "stored text")
        console.print(
            f"[red]Missing: {texts} of these documents; what was added is a new version of them. Run nearkin verify "
            "COLLECTION for all that is damaged.",
            highlight=False,
            soft_wrap=True,
        )
    if added.n_problems:
        console.print(
            f"[yellow]{added.n_problems:,} could not be stored; see: nearkin info COLLECTION --problems",
            highlight=False,
            soft_wrap=True,
        )
    warn_of_damage(console, damaged, "The wave has")


def remove(
    collection: Place,
    ids: DocIds = None,
    wave: WaveToRemove = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Remove documents."""
    from dataclasses import asdict

    from nearkin.cli.printing import tell
    from nearkin.collection.collection import Collection

    with Collection.open(collection) as opened:
        removed = opened.remove(ids or (), wave=wave)
    n = removed.n_documents
    tell(
        lambda: asdict(removed),
        lambda console: console.print(f"[bold]{counted(n, 'document')} removed[/]", highlight=False),
        as_json=as_json,
        quiet=quiet,
    )
