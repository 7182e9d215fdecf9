"""The process of a command ends without freeing what it has imported, unless that makes a difference."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

ENDING = """
import atexit, os, sys, threading, time
from nearkin.cli.main import main

def work():
    time.sleep(0.3)
    print("worked")

def at_once(code, end=os._exit):
    os.write(1, b"at once\\n")
    end(code)

os._exit = at_once
atexit.register(print, "at exit")
{before}
sys.argv = ["nearkin", *{arguments}]
main()
"""


def ended(*arguments: str, before: str = "", cwd: object = None, stdout: object = subprocess.PIPE):
    program = ENDING.format(before=before, arguments=list(arguments))
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    return subprocess.run(
        [sys.executable, "-c", program],
        cwd=cwd,
        env=environment,
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(("arguments", "code"), [(["--version"], 0), (["nothing"], 2), (["info", "missing"], 7)])
def test_a_command_ends_at_once_with_its_code_and_all_output(arguments, code, tmp_path) -> None:
    done = ended(*arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout.splitlines()[-2:]) == (code, ["at exit", "at once"])
    assert bool(done.stderr) == (code != 0)


@pytest.mark.parametrize("watch", ["sys.settrace(lambda *_: None)", "sys.setprofile(lambda *_: None)"])
def test_a_debugger_or_profiler_sees_the_end(watch) -> None:
    done = ended("--version", before=watch)
    assert (done.returncode, done.stdout.splitlines()[1:]) == (0, ["at exit"])


def test_a_thread_is_waited_for() -> None:
    done = ended("--version", before="threading.Thread(target=work).start()")
    assert (done.returncode, done.stdout.splitlines()[1:]) == (0, ["worked", "at exit"])


def test_output_that_cannot_be_written_at_the_end_is_reported() -> None:
    with open("/dev/full", "w") as full:
        done = ended("nothing", before="sys.stdout.write('late')", stdout=full)
    assert done.returncode == 120  # what Python makes of it
    assert "No space left on device" in done.stderr
