"""Answers of screens and forms: values for a template, the same as JSON, or another address."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class ScreenAnswer:
    """Answer of a screen.

    Parameters
    ----------
    template : str
        Name of the template of the page, or of the part of one.
    values : mapping of str to object
        Values of the template.
    data : object
        The same answer as JSON types.
    """

    template: str
    values: Mapping[str, Any]
    data: object


@dataclass(frozen=True, slots=True)
class GoTo:
    """Address to go to after a change, so that reloading the page changes nothing again."""

    path: str
    query: Mapping[str, object] = field(default_factory=dict)
