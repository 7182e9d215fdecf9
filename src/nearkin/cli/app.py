"""The command line: every command and its place in the list of commands."""

from __future__ import annotations

from typing import Annotated, ClassVar

import typer

from nearkin._version import __version__
from nearkin.cli.command_line import CommandLine
from nearkin.cli.lazy_group import CommandEntry, LazyGroup, Panels


class Root(LazyGroup):
    """The commands of ``nearkin``."""

    panels: ClassVar[Panels] = {
        "Clean a corpus": (
            CommandEntry("dedup", "Find exact copies and near-duplicates; keep one document per group", "dedup"),
            CommandEntry(
                "regroup", "Regroup the pairs of a finished run at a higher threshold", "dedup", "REGROUP_HELP"
            ),
            CommandEntry("families", "Group contracts by form, and list what differs in each", "families"),
            CommandEntry("threads", "Put mails into threads, and mark the inclusive ones", "families", "THREADS_HELP"),
        ),
        "Collections": (
            CommandEntry("add", "Add documents to a collection", "add", "ADD_HELP"),
            CommandEntry("remove", "Remove documents from a collection", "add", "REMOVE_HELP"),
            CommandEntry("show", "Show the text and the metadata of a document", "browsing", "SHOW_HELP"),
            CommandEntry("list", "List documents by wave, id, file or date", "browsing", "LIST_HELP", "list_documents"),
            CommandEntry("history", "List the older texts of a document, with changes", "browsing", "HISTORY_HELP"),
            CommandEntry(
                "exceptions", "List files that gave no text, or only a part of it", "browsing", "EXCEPTIONS_HELP"
            ),
            CommandEntry(
                "search", "Find documents by their words, phrases and beginnings of words", "similar", "SEARCH_HELP"
            ),
            CommandEntry("check", "Check whether a similar document is stored already", "check"),
            CommandEntry("similar", "Find all stored documents similar to a document or text", "similar"),
            CommandEntry("compare", "Compare two documents word by word", "compare", "COMPARE_HELP"),
            CommandEntry(
                "versions", "List the documents similar to a document, with changes", "compare", "VERSIONS_HELP"
            ),
            CommandEntry("groups", "Group near-duplicates, and list what changed since last time", "groups"),
            CommandEntry("conflicts", "Find near-duplicates with different labels", "conflicts"),
            CommandEntry("info", "Count documents, versions and waves", "collection_info", "INFO_HELP"),
            CommandEntry("waves", "List the waves of a collection", "collection_info", "WAVES_HELP"),
            CommandEntry("fsck", "Find damage in stored data, and rebuild the index", "collection_info", "FSCK_HELP"),
            CommandEntry("serve", "Serve the review screen of a collection to a browser", "serve"),
            CommandEntry("users", "Manage the users of nearkin serve, their roles and tokens", "serve", "USERS_HELP"),
            CommandEntry("sql", "Query a collection in PostgreSQL in plain SQL", "sql"),
        ),
        "Decisions": (
            CommandEntry("tag", "Set a tag on documents", "decisions", "TAG_HELP"),
            CommandEntry("untag", "Remove a tag from documents", "decisions", "UNTAG_HELP"),
            CommandEntry("tags", "Count tags by field and value", "decision_lists", "TAGS_HELP"),
            CommandEntry("decide", "Keep documents together or apart; choose principals", "decisions", "DECIDE_HELP"),
            CommandEntry("undo", "Undo a tag or a decision", "decisions", "UNDO_HELP"),
            CommandEntry("log", "List who decided what, and when", "decision_lists", "LOG_HELP"),
            CommandEntry("purge", "Erase documents and their texts for good", "decisions", "PURGE_HELP"),
        ),
        "Signatures": (
            CommandEntry("sign", "Make a bit signature of every document", "sign"),
            CommandEntry("neighbours", "Find all pairs of signatures that differ in few bits", "neighbours"),
            CommandEntry("statistics", "Count features, for weighted signatures", "sign", "STATISTICS_HELP"),
            CommandEntry("index", "Compute similarity indexes and MinHash keys, to store elsewhere", "index"),
        ),
        "Two languages": (
            CommandEntry("align", "Learn a translation table from parallel sentences", "align"),
            CommandEntry("pairs", "Find similar documents in two corpora, in one or two languages", "pairs"),
        ),
        "Measure": (
            CommandEntry("plan", "Predict the recall and the cost of a search", "plan"),
            CommandEntry("audit", "Measure the recall of a finished run on a random sample", "audit"),
        ),
        "Set-up": (CommandEntry("doctor", "Show versions, extras and this machine, for a bug report", "doctor"),),
    }


app = CommandLine(
    name="nearkin",
    cls=Root,
    help="Find documents that say nearly the same thing; verify pairs, measure recall. nearkin COMMAND --help shows "
    "the options of a command, with examples.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(is_wanted: bool) -> None:
    if is_wanted:
        typer.echo(f"nearkin {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass
