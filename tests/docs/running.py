"""Running what a page shows, in a folder of its own."""

from __future__ import annotations

import doctest
import os
import re
import runpy
import shlex
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from unittest import mock

from command_here import call_here
from commands import program
from docs.pages import ROOT
from spark_cluster import NO_SETTINGS, UNCOMPILED, java_options

OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
_QUOTED = re.compile(r"'[^']*'" r'|"[^"$`\\]*"')
_MEANT_FOR_SHELLS = frozenset("|&;<>()$`*?[]{}~#!\n\\")
SAID_ONCE = "· compiling kernels that this"  # once in an environment: the pages do not count on being that run


def workplace(folder: Path) -> Path:
    """A folder in which the commands of a page find the examples, and a home without settings."""
    (folder / "examples").symlink_to(ROOT / "examples")
    (folder / "home").mkdir()
    (folder / "bin").mkdir()
    program(folder / "bin")
    return folder


def run_in_shell(command: str, folder: Path) -> str:
    """What a command prints, its errors too, and its exit code when it is not 0."""
    environment = {
        "PATH": os.pathsep.join([str(folder / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]]),
        "HOME": str(folder / "home"),
        "COLUMNS": "100",
        "LANG": "C.UTF-8",
        "OPENBLAS_NUM_THREADS": "1",  # the tests run on every core already
    }
    if "--engine spark" in command:
        environment |= {
            "JDK_JAVA_OPTIONS": f"{java_options()} -D{UNCOMPILED}=false",
            "SPARK_CONF_DIR": str(NO_SETTINGS),
        }
    call = _call(command, folder)
    if call is not None:
        code, printed, _ = call_here(
            call, arguments=shlex.split(command), folder=folder, environment=environment, is_err_to_out=True
        )
    else:
        ran = subprocess.run(
            ["bash", "-c", command],
            cwd=folder,
            env=environment,
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        code, printed = ran.returncode, ran.stdout
    lines = [line.rstrip() for line in printed.splitlines() if not line.startswith(SAID_ONCE)]
    if code:
        lines.append(f"[exit code {code}]")
    return "\n".join(lines)


def _call(command: str, folder: Path) -> Callable[[], object] | None:
    """What a command does that is nothing but a call of Nearkin or of an example: it needs no process, and no shell."""
    if set(_QUOTED.sub("", command)) & _MEANT_FOR_SHELLS:
        return None
    name, *arguments = shlex.split(command)
    if name == "nearkin" and arguments[:1] != ["serve"] and "spark" not in arguments:
        from nearkin.cli.main import run

        return partial(run, arguments)
    if name == "python" and arguments[0] == "-c":
        return partial(exec, arguments[1], {"__name__": "__main__"})
    if name == "python" and arguments[0].startswith("examples/"):
        return partial(_run_script, folder / arguments[0], arguments[1:])
    return None


def _run_script(script: Path, arguments: list[str]) -> None:
    """Run a script as ``python script`` does, and forget the modules beside it: the next page has its own."""
    given, places = [str(script), *arguments], [str(script.parent), *sys.path]
    with mock.patch.object(sys, "argv", given), mock.patch.object(sys, "path", places):
        runpy.run_path(str(script), run_name="__main__")
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None)).startswith(f"{script.parent}{os.sep}"):
            del sys.modules[name]


def matches(said: str, came: str) -> bool:
    """Whether a page says what came; "..." stands for anything, and white space is white space."""
    return doctest.OutputChecker().check_output(said.strip() + "\n", came.strip() + "\n", OPTIONS)


def run_python(text: str, name: str, line: int, names: dict[str, object]) -> str:
    """Run a block of Python among the names of those before it; what it printed that the page does not say."""
    if ">>> " not in text:
        exec(compile(text, name, "exec"), names)
        return ""
    example = doctest.DocTestParser().get_doctest(text, names, name, name, line)
    said: list[str] = []
    doctest.DocTestRunner(optionflags=OPTIONS).run(example, out=said.append, clear_globs=False)
    names.update(example.globs)
    return "".join(said)
