"""``nearkin add`` and ``nearkin remove``."""

from __future__ import annotations

from nearkin.cli.collection_options import Cache, ChosenAlphabet, ChosenIndex, DocIds, Json, Place, Wave, WaveToRemove
from nearkin.cli.options import Inputs, Quiet, Threads
from nearkin.cli.reading_options import ReadingOptions
from nearkin.nouns import counted

ADD_HELP = """
Add documents to a collection. A missing collection is created.

A command stores all of its documents or none. Documents that are already stored are skipped, so you can run an \
interrupted command again. A changed document becomes a new version, and so does a row that repeats an id with \
another text.

[bold]Examples[/]

  nearkin add matter contracts/ --wave march

  nearkin add matter mail.jsonl --text body --id control_number --wave april

  nearkin add postgresql://ada:secret@localhost/matters contracts/
"""
REMOVE_HELP = """
Remove documents from a collection. Queries no longer find them; their texts stay in the history, and adding them \
again brings them back.

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
    from nearkin.cli.printing import say, tell
    from nearkin.collection.collection import Collection
    from nearkin.reports.sentences.add import add_sentences
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
        lambda: asdict(added) | {"damaged_files": [one.as_stored() for one in damaged]},
        lambda console: say(console, add_sentences(added, damaged)),
        as_json=as_json,
        quiet=quiet,
    )


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
