"""Queries in plain SQL, for users who have only a database shell."""

from __future__ import annotations

from fractions import Fraction
from importlib.resources import files
from typing import Literal

from nearkin.collection.stored.documents import check_id
from nearkin.collection.tolerance import Tolerance, described
from nearkin.errors import ParameterError
from nearkin.nouns import one_of
from nearkin.store.bulk import is_storable
from nearkin.store.place import check_schema
from nearkin.store.schema import PROJECTIONS

Dialect = Literal["postgresql", "sqlite", "duckdb"]
DIALECTS: tuple[Dialect, ...] = ("postgresql", "sqlite", "duckdb")
_OWNER = "nearkin sql"
_MAX_PLACES = 126
"""Number of letter counts of the longest vectors."""
_BITS = {"sqlite": 63, "duckdb": 126}
"""Bits of the integers in exact arithmetic; PostgreSQL's are unlimited."""


def similar_query(doc_id: str, tolerance: Tolerance, *, dialect: str = "postgresql", schema: str = "nearkin") -> str:
    """Return a query for the documents similar to one, from the stored tables alone.

    By letter counts and by similarity index it finds what `Collection.similar` finds. By wording, candidates are the
    texts that share keys, not those with near signatures, and the tables are those that `nearkin sql install` fills.

    Parameters
    ----------
    doc_id : str
    tolerance : Tolerance
        For method "minhash", "range" or "si".
    dialect : {"postgresql", "sqlite", "duckdb"}
    schema : str
        PostgreSQL only.

    Raises
    ------
    ParameterError
        The method is another, or the tolerance has too many decimals for the database's integers.

    Examples
    --------
    >>> print(similar_query("it's", Tolerance.of("si"), dialect="sqlite").splitlines()[5].strip())
    WHERE doc_id = 'it''s'
    """
    check_dialect(dialect)
    words = {"doc_id": sql_literal(doc_id, dialect), "schema": _prefix(dialect, schema)}
    # otherwise SQLite would start with any table that is small
    words["join"] = "CROSS JOIN" if dialect == "sqlite" else "JOIN"
    if tolerance.method == "si":
        return _filled("similar_by_index.sql", words | _of_index(tolerance.value, dialect))
    if tolerance.method == "range":
        return _filled("similar_in_range.sql", words | _of_range(tolerance.value, dialect))
    if tolerance.method == "minhash":
        return _filled("similar_by_words.sql", words | _of_words(tolerance.value, dialect))
    rule = "'words', 'letters' or 'si'; the others need more than SQL"
    raise ParameterError.of("measure", _OWNER, rule, tolerance.measure)


_NO_GROUPS = "There are no such groups; run nearkin groups. Stored groupings: "


def groups_query(tolerance: Tolerance, *, dialect: str = "postgresql", schema: str = "nearkin") -> str:
    """Return a query for the stored group of each current document, which collapses near-duplicates in a list.

    Parameters
    ----------
    tolerance : Tolerance
        Tolerance of the groups.
    dialect : {"postgresql", "sqlite", "duckdb"}
    schema : str
        PostgreSQL only.

    Examples
    --------
    >>> print(groups_query(Tolerance.of(), dialect="sqlite").splitlines()[4].strip())
    SELECT MAX("grouping") AS number FROM groupings WHERE tolerance = 'minhash, threshold 0.5'
    """
    check_dialect(dialect)
    prefix = _prefix(dialect, schema)
    counted = f"'{_NO_GROUPS}' || (SELECT COUNT(*) FROM {prefix}groupings)"  # not evaluated while databases plan
    missing = {
        "postgresql": f"CAST({counted} AS INTEGER)",
        "sqlite": f"JSON_EXTRACT('{{}}', {counted})",
        "duckdb": f"ERROR({counted})",
    }[dialect]
    words = {"schema": prefix, "missing": missing, "stored": sql_literal(str(tolerance), dialect)}
    words |= {"tolerance": described(str(tolerance)), "options": tolerance.in_options()}
    return _filled("group_of_documents.sql", words)


