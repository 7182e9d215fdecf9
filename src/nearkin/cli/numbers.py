"""Numbers on the command line: Python also takes digits of other scripts, and underscores between digits."""

from __future__ import annotations

import copy
import math
from typing import Any

from nearkin.plain_numbers import is_plain_number, plain_float

NUMBER_TYPES = ("int", "int range", "float", "float range")
"""Names of the types of parameters that are numbers."""


def of_plain_numbers(parameter_type: Any) -> Any:
    """Return a type of numbers that refuses other digits than 0 to 9, and underscores; other types as they are."""
    if getattr(parameter_type, "name", None) not in NUMBER_TYPES:
        return parameter_type
    plain = copy.copy(parameter_type)

    def convert(value: Any, parameter: Any, context: Any) -> Any:
        percent = plain_float(value[:-1]) if isinstance(value, str) and value.endswith("%") else None
        if percent is not None and math.isfinite(percent) and "float" in parameter_type.name:
            parameter_type.fail(f"{value} is a percentage. Write {percent / 100:g}.", parameter, context)
        if isinstance(value, str) and not is_plain_number(value):
            parameter_type.fail(f"{value!r} must be written with the digits 0 to 9, without _.", parameter, context)
        return parameter_type.convert(value, parameter, context)

    plain.convert = convert
    return plain
