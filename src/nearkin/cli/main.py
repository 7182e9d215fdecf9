"""``nearkin``: its commands; run one, report its error, and exit with its code."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NoReturn

import click
from click.shell_completion import shell_complete

from nearkin._version import __version__
from nearkin.cli.command_line import CommandEntry, CommandGroup, take_every_character
from nearkin.errors import CollectionBusyError, NearkinError, OutputError, ParameterError, quoted
from nearkin.paths import why, without_password
from nearkin.wording import reveal_line

_INTERRUPTED = 130
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
_COMPLETION = "_NEARKIN_COMPLETE"
"""Variable by which a shell asks for completions; click names it so."""


def run(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and exit with its code."""
    take_every_character(sys.stdout, sys.stderr)
    with _interruptible():
        code = _code_of(sys.argv[1:] if arguments is None else arguments)
    sys.exit(code)


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """Let Ctrl-C, SIGTERM, and the end of the terminal raise KeyboardInterrupt; then do what was done before."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)}
    signal.signal(signal.SIGTERM, _as_interrupt)
    if before[signal.SIGHUP] is signal.SIG_DFL:
        terminals = [stream for stream in (1, 2) if os.isatty(stream)]  # afterwards they are none any more
        signal.signal(signal.SIGHUP, partial(_as_termination, terminals))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


def _code_of(arguments: list[str]) -> int:
    try:
        if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        with interrupts_repeated():
            code = _invoked(arguments)
    except click.exceptions.Exit as error:
        code = error.exit_code
    except click.ClickException as error:
        for argument in arguments:  # a wrong command, value or argument too many may be the URL of a database
            value = argument.partition("=")[2] if argument.startswith("-") else argument
            error.message = error.message.replace(value, without_password(value)) if value else error.message  # type: ignore[misc]
        error.show()
        code = error.exit_code
    except NearkinError as error:
        code = fail(error, as_json="--json" in arguments)
    except (KeyboardInterrupt, click.Abort) as error:
        _say_interrupted(error)
        code = _INTERRUPTED
    except BrokenPipeError:
        code = _end_in_silence()
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:  # whatever asked for it: no file system has such a name
            failed: NearkinError = ParameterError(f"File name too long: {quoted(os.fsdecode(error.filename))}.")
        elif error.filename is None and error.errno in _FULL:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            failed = OutputError(f"Cannot write to standard output: {why(error)}.")
        else:
            raise
        code = fail(failed, as_json="--json" in arguments)
    except MemoryError as error:
        _say_memory(error)
        code = 1
    return code if isinstance(code, int) else 0


def _invoked(arguments: list[str]) -> object:
    if instruction := os.environ.get(_COMPLETION):
        return shell_complete(app, {}, "nearkin", _COMPLETION, instruction)
    with app.make_context("nearkin", [*arguments]) as context:
        return app.invoke(context)


def _end_in_silence() -> int:
    """Return the exit code of other tools whose output nobody reads any more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 141


def fail(error: NearkinError, *, as_json: bool) -> int:
    """Print an error on standard error, for a person or a program."""
    advice = ["Commands that write wait longer with --wait SECONDS."] if isinstance(error, CollectionBusyError) else []
    message = " ".join([str(error), *advice, *_notes_of(error)])
    if as_json:
        failure = {"error": type(error).__name__, "message": message, "exit_code": error.exit_code}
        click.echo(json.dumps(failure), err=True)
    else:
        click.secho(f"Error: {reveal_line(message)}", fg="red", err=True)
    return error.exit_code


def _say_interrupted(error: BaseException | None = None) -> None:
    click.echo(" ".join(["\nInterrupted.", *_notes_of(error)]), err=True)


def _say_memory(error: MemoryError) -> None:
    advice = "Not enough memory. Give --memory a smaller size, or close other programs."
    click.echo(" ".join([advice, *_notes_of(error)]), err=True)


def _notes_of(error: BaseException | None) -> list[str]:
    return getattr(error, "__notes__", [])


def _as_interrupt(number: int, frame: object) -> NoReturn:
    raise KeyboardInterrupt


def _as_termination(terminals: Sequence[int], number: int, frame: object) -> None:
    for stream in terminals:  # they are gone: writing a progress bar would be an error in place of the interruption
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
    signal.raise_signal(signal.SIGTERM)  # which a web service handles in its own way


_AGAIN_S = 0.01


