"""Lazy imports: the names of a module are imported when they are first used."""

from __future__ import annotations

import importlib
import sys

TYPE_CHECKING = False  # as in `nearkin`
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


def lazy(module: str, places: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Make ``__getattr__``, ``__dir__`` and ``__all__`` of a module whose names live in others.

    ``places`` has the names in each of these, with spaces between them; a module inside the module has its own name.
    """
    place_of = {name: place for place, names in places.items() for name in names.split()}

    def load(name: str) -> Any:
        if name not in place_of:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        place = importlib.import_module(place_of[name])
        value = place if place.__name__ == f"{module}.{name}" else getattr(place, name)
        setattr(sys.modules[module], name, value)
        return value

    names = sorted(place_of)
    return load, lambda: names, [name for name in names if place_of[name] != f"{module}.{name}"]