def check_dialect(dialect: str) -> None:
    """Refuse an unknown database.

    Raises
    ------
    ParameterError
    """
    if dialect not in DIALECTS:
        raise ParameterError.of("dialect", _OWNER, one_of(DIALECTS), dialect)


def sql_literal(text: str, dialect: str = "postgresql") -> str:
    r"""Return a text as an SQL literal.

    Raises
    ------
    ParameterError
        No database can store the text.

    Examples
    --------
    >>> print(sql_literal("it's"), sql_literal("a\\b"), sql_literal("a\\b", "sqlite"))
    'it''s' E'a\\b' 'a\b'
    """
    check_id(text)
    if not is_storable(text):
        raise ParameterError.of("doc_id", _OWNER, "text that a database can hold, without U+0000", text)
    doubled = text.replace("'", "''")
    if dialect == "postgresql" and "\\" in text:  # with E, the meaning does not depend on the server's settings
        doubled = doubled.replace("\\", "\\\\")
        return f"E'{doubled}'"
    return f"'{doubled}'"


def _prefix(dialect: str, schema: str) -> str:
    if dialect != "postgresql":
        return ""
    check_schema(schema, _OWNER)
    return f"{schema}."


def _filled(name: str, words: dict[str, str]) -> str:
    """Fill in a template's names in braces; the id comes last, so that its content is never taken for a name."""
    text = files(__package__).joinpath(name).read_text("utf-8")
    for word in sorted(words, key=lambda word: word == "doc_id"):
        text = text.replace(f"{{{word}}}", words[word])
    return text


def _fraction(parameter: str, value: float, dialect: str, power: int) -> tuple[int, int]:
    """Return a decimal number as two integers, raised to a power, for exact arithmetic in the database."""
    exact = Fraction(repr(float(value))) ** power
    if dialect != "postgresql" and exact.numerator * exact.denominator >= 1 << _BITS[dialect]:
        rule = f"a number with fewer decimals, or smaller, for {dialect}, whose integers have {_BITS[dialect] + 1} bits"
        raise ParameterError.of(parameter, _OWNER, rule, value)
    return exact.numerator, exact.denominator


def _decimal(value: float) -> str:
    """Return the number as written, so that NUMERIC is exact."""
    return f"CAST('{float(value)!r}' AS NUMERIC)"


_INCOMPLETE = "Word 5-grams are missing; run nearkin sql install. First text without them at or below "
_DAMAGED = "The stored text is damaged; run nearkin fsck. Text "


