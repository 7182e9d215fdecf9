"""Late imports of two packages of the standard library.

SQLAlchemy imports asyncio and importlib.metadata at once and uses them only with asynchronous drivers and plug-ins, of
which Nearkin has none: 70 modules, a twentieth of the time of a short command. Here they are imported when something
of them is first used.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import threading
from collections.abc import Sequence
from functools import partial
from types import ModuleType
from typing import Any

_LATE: dict[str, Sequence[str]] = {"asyncio": ["iscoroutine"], "importlib.metadata": []}
"""The packages, with functions that SQLAlchemy takes from them at once, and calls later or never."""
_lock = threading.Lock()


class _LateModule(ModuleType):
    """Module in the place of another one, until an attribute of it is asked for; then it hands on all attributes."""

    def __getattr__(self, name: str) -> Any:
        with _lock:
            if sys.modules.get(self.__name__) is self:
                del sys.modules[self.__name__]
        return getattr(importlib.import_module(self.__name__), name)


def defer_modules() -> None:
    """Import the packages when they are first used, if they are not imported already."""
    for name, functions in _LATE.items():
        if name in sys.modules:
            continue
        module = _LateModule(name)
        module.__spec__ = importlib.util.find_spec(name)  # an import statement looks at it
        for function in functions:
            setattr(module, function, partial(_call, module, function))
        sys.modules[name] = module
        package, _, last = name.rpartition(".")
        if package:
            setattr(sys.modules[package], last, module)


def _call(module: _LateModule, function: str, *arguments: Any) -> Any:
    return module.__getattr__(function)(*arguments)
