"""A question as plain SQL, for whoever has a shell of a database and nothing else."""

from __future__ import annotations

from fractions import Fraction
from importlib.resources import files
from typing import Literal

from nearkin.collection.documents import check_id
from nearkin.collection.tolerance import Tolerance
from nearkin.errors import ParameterError
from nearkin.store.bulk import is_storable
from nearkin.store.place import check_schema
from nearkin.store.schema import PROJECTIONS

Dialect = Literal["postgresql", "sqlite", "duckdb"]
DIALECTS: tuple[Dialect, ...] = ("postgresql", "sqlite", "duckdb")
_OWNER = "nearkin sql"
_MAX_PLACES = 126
"""Letter counts of the longest vectors."""
_BITS = {"sqlite": 63, "duckdb": 126}
"""Of the whole numbers that arithmetic is exact in; PostgreSQL's have no end."""


def similar_query(doc_id: str, tolerance: Tolerance, *, dialect: str = "postgresql", schema: str = "nearkin") -> str:
    """A query that finds what `Collection.similar` finds for a document, from the stored tables alone.

    Parameters
    ----------
    doc_id : str
    tolerance : Tolerance
        By "range" or "si".
    dialect : {"postgresql", "sqlite", "duckdb"}
    schema : str
        Of PostgreSQL.

    Raises
    ------
    ParameterError
        Another method; a tolerance with more decimals than the database's whole numbers can be exact in.

    Examples
    --------
    >>> print(similar_query("it's", Tolerance.of("si"), dialect="sqlite").splitlines()[5].strip())
    WHERE doc_id = 'it''s'
    """
    check_dialect(dialect)
    words = {"doc_id": quoted(doc_id, dialect), "schema": _prefix(dialect, schema)}
    # SQLite would else begin with whatever is small
    words["join"] = "CROSS JOIN" if dialect == "sqlite" else "JOIN"
    if tolerance.method == "si":
        return _filled("similar_by_index.sql", words | _of_index(tolerance.value, dialect))
    if tolerance.method == "range":
        return _filled("similar_in_range.sql", words | _of_range(tolerance.value, dialect))
    raise ParameterError.of("method", _OWNER, "'range' or 'si': the others take more than SQL", tolerance.method)


def check_dialect(dialect: str) -> None:
    """Refuse a database that is not known.

    Raises
    ------
    ParameterError
    """
    if dialect not in DIALECTS:
        raise ParameterError.of("dialect", _OWNER, " or ".join(DIALECTS), dialect)


def quoted(text: str, dialect: str = "postgresql") -> str:
    r"""A text as SQL has it, whatever is in it.

    Raises
    ------
    ParameterError
        No database can hold it.

    Examples
    --------
    >>> print(quoted("it's"), quoted("a\\b"), quoted("a\\b", "sqlite"))
    'it''s' E'a\\b' 'a\b'
    """
    check_id(text)
    if not is_storable(text):
        raise ParameterError.of("doc_id", _OWNER, "text that a database can hold, without U+0000", text)
    doubled = text.replace("'", "''")
    if dialect == "postgresql" and "\\" in text:  # with E they mean the same however the server is set up
        doubled = doubled.replace("\\", "\\\\")
        return f"E'{doubled}'"
    return f"'{doubled}'"


def _prefix(dialect: str, schema: str) -> str:
    if dialect != "postgresql":
        return ""
    check_schema(schema, _OWNER)
    return f"{schema}."


def _filled(name: str, words: dict[str, str]) -> str:
    """A template, with its names in braces replaced: the id last, so that nothing in it is taken for a name."""
    text = files(__package__).joinpath(name).read_text("utf-8")
    for word in sorted(words, key=lambda word: word == "doc_id"):
        text = text.replace(f"{{{word}}}", words[word])
    return text


def _fraction(parameter: str, value: float, dialect: str, power: int) -> tuple[int, int]:
    """A decimal number as two whole ones, to a power, that the database can be exact with."""
    exact = Fraction(repr(float(value))) ** power
    if dialect != "postgresql" and exact.numerator * exact.denominator >= 1 << _BITS[dialect]:
        rule = f"of fewer decimals, or smaller, for {dialect}, whose whole numbers have {_BITS[dialect] + 1} bits"
        raise ParameterError.of(parameter, _OWNER, rule, value)
    return exact.numerator, exact.denominator


def _decimal(value: float) -> str:
    """The number as it is written, so that NUMERIC is exact."""
    return f"CAST('{float(value)!r}' AS NUMERIC)"


