"""Hiding of pandas from commands that do not need it.

pyarrow imports pandas to see whether a value is a series, which takes 0.3 s, and no value of a command is one. PySpark
needs pandas.
"""

from __future__ import annotations

import contextlib
import sys


class _NoPandas:
    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("pandas is not used by this command", name=name)


def hide_pandas() -> None:
    """Let imports of pandas fail from now on."""
    sys.meta_path.insert(0, _NoPandas)


def show_pandas() -> None:
    """Let imports of pandas succeed again."""
    with contextlib.suppress(ValueError):  # it was not hidden
        sys.meta_path.remove(_NoPandas)