def _of_words(threshold: float, dialect: str) -> dict[str, str]:
    fails = {
        # the number of the text keeps databases from evaluating a constant while they plan
        "postgresql": "CAST('{}' || documents.content AS BOOLEAN)",
        "sqlite": "JSON_EXTRACT('{{}}', '{}' || documents.content)",
        "duckdb": "ERROR('{}' || documents.content)",
    }[dialect]
    words = {
        "threshold": repr(float(threshold)),
        "incomplete": fails.format(_INCOMPLETE),
        "damaged": fails.format(_DAMAGED),
        "hashes": "shingles.hashes",
        "n_hashes": f"{'LENGTH' if dialect == 'sqlite' else 'OCTET_LENGTH'}(shingles.hashes) / 8",
        "places": "",
    }
    hash_at = "SUBSTR({0}.hashes, 8 * place + 1, 8)".format
    if dialect == "postgresql":
        words["hashes"] = "shingles.hashes || CAST('' AS BYTEA)"  # read from its own table once
        places = "GENERATE_SERIES(0, {0}.n_hashes - 1) AS place".format
        words["of_asked"] = f"SELECT {hash_at('asked')} AS hash FROM asked CROSS JOIN LATERAL {places('asked')}"
        # a filter looks hashes up; a join would sort rows that hold a whole set each
        words["shared"] = (
            "SELECT candidates.content, candidates.n_hashes, (\n"
            f"        SELECT COUNT(*) FILTER (WHERE {hash_at('candidates')} IN (SELECT hash FROM ours))\n"
            f"        FROM {places('candidates')}\n"
            "    ) AS n_both\n"
            "    FROM candidates"
        )
        return words
    if dialect == "duckdb":
        words["hashes"], words["n_hashes"] = "HEX(shingles.hashes)", "OCTET_LENGTH(shingles.hashes) // 8"
        split, joined = "UNNEST(REGEXP_EXTRACT_ALL(hashes, '.{16}')) AS hash", "JOIN"
        words["of_asked"] = f"SELECT {split} FROM asked"
        theirs = f"SELECT content, n_hashes, {split} FROM candidates"
    else:
        longest = "(SELECT MAX(asked.n_hashes, (SELECT MAX(n_hashes) FROM candidates)) FROM asked)"
        words["places"] = (
            "places(place) AS (\n"
            "    SELECT 0 FROM asked WHERE n_hashes > 0\n"
            f"    UNION ALL SELECT place + 1 FROM places WHERE place < {longest}\n), "
        )
        places, joined = "CROSS JOIN places ON places.place < {0}.n_hashes".format, "CROSS JOIN"
        words["of_asked"] = f"SELECT {hash_at('asked')} AS hash FROM asked {places('asked')}"
        hashes = f"{hash_at('candidates')} AS hash"
        theirs = f"SELECT candidates.content, candidates.n_hashes, {hashes} FROM candidates {places('candidates')}"
    words["shared"] = (
        "SELECT theirs.content, theirs.n_hashes, COUNT(*) AS n_both\n"
        f"    FROM ({theirs}) AS theirs\n"
        f"    {joined} ours ON ours.hash = theirs.hash\n"
        "    GROUP BY theirs.content, theirs.n_hashes"
    )
    return words


def _of_index(tolerance: float, dialect: str) -> dict[str, str]:
    above, below = _fraction("tolerance", tolerance, dialect, 1)
    if dialect == "sqlite" and tolerance > 1:
        raise ParameterError.of("tolerance", _OWNER, "at most 1 for sqlite, whose integers have 64 bits", tolerance)
    size = "ABS(similarity_index)"
    if dialect == "postgresql":
        low = "CAST(GREATEST(asked.similarity_index - asked.reach, -9223372036854775808) AS BIGINT)"
        high = "CAST(LEAST(asked.similarity_index + asked.reach, 9223372036854775807) AS BIGINT)"
        reach = f"CEIL(ABS({_decimal(tolerance)} * similarity_index)) - 1"
        difference = "ABS(CAST(similarity_index AS NUMERIC) - asked_index)"
    else:
        low, high = "asked.similarity_index - asked.reach", "asked.similarity_index + asked.reach"
        difference = "ABS(similarity_index - asked_index)"
        # quotient and remainder separately: the full product would overflow
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
    # quotient and remainder separately: the full product would overflow
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
    """Return the SQL for the count at a position of PostgreSQL's bytes."""
    place = "place" if counts.startswith("asked") else "asked_counts.place"
    parts = [f"{256**i} * CAST(GET_BYTE({counts}, 4 * {place} + {i}) AS BIGINT)" for i in range(4)]
    return f"({' + '.join(parts)})"


def _of_digits(digits: str) -> str:
    """Return the SQL for the count at a position of hexadecimal digits, two per byte."""
    place = "place" if digits.startswith("asked") else "asked_counts.place"
    weights = [16 * 256 ** (i // 2) if i % 2 == 0 else 256 ** (i // 2) for i in range(8)]
    parts = [
        f"{weight} * (INSTR('0123456789ABCDEF', SUBSTR({digits}, 8 * {place} + {i + 1}, 1)) - 1)"
        for i, weight in enumerate(weights)
    ]
    return "(" + "\n            + ".join(parts) + ")"