@contextmanager
def interrupts_repeated() -> Iterator[None]:
    """Send an interruption again that Python could only print: it cannot leave a function that C code calls.

    Otherwise Ctrl-C is lost while numba compiles.
    """
    printed_before, sent = sys.unraisablehook, list[threading.Timer]()

    def send_again(error: Any) -> None:
        if not issubclass(error.exc_type, KeyboardInterrupt):
            printed_before(error)
            return
        wait_s = _AGAIN_S
        while True:
            try:
                timer = threading.Timer(wait_s, os.kill, (os.getpid(), signal.SIGTERM))
                timer.daemon = True
                timer.start()
                sent.append(timer)
                return
            except KeyboardInterrupt:  # on a busy machine it may come while this function runs
                wait_s = 2 * wait_s + _AGAIN_S

    sys.unraisablehook = send_again
    try:
        yield
    finally:
        sys.unraisablehook = printed_before
        for timer in sent:
            timer.cancel()


_PANELS = {
    "Clean a corpus": (
        CommandEntry("dedup", "Find exact copies and near-duplicates; keep one document per group", "dedup"),
        CommandEntry("regroup", "Regroup the pairs of a finished run at a higher threshold", "dedup"),
        CommandEntry("passages", "Find passages that stand in several documents; cut or list them", "families"),
        CommandEntry("families", "Group contracts by form, and list what differs in each", "families"),
        CommandEntry("threads", "Put mails into threads, and mark the inclusive ones", "families"),
    ),
    "Collections": (
        CommandEntry("add", "Add documents to a collection", "add"),
        CommandEntry("remove", "Remove documents from a collection", "decisions"),
        CommandEntry("show", "Show the text and the metadata of a document", "browsing"),
        CommandEntry("list", "List documents by wave, id, file or date", "browsing", "list_documents"),
        CommandEntry("history", "List the older texts of a document, with changes", "browsing"),
        CommandEntry("exceptions", "List files that gave no text, or only a part of it", "browsing"),
        CommandEntry("search", "Find documents by their words, phrases and beginnings of words", "similar"),
        CommandEntry("check", "Check whether a similar document is stored already", "check"),
        CommandEntry("similar", "Find all stored documents similar to a document or text", "similar"),
        CommandEntry("compare", "Compare two documents word by word", "compare"),
        CommandEntry("versions", "List the documents similar to a document, with changes", "compare"),
        CommandEntry("groups", "Group near-duplicates, and list what changed since last time", "groups"),
        CommandEntry("conflicts", "Find near-duplicates with different labels", "groups"),
        CommandEntry("info", "Count documents, versions and waves", "collection_info"),
        CommandEntry("waves", "List the waves of a collection", "collection_info"),
        CommandEntry("fsck", "Find damage in stored data, and rebuild the index", "collection_info"),
        CommandEntry("serve", "Serve the review screen of a collection to a browser", "serve"),
        CommandEntry("users", "Manage the users of nearkin serve, their roles and tokens", "serve"),
        CommandEntry("sql", "Query a collection in PostgreSQL in plain SQL", "collection_info"),
    ),
    "Decisions": (
        CommandEntry("tag", "Set a tag on documents", "decisions"),
        CommandEntry("untag", "Remove a tag from documents", "decisions"),
        CommandEntry("tags", "Count tags by field and value", "decisions"),
        CommandEntry("coding", "Set the fields that reviewers code on the screen", "decisions"),
        CommandEntry("batches", "Make batches of documents, and show their progress", "batches"),
        CommandEntry("second-look", "Have a sample of calls coded again", "batches"),
        CommandEntry("privilege-log", "List the privileged documents", "batches"),
        CommandEntry("decide", "Keep documents together or apart; choose principals", "decisions"),
        CommandEntry("undo", "Undo a tag or a decision", "decisions"),
        CommandEntry("log", "List who decided what, and when", "decisions"),
        CommandEntry("purge", "Erase documents and their texts for good", "decisions"),
    ),
    "Signatures": (
        CommandEntry("sign", "Make a bit signature of every document", "sign"),
        CommandEntry("neighbours", "Find all pairs of signatures that differ in few bits", "sign"),
        CommandEntry("statistics", "Count features, for weighted signatures", "sign"),
        CommandEntry("index", "Compute similarity indexes and MinHash keys, to store elsewhere", "sign"),
    ),
    "Two languages": (
        CommandEntry("align", "Learn a translation table from parallel sentences", "align"),
        CommandEntry("pairs", "Find similar documents in two corpora, in one or two languages", "pairs"),
    ),
    "Measure": (
        CommandEntry("plan", "Predict the recall and the cost of a search", "pairs"),
        CommandEntry("audit", "Measure the recall of a finished run on a random sample", "audit"),
        CommandEntry("evaluate", "Compare a result with pairs or groups that are known to be true", "audit"),
    ),
    "Set-up": (CommandEntry("doctor", "Show versions, extras and this machine, for a bug report", "doctor"),),
}


_group = CommandGroup(
    "nearkin",
    "Find documents that say nearly the same thing; verify pairs, measure recall. nearkin COMMAND --help shows the "
    "options of a command, with examples.",
    _PANELS,
)
app = click.version_option(__version__, prog_name="nearkin", message="%(prog)s %(version)s")(_group)
