"""``nearkin doctor``: installed versions, and facts about this machine."""

from __future__ import annotations

import os
import platform
import re
import sqlite3
import sys
from importlib.metadata import PackageNotFoundError, requires, version

from nearkin._version import __version__
from nearkin.cli.answering import answer
from nearkin.errors import EngineError, RunError
from nearkin.options.running import PrintOptions
from nearkin.reports.facts.fact import Fact
from nearkin.workflows.resources import Resources

HELP = """
Show the versions of Nearkin, Python and all libraries, the installed extras, the cores and memory of this machine, \
and the sandbox of the processes that extract texts. Paste the output into a bug report; it contains no file or user \
names.

Example:

  nearkin doctor
"""
_EXTRAS = ("report", "collection", "postgresql", "align", "spark", "documents", "pst", "web")
_REQUIREMENT = re.compile(r"^([\w.-]+)(?:\[[^\]]*\])?[^;]*(?:;\s*extra\s*==\s*['\"]([\w-]+)['\"])?")


def doctor(job: PrintOptions) -> None:
    """Show what is installed."""
    machine, libraries, extras = _machine(), _libraries(""), {name: _libraries(name) for name in _EXTRAS}
    rows = {name: str(value) for name, value in machine.items()} | {"libraries": _in_words(libraries)}
    for extra, versions in extras.items():
        rows[f"extra {extra}"] = _in_words(versions) if all(versions.values()) else _missing(versions)
    summary = {"machine": machine, "libraries": libraries, "extras": extras}
    answer(job, summary, [Fact(name, value) for name, value in rows.items()])


def _machine() -> dict[str, object]:

    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 0
    return {
        "nearkin": __version__,
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "system": platform.platform(),
        "processor": platform.machine(),
        "cores": Resources().n_threads,
        "memory": f"{memory / 2**30:.1f} GiB" if memory else "not known",
        "sqlite": sqlite3.sqlite_version,
        "java": _java(),
        "stdout encoding": getattr(sys.stdout, "encoding", None) or "not known",
        "extraction": _sandbox(),
    }


def _sandbox() -> str:
    from nearkin.stages.documents.extraction.pool import check_sandbox

    try:
        return check_sandbox().in_words
    except (RunError, OSError) as error:
        return f"not possible: {error}"


def _java() -> str:

    try:
        from nearkin.engines.spark.requirements import check_java

        return str(check_java())
    except ImportError:
        return "not looked for: the spark extra is not installed"
    except EngineError as error:
        return str(error)


def _libraries(extra: str) -> dict[str, str | None]:
    versions = dict[str, str | None]()
    for requirement in requires("nearkin") or ():
        matched = _REQUIREMENT.match(requirement)
        if matched and (matched[2] or "") == extra and matched[1] != "nearkin":
            try:
                versions[matched[1]] = version(matched[1])
            except PackageNotFoundError:
                versions[matched[1]] = None
    return versions


def _in_words(versions: dict[str, str | None]) -> str:
    return ", ".join(f"{name} {number}" for name, number in versions.items())


def _missing(versions: dict[str, str | None]) -> str:
    return f"not installed: {', '.join(name for name, number in versions.items() if number is None)}"
