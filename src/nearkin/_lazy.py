"""Lazy imports: the names of a module are imported when they are first used."""

from __future__ import annotations

import importlib
import sys

TYPE_CHECKING = False  # as in `nearkin`
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


def lazy(module: str, places: Mapping[str, str]) -> Callable[[str], Any]:
    """Make the ``__getattr__`` of a module whose names live in others; a module inside it lives in itself."""

    def load(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        place = importlib.import_module(places[name])
        value = place if place.__name__ == f"{module}.{name}" else getattr(place, name)
        setattr(sys.modules[module], name, value)
        return value

    return load
