"""Names of fields, and values of tags, as people give them."""

from __future__ import annotations

from nearkin.errors import ParameterError
from nearkin.store.bulk import is_name, is_storable

BETWEEN_VALUES = "; "
"""Between the values of a tag that has several."""
MAX_OF_A_VALUE = 1_000
_MAX_OF_A_FIELD = 100


def parsed(text: str) -> tuple[str, str]:
    """Split ``FIELD=VALUE``; a bare tag has no value.

    Examples
    --------
    >>> parsed("responsive=yes"), parsed("privileged")
    (('responsive', 'yes'), ('privileged', ''))
    """
    field, equals, value = text.partition("=")
    if not field.strip():
        raise ParameterError(f"{text!r} names no tag. Write FIELD or FIELD=VALUE.")
    if equals and not value.strip():
        raise ParameterError(f"The tag {text!r} has no value after =. Write {field!r} for a bare tag.")
    return checked_field(field), checked_value(value)


def checked_field(field: object) -> str:
    """Return the name of a field without surrounding white space."""
    is_field = isinstance(field, str) and is_storable(field) and field.strip().isprintable() and "=" not in field
    is_field = is_field and not str(field).strip().endswith((" by", " at"))  # columns of tables beside the value
    if not isinstance(field, str) or not is_field or not 0 < len(field.strip()) <= _MAX_OF_A_FIELD:
        rule = f"a name of 1 to {_MAX_OF_A_FIELD} printable characters without =, not ending in by or at"
        raise ParameterError.of("field", rule, field)
    return field.strip()


def checked_value(value: object) -> str:
    """Return the value of a tag without surrounding white space.

    Raises
    ------
    ParameterError
    """
    is_text = isinstance(value, str) and is_name(value.strip()) and len(value) <= MAX_OF_A_VALUE
    if not isinstance(value, str) or not is_text or (value and not value.strip()):
        rule = f"a str of at most {MAX_OF_A_VALUE:,} characters in one line, not blank; empty for a bare tag"
        raise ParameterError.of("value", rule, value)
    return value.strip()
