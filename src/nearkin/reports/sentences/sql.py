"""Sentences of ``nearkin sql``: contents of a database, and queries to try."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from nearkin.nouns import counted
from nearkin.reports.sentences.sentence import Sentence

if TYPE_CHECKING:
    from nearkin.collection.plain_sql.duckdb_copy import Copied
    from nearkin.collection.plain_sql.installing import Installed


def install_sentences(installed: Installed) -> Iterator[Sentence]:
    """Name the tables, views and functions of a database, and an example."""
    if installed.is_new_collection:
        said = "There was no collection: a new, empty one was created. To use one that exists, check the name."
        yield Sentence(said, "warning")
    yield Sentence(f" is ready for plain SQL (similarity index {installed.similarity_index})", strong=installed.place)
    yield Sentence(f"tables {', '.join(installed.tables)}; views {', '.join(installed.views)}")
    if installed.functions:
        yield Sentence("functions:")
        for one in installed.functions:
            yield Sentence(f"  {one}")
    else:
        yield Sentence("SQLite cannot store functions. Use: nearkin sql similar ID --dialect sqlite")
    if installed.flags_look_alikes is not None:
        limit = f"{installed.flags_look_alikes:g}"
        rule = (
            f"with a Jaccard similarity of at least {limit}"
            if installed.flag_measure == "words"
            else f"within gamma {limit}"
        )
        yield Sentence(f"For each added document, look_alikes lists the stored documents {rule}.")
    if installed.refused_limit is not None:
        yield Sentence(
            f"Documents are no longer flagged: the stored limit {installed.refused_limit:g} is no longer allowed. "
            "Choose another with --flag-look-alikes.",
            "warning",
        )
    yield Sentence(f"Try: {installed.example}")


def copy_sentences(copied: Copied) -> Iterator[Sentence]:
    """Count the copied documents, and name the damaged texts."""
    n, texts = copied.n_rows["documents"], counted(copied.n_rows["contents"], "text")
    versions = f"{counted(n, 'version')} of documents ({copied.n_current:,} current)"
    documents = counted(n, "document") if n == copied.n_current else versions
    yield Sentence(f": {documents}, with {texts}", strong=copied.file)
    for fault in (*copied.faults, *(f"the text of {one} is damaged" for one in copied.damaged_documents)):
        yield Sentence(f"copied unchanged: {fault}", "damage")
