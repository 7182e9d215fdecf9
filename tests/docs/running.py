"""Running what a page shows, in a folder of its own."""

from __future__ import annotations

import doctest
import os
import subprocess
import sys
from pathlib import Path

from commands import program
from docs.pages import ROOT
from spark_cluster import NO_SETTINGS, java_options

OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
SAID_ONCE = "· compiling kernels for this job"  # once in an environment: the pages do not count on being that run


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
        environment |= {"JDK_JAVA_OPTIONS": java_options(), "SPARK_CONF_DIR": str(NO_SETTINGS)}
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
    lines = [line.rstrip() for line in ran.stdout.splitlines() if not line.startswith(SAID_ONCE)]
    if ran.returncode:
        lines.append(f"[exit code {ran.returncode}]")
    return "\n".join(lines)


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
