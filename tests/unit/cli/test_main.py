"""How a command ends, bars and table among it."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path

import click
import pytest

from nearkin.cli import main
from nearkin.cli.bars import Bars
from nearkin.cli.command_line import Command
from nearkin.errors import DocumentError, NearkinError, OutputError, ParameterError
from nearkin.options.running import PrintOptions
from nearkin.runs.run import JobRun


@pytest.fixture
def ends(monkeypatch, capsys):
    """Run the shell around a command that does what the test says; the handlers of signals are put back."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)}

    def run(*arguments: str, doing=None):
        monkeypatch.setattr(main, "_invoked", lambda arguments: doing())
        with pytest.raises(SystemExit) as caught:
            main.run(list(arguments))
        said = capsys.readouterr()
        return caught.value.code, said.out, said.err

    yield run
    for number, handler in handlers.items():
        signal.signal(number, handler)


def raising(error: BaseException):
    def do():
        raise error

    return do


@pytest.mark.parametrize("error", [NearkinError("x"), ParameterError.of("a", "c", 1), DocumentError("f:3: bad")])
def test_errors_end_with_their_code_and_say_why(ends, error):
    code, out, err = ends("dedup", doing=raising(error))
    assert (code, out, err) == (error.exit_code, "", f"Error: {error}\n")


def in_a_run(directory: Path, error: BaseException, *, keeps: bool = True, is_resumable: bool = True):
    """A run of a command that fails, after it kept something."""

    def do():
        run = JobRun(directory, is_resumable=is_resumable)
        with run.claimed({"command": "dedup"}, resume=False, overwrite=False):
            if keeps:
                (run.work / "done").touch()
            raise error

    return do


def as_a_command(doing):
    """Interruptions go through the hands of click."""

    def do(job: PrintOptions) -> None:
        doing()

    command = Command("do", do, help="Do it.")
    return lambda: command.invoke(command.make_context("do", []))


@pytest.mark.parametrize("through", [lambda doing: doing, as_a_command])
def test_ctrl_c_says_how_to_go_on(ends, tmp_path, through):
    code, out, err = ends("dedup", doing=through(in_a_run(tmp_path, KeyboardInterrupt())))
    assert (code, out) == (130, "")
    assert "--resume" in err


def test_a_second_command_is_interrupted_too_and_the_process_has_its_handlers_again(ends):
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a process in the background begins with an ignored one
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    numbers = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers]
    assert ends(doing=lambda: None)[0] == 0
    assert [signal.getsignal(number) for number in numbers] == before
    for number in numbers:
        assert ends(doing=lambda number=number: signal.raise_signal(number))[0] == 130
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as after nohup
    assert ends(doing=lambda: signal.raise_signal(signal.SIGHUP))[0] == 0


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt(), click.Abort()])
def test_ctrl_c_outside_of_a_run(ends, interrupt):
    assert ends("info", "x", doing=raising(interrupt)) == (130, "", "\nInterrupted.\n")


def test_too_little_memory_says_what_helps(ends, tmp_path):
    code, _, err = ends("add", doing=raising(MemoryError()))
    assert (code, "--memory" in err, "--resume" in err) == (1, True, False)
    code, _, err = ends("dedup", doing=in_a_run(tmp_path, MemoryError()))
    assert (code, "--memory" in err, "--resume" in err) == (1, True, True)


def test_a_full_disk_says_how_to_go_on_where_work_was_kept(ends, tmp_path):
    code, _, err = ends("dedup", doing=in_a_run(tmp_path / "a", OutputError("the disk is full")))
    assert (code, err.count("--resume")) == (5, 1)
    code, _, err = ends("dedup", "--json", doing=in_a_run(tmp_path / "b", OutputError("the disk is full")))
    assert (code, json.loads(err)["message"].count("--resume")) == (5, 1)
    for name, options in (("c", {"keeps": False}), ("d", {"is_resumable": False})):
        code, _, err = ends("regroup", doing=in_a_run(tmp_path / name, OutputError("the disk is full"), **options))
        assert (code, err) == (5, "Error: the disk is full\n")


def test_messages_are_no_markup(capsys):
    Bars(is_quiet=False).say("text column: 'x[/red]' [bold]")
    assert "text column: 'x[/red]' [bold]" in capsys.readouterr().err


def test_no_line_of_a_help_text_is_longer_than_80_columns_but_examples(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    waiting, n_seen = [("nearkin", main.app)], 0
    while waiting:
        name, one = waiting.pop()
        context = one.make_context(name, [], resilient_parsing=True)
        if isinstance(one, click.Group):
            waiting += [(f"{name} {inner}", one.get_command(context, inner)) for inner in one.list_commands(context)]
        lines = one.get_help(context).splitlines()
        assert max(len(line) for line in lines if not re.match(r"  .*nearkin ", line)) <= 80, name
        n_seen += 1
    assert n_seen > 40
