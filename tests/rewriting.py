"""Test modules as pytest rewrites them, written once: the workers of a fresh clone would each rewrite all of them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path

import pytest

# Internals of pytest: it has no public way to write rewritten modules in advance. If a function has another name, the
# workers rewrite the modules themselves, which is slower, and nothing fails. If an import here fails, no test runs.
from _pytest.assertion import rewrite
from _pytest.assertion.rewrite import AssertionRewritingHook, assertstate_key


def rewrite_once(config: pytest.Config, places: Iterable[Path]) -> None:
    """Write what is not there yet, or is out of date, for the test modules in these places."""
    if not isinstance(config.pluginmanager.rewrite_hook, AssertionRewritingHook):  # --assert=plain
        return
    patterns = [*config.getini("python_files"), "conftest.py"]
    files = {
        file
        for place in places
        for file in ([place] if place.is_file() else (file for name in patterns for file in place.rglob(name)))
    }
    for file in sorted(files):
        # whatever is wrong, a worker says so; and another pytest may have other names for this
        with contextlib.suppress(SyntaxError, AttributeError, TypeError, OSError):
            _rewrite(config, file)


def _rewrite(config: pytest.Config, file: Path) -> None:
    folder = rewrite.get_cache_dir(file)
    written = folder / (file.stem + rewrite.PYC_TAIL)
    if file.suffix == ".py" and rewrite._read_pyc(file, written) is None and rewrite.try_makedirs(folder):
        status, code = rewrite._rewrite_test(file, config)
        rewrite._write_pyc(config.stash[assertstate_key], code, status, written)
