"""``nearkin sql``: queries in plain SQL."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from nearkin.cli.command_line import CommandLine
from nearkin.cli.lazy_group import PlainGroup
from nearkin.cli.options.collection import (
    ChosenAlphabet,
    ChosenIndex,
    DocId,
    Gamma,
    Json,
    Place,
    ReadOnly,
    Tolerance,
    Wait,
    WordsThreshold,
)
from nearkin.cli.options.decisions import GroupGamma, GroupThreshold
from nearkin.cli.options.definitions import Overwrite, Quiet

_SIMILAR = """
Print a query in plain SQL, for psql, sqlite3 or duckdb, that finds the documents similar to a stored one. The query \
reads only stored tables.

By default documents match by their wording: the Jaccard similarity of their word 5-grams, computed exactly, is at \
least --threshold. Only texts that share a key are compared, so a few similar documents may be missing. Run \
[bold]nearkin sql install[/] first: it creates the tables of this query. --measure letters and si need no \
preparation, and find what nearkin similar finds.

[bold]Examples[/]

  nearkin sql similar lease-17 --threshold 0.7 | psql postgresql://ada:secret@localhost/matters

  nearkin sql similar lease-17 --measure si --dialect sqlite | sqlite3 matter/nearkin.sqlite
"""
_GROUPS = """
Print a query in plain SQL for the group of each current document, and its principal. Keep \
only the principals to reduce any list to one document per group. The groups are those that nearkin groups stored.

[bold]Example[/]

  nearkin sql groups --dialect sqlite | sqlite3 matter/nearkin.sqlite
"""
_SCHEMA = """
Print the tables, indexes and view of a collection as SQL.

[bold]Example[/]

  nearkin sql schema --dialect sqlite
"""
_INSTALL = """
Prepare a collection for plain SQL; a missing collection is created. Stores the word 5-grams and keys of its texts, \
and from then on those of all texts that are added. PostgreSQL gets functions and views too: similar_by_words, \
near_duplicates, similar_documents and similar_by_index answer without Nearkin. Run the command again after an update \
of Nearkin.

[bold]Examples[/]

  nearkin sql install matter

  nearkin sql install postgresql://ada:secret@localhost/matters --flag-look-alikes 0.5
"""
_COPY = """
Copy the tables of a collection to a DuckDB file, under the same names. Query it with: nearkin sql similar ID \
--dialect duckdb. Documents that are added later are not copied.

[bold]Example[/]

  nearkin sql copy matter matter.duckdb
