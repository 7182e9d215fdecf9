"""What a person sees: bars on a terminal, none in a pipe, and a table at the end."""

from __future__ import annotations

import os
import pty
import re
import subprocess
from pathlib import Path

import pytest

from commands import quick_command
from functional.conftest import CHOSEN, nearkin


def on_a_terminal(*arguments: str | Path) -> tuple[int, str]:
    """The exit code and all that a terminal 100 columns wide was sent."""
    parent, child = pty.openpty()
    environment = os.environ | {"TERM": "xterm-256color", "COLUMNS": "100"}
    process = subprocess.Popen(quick_command(*arguments), stdin=child, stdout=child, stderr=child, env=environment)
    os.close(child)
    sent = b""
    while True:
        try:
            piece = os.read(parent, 65536)
        except OSError:  # how Linux says that the other end is closed
            break
        if not piece:
            break
        sent += piece
    os.close(parent)
    return process.wait(60), sent.decode()


@pytest.fixture(scope="module")
def seen(corpus, tmp_path_factory) -> str:
    out = tmp_path_factory.mktemp("seen") / "out"
    code, sent = on_a_terminal("dedup", *corpus, "--out", out, *CHOSEN, "--no-report", "--write-kept")
    assert code == 0
    return sent


def plain(sent: str) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", sent)


def test_a_bar_for_every_stage(seen):
    assert "\x1b[" in seen
    for stage in ("read", "sketch", "link", "verify", "group", "write"):
        assert re.search(rf"✓ {stage} +━+", plain(seen)), stage


def test_the_cursor_is_back_at_the_end(seen):
    assert seen.rfind("\x1b[?25h") > seen.rfind("\x1b[?25l")


def test_no_bars_and_no_colours_in_a_pipe(corpus, tmp_path):
    ended = nearkin("dedup", *corpus, "--out", tmp_path / "out", *CHOSEN, "--no-report")
    assert ended.code == 0
    assert "\x1b" not in ended.out + ended.err
    assert "━" not in ended.out + ended.err
    assert "exact copy" in ended.out
    assert all(line.startswith("· ") for line in ended.err.splitlines())  # what was guessed and planned


def test_a_reader_that_goes_away(corpus, tmp_path):
    """``nearkin dedup … | head -1`` is no error to shout about."""
    process = subprocess.Popen(
        quick_command("dedup", *corpus, "--out", tmp_path / "out", *CHOSEN, "--no-report"),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    process.stdout.close()
    err = process.stderr.read().decode()
    assert process.wait(60) == 141
    assert "Traceback" not in err
    assert "Exception ignored" not in err
    assert (tmp_path / "out/manifest.json").exists()