def _of_index(tolerance: float, dialect: str) -> dict[str, str]:
    above, below = _fraction("tolerance", tolerance, dialect, 1)
    if dialect == "sqlite" and tolerance > 1:
        raise ParameterError.of(
            "tolerance", _OWNER, "at most 1 for sqlite, whose whole numbers have 64 bits", tolerance
        )
    size = "ABS(similarity_index)"
    if dialect == "postgresql":
        low = "CAST(GREATEST(asked.similarity_index - asked.reach, -9223372036854775808) AS BIGINT)"
        high = "CAST(LEAST(asked.similarity_index + asked.reach, 9223372036854775807) AS BIGINT)"
        reach = f"CEIL(ABS({_decimal(tolerance)} * similarity_index)) - 1"
        difference = "ABS(CAST(similarity_index AS NUMERIC) - asked_index)"
    else:
        low, high = "asked.similarity_index - asked.reach", "asked.similarity_index + asked.reach"
        difference = "ABS(similarity_index - asked_index)"
        # the whole part and the rest apart: the product of both would be too long
        reach = f"{above} * ({size} / {below}) + ({above} * ({size} % {below}) + {below} - 1) / {below} - 1"
    if dialect == "duckdb":
        size = "ABS(CAST(similarity_index AS HUGEINT))"
        reach = f"({above} * {size} + {below} - 1) // {below} - 1"
        difference = "ABS(CAST(similarity_index AS HUGEINT) - asked_index)"
    shown = f"{float(tolerance)!r}"
    return {"tolerance": shown, "reach": reach, "low": low, "high": high, "difference": difference}


def _of_range(gamma: float, dialect: str) -> dict[str, str]:
    above, below = _fraction("gamma", gamma, dialect, 2)
    numerator, denominator = _fraction("gamma", gamma, dialect, 1)
    length, squared = "profiles.length", "profiles.squared_length"
    words = {"gamma": f"{float(gamma)!r}"}
    words["columns"] = ",\n           ".join(f"profiles.{name}" for name in PROJECTIONS)
    words["conditions"] = "\n        ".join(
        f"AND found.{name} BETWEEN asked.{name} - asked.reach AND asked.{name} + asked.reach"
        for name in PROJECTIONS[1:]
    )
    if dialect == "postgresql":
        decimal = _decimal(gamma)
        words["most"] = f"LEAST(FLOOR({decimal} * {decimal} * {squared}), 9223372036854775807)"
        words["reach"] = f"CAST(LEAST(CEIL({decimal} * ({length} + 1)), 2147483648) AS BIGINT)"
        words["places"] = f"SELECT generate_series(0, {_MAX_PLACES - 1})"
        words["digits"] = "contents.counts"
        words["has_place"] = "4 * place < OCTET_LENGTH(asked.digits)"
        words |= {f"{owner}_count": _of_bytes(owner_of) for owner, owner_of in _OWNERS}
        return words
    over = "//" if dialect == "duckdb" else "/"
    wide = "CAST({} AS HUGEINT)".format if dialect == "duckdb" else str
    # the whole part and the rest apart: the product of both would be too long
    most = f"{wide(above)} * ({squared} {over} {below}) + ({wide(above)} * ({squared} % {below})) {over} {below}"
    words["most"] = most
    words["reach"] = f"({wide(numerator)} * ({length} + 1)) {over} {denominator} + 1"
    if dialect == "duckdb":
        words["places"] = f"SELECT range FROM range({_MAX_PLACES})"
    else:
        words["places"] = f"VALUES (0) UNION ALL SELECT place + 1 FROM places WHERE place < {_MAX_PLACES - 1}"
    words["digits"] = "HEX(contents.counts)"
    words["has_place"] = "8 * place < LENGTH(asked.digits)"
    words |= {f"{owner}_count": _of_digits(owner_of) for owner, owner_of in _OWNERS}
    return words


_OWNERS = (("asked", "asked.digits"), ("candidate", "candidates.digits"))


def _of_bytes(counts: str) -> str:
    """The count at a place of PostgreSQL's bytes."""
    place = "place" if counts.startswith("asked") else "asked_counts.place"
    parts = [f"{256**i} * CAST(GET_BYTE({counts}, 4 * {place} + {i}) AS BIGINT)" for i in range(4)]
    return f"({' + '.join(parts)})"


def _of_digits(digits: str) -> str:
    """The count at a place of hexadecimal digits, two a byte."""
    place = "place" if digits.startswith("asked") else "asked_counts.place"
    weights = [16 * 256 ** (i // 2) if i % 2 == 0 else 256 ** (i // 2) for i in range(8)]
    parts = [
        f"{weight} * (INSTR('0123456789ABCDEF', SUBSTR({digits}, 8 * {place} + {i + 1}, 1)) - 1)"
        for i, weight in enumerate(weights)
    ]
    return "(" + "\n            + ".join(parts) + ")"