"""
_option = partial(typer.Option, rich_help_panel="SQL", show_default=False)
_Method = Annotated[
    str | None,
    typer.Option(
        "--measure",
        "--method",
        help="words: shared word 5-grams, by --threshold; needs nearkin sql install. letters: letter counts, by "
        "--gamma. si: the similarity index, by --tolerance. [dim]default: words[/]",
        rich_help_panel="Similarity",
        show_default=False,
    ),
]
_Dialect = Annotated[str, _option("--dialect", help="postgresql, sqlite or duckdb. [dim]default: postgresql[/]")]
_Schema = Annotated[str, _option("--schema", help="PostgreSQL schema of the collection. [dim]default: nearkin[/]")]
_FlagLookAlikes = Annotated[
    float | None,
    _option(
        "--flag-look-alikes",
        metavar="LIMIT",
        help="For each added document, record in the table look_alikes the stored documents that are at least this "
        "similar, and NOTIFY nearkin_look_alike. LIMIT is a Jaccard similarity above 0 and at most 1; with "
        "--measure letters, a gamma of at least 0 and below 1.",
    ),
]
_FlagMeasure = Annotated[
    str | None,
    _option(
        "--measure",
        help="Measure of --flag-look-alikes: words (shared word 5-grams) or letters (letter counts). "
        "[dim]default: words[/]",
    ),
]
_NoFlag = Annotated[bool, _option("--no-flag", help="Stop flagging look-alikes; rows flagged earlier stay.")]
_File = Annotated[
    Path, typer.Argument(metavar="FILE", help="DuckDB file to create, such as matter.duckdb.", show_default=False)
]

sql = CommandLine(
    help="Query a collection in plain SQL, in PostgreSQL, SQLite or DuckDB.", cls=PlainGroup, no_args_is_help=True
)


@sql.command(help=_SIMILAR, short_help="Print a query that finds similar documents")
def similar(
    doc_id: DocId,
    measure: _Method = None,
    threshold: WordsThreshold = None,
    gamma: Gamma = None,
    tolerance: Tolerance = None,
    dialect: _Dialect = "postgresql",
    schema: _Schema = "",
) -> None:
    """Print a query."""
    _check_schema(dialect, schema)
    from nearkin.collection.plain_sql.queries import similar_query
    from nearkin.collection.tolerance import Tolerance

    limits = {"threshold": threshold, "gamma": gamma, "tolerance": tolerance}
    alike = Tolerance.of(measure, **limits)  # type: ignore[arg-type]  # it checks the measure
    typer.echo(similar_query(doc_id, alike, dialect=dialect, schema=schema or "nearkin"), nl=False)


@sql.command(help=_GROUPS, short_help="Print a query for the group of each document")
def groups(
    threshold: GroupThreshold = None, gamma: GroupGamma = None, dialect: _Dialect = "postgresql", schema: _Schema = ""
) -> None:
    """Print a query."""
    _check_schema(dialect, schema)
    from nearkin.collection.plain_sql.queries import groups_query
    from nearkin.collection.tolerance import Tolerance

    alike = Tolerance.of(threshold=threshold, gamma=gamma)
    typer.echo(groups_query(alike, dialect=dialect, schema=schema or "nearkin"), nl=False)


@sql.command(help=_SCHEMA, short_help="Print the tables and indexes of a collection as SQL")
def schema(dialect: _Dialect = "postgresql", schema: _Schema = "") -> None:
    """Print the tables."""
    _check_schema(dialect, schema)
    from nearkin.collection.plain_sql.ddl import schema_script

    typer.echo(schema_script(dialect=dialect, schema_name=schema or "nearkin"), nl=False)


def _check_schema(dialect: str, schema: str) -> None:
    from nearkin.errors import ParameterError

    if schema not in ("", "nearkin") and dialect in ("sqlite", "duckdb"):
        raise ParameterError(
            "--schema is for --dialect postgresql; with the other dialects, each collection is a file of its own."
        )


@sql.command(help=_INSTALL, short_help="Prepare a collection for plain SQL")
def install(
    collection: Place,
    flag_look_alikes: _FlagLookAlikes = None,
    measure: _FlagMeasure = None,
    no_flag: _NoFlag = False,
    alphabet: ChosenAlphabet = None,
    index: ChosenIndex = None,
    wait: Wait = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Put tables and functions into the database."""
    from nearkin.cli.bars import bars_shown
    from nearkin.cli.printing import tell
    from nearkin.collection.opened import OpenedCollection
    from nearkin.collection.plain_sql.installing import check_flagging
    from nearkin.collection.plain_sql.installing import install as put
    from nearkin.reports.sentences.sql import install_sentences
    from nearkin.store.store import Access

    # before anything is made
    check_flagging(collection, flag_look_alikes, measure=measure, stops_flagging=no_flag)
    with (
        bars_shown(is_quiet=quiet or as_json) as bars,
        OpenedCollection.open(
            collection,
            create=True,
            alphabet=alphabet,  # type: ignore[arg-type]  # it checks it
            similarity_index=index,
            access=Access(wait),
            progress=bars,
        ) as opened,
    ):
        installed = put(
            opened,
            flag_look_alikes=flag_look_alikes,
            measure=measure or "words",  # type: ignore[arg-type]  # it was checked
            stops_flagging=no_flag,
        )
    tell(installed.to_dict, lambda console: console.say(install_sentences(installed)), as_json=as_json, quiet=quiet)


@sql.command(help=_COPY, short_help="Copy a collection into a DuckDB file")
def copy(
    collection: Place,
    duckdb_file: _File,
    read_only: ReadOnly = False,
    overwrite: Overwrite = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Copy a collection into a DuckDB file."""
    from nearkin.cli.bars import bars_shown
    from nearkin.cli.printing import tell
    from nearkin.cli.result_file import check_free
    from nearkin.collection.opened import OpenedCollection
    from nearkin.collection.plain_sql.duckdb_copy import check_duckdb, copy_to_duckdb
    from nearkin.errors import CollectionError
    from nearkin.reports.sentences.sql import copy_sentences
    from nearkin.store.store import Access

    check_free(duckdb_file, overwrite=overwrite, inputs=(), option="FILE")
    check_duckdb()
    access = Access(is_read_only=read_only)
    with (
        bars_shown(is_quiet=quiet or as_json) as bars,
        OpenedCollection.open(collection, access=access, progress=bars) as opened,
    ):
        copied = copy_to_duckdb(opened, duckdb_file)
    tell(copied.to_dict, lambda console: console.say(copy_sentences(copied)), as_json=as_json, quiet=quiet)
    if copied.damaged_documents or copied.faults:
        raise typer.Exit(CollectionError.exit_code)
