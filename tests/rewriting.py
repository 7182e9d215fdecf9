"""Test modules as pytest rewrites them, written once: the workers of a fresh clone would each rewrite all of them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from _pytest.assertion import rewrite
from _pytest.assertion.rewrite import AssertionRewritingHook, assertstate_key


def rewrite_once(config: pytest.Config, places: Iterable[Path]) -> int:
    """Write what is not there yet, or is out of date, for the test modules in these places; how many that were."""
    if not isinstance(config.pluginmanager.rewrite_hook, AssertionRewritingHook):  # --assert=plain
        return 0
    patterns = [*config.getini("python_files"), "conftest.py"]
    files = {
        file
        for place in places
        for file in ([place] if place.is_file() else (file for name in patterns for file in place.rglob(name)))
    }
    return sum(_is_rewritten_now(config, file) for file in sorted(files) if file.suffix == ".py")


def _is_rewritten_now(config: pytest.Config, file: Path) -> bool:
    folder = rewrite.get_cache_dir(file)
    written = folder / (file.stem + rewrite.PYC_TAIL)
    if rewrite._read_pyc(file, written) is not None or not rewrite.try_makedirs(folder):
        return False
    status, code = rewrite._rewrite_test(file, config)
    return rewrite._write_pyc(config.stash[assertstate_key], code, status, written)
