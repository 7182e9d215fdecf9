"""Packages that are imported when they are first used."""

from __future__ import annotations

import subprocess
import sys

import pytest

START = """
import importlib, sys
from nearkin.cli.late_modules import defer_modules
defer_modules()
import asyncio, importlib.metadata
from importlib import metadata
import sqlalchemy
from sqlalchemy.util.concurrency import is_exit_exception, iscoroutine
assert "asyncio.events" not in sys.modules
assert "importlib.metadata._meta" not in sys.modules

async def work():
    await asyncio.sleep(0)
    return "worked"

"""
USES = {
    "an attribute": "print(asyncio.run(work()))",
    "a name": "from asyncio import run\nprint(run(work()))",
    "all names": "from asyncio import *\nprint(run(work()))",
    "a module of it": "import asyncio.base_events\nprint(asyncio.run(work()))",
    "a module by name": "from asyncio import base_events\nimport asyncio\nprint(asyncio.run(work()))",
    "a module's name": "from asyncio.runners import run\nprint(run(work()))",
    "another name of it": "late = asyncio\nlate.run\nimport asyncio\n"
    "assert late.Queue is asyncio.Queue\nprint('worked')",
    "a function taken before": "late = work()\nassert iscoroutine(late) and not iscoroutine(1)\n"
    "late.close()\nprint('worked')",
    "an error": "assert is_exit_exception(asyncio.CancelledError())\nassert not is_exit_exception(OSError())\n"
    "print('worked')",
    "threads": "from concurrent.futures import ThreadPoolExecutor\n"
    "with ThreadPoolExecutor(8) as pool:\n"
    "    assert len(set(pool.map(lambda _: asyncio.Queue, range(100)))) == 1\n"
    "print('worked')",
    "metadata": "assert metadata.version('numpy') == importlib.metadata.version('numpy')\nprint('worked')",
    "a name of metadata": "from importlib.metadata import version\nassert version('numpy')\nprint('worked')",
    "a missing name": "assert not hasattr(asyncio, 'nothing') and not hasattr(metadata, 'nothing')\nprint('worked')",
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_a_package_is_imported_by_its_first_use(use) -> None:
    done = subprocess.run([sys.executable, "-c", START + use], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("worked\n", "")


def test_a_package_that_is_imported_stays() -> None:
    code = "import asyncio, sys\nfrom nearkin.cli.late_modules import defer_modules\ndefer_modules()\n"
    code += "print(sys.modules['asyncio'] is asyncio)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "True\n"
