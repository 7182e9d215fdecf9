"""Kernels that no cache of this machine has: whoever asks learns that the run compiles them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

_ASKED = """
import numpy as np
from nearkin.kernels.choosing import announcing, has_compiled, loops

with announcing(lambda: print("announced")):
    before = has_compiled()
    loops("linking", 1 << 30).mark_many(np.zeros(1, np.uint64), 61, np.zeros(1, np.uint8))
print(before, has_compiled())
with announcing(lambda: None):
    print(has_compiled())
"""


def _printed(cache: Path) -> list[str]:
    """What a process of its own says, which begins without kernels."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", _ASKED]
    return subprocess.run(command, env=environment, text=True, capture_output=True, check=True).stdout.split()


def test_a_run_that_compiles_knows_it_and_the_next_one_does_not(tmp_path: Path) -> None:
    assert _printed(tmp_path) == ["announced", "False", "True", "False"]
    assert _printed(tmp_path) == ["False", "False", "False"]
