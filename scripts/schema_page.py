"""Write the tables of a collection into docs/reference/tables.md from their comments: ``make docs``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import Table

BEGIN, END = "<!-- tables: written by make docs -->", "<!-- end of tables -->"
BESIDE = {
    "search_words": "Words of texts, a long one in parts: `content`, `part`, `words` (tsvector; FTS5 in SQLite).",
    "shingles": "Word 5-grams of texts, made by `nearkin sql install`: `content`, `hashes` (sorted, eight bytes each).",
    "tags": "View of the current tags: `doc_id`, `field`, `value` (empty: a bare tag), `activity` that set it.",
    "indexed_documents": "View of the current documents, with wave and similarity index.",
}


def tables() -> str:
    """The diagram and the tables."""
    from nearkin.store import schema

    listed = [*schema.metadata.sorted_tables, schema.check_keys]
    return "\n".join([*_diagram(listed), "", *(line for table in listed for line in _table(table)), *_beside()])


def _diagram(listed: list[Table]) -> Iterator[str]:
    """What refers to what: under each table those that refer to it."""
    yield "```text"
    for table in listed:
        keys = [
            f"{other.name}.{column.name}"
            for other in listed
            for column in other.columns
            if any(key.column.table.name == table.name for key in column.foreign_keys)
        ]
        if keys:
            yield f"{table.name}.{next(iter(table.primary_key)).name}"
            yield from (f"{'└' if key == keys[-1] else '├'}─< {key}" for key in keys)
    yield "```"


def _table(table: Table) -> Iterator[str]:
    yield f"**{table.name}**: {table.comment}"
    yield ""
    for column in table.columns:
        yield f"- `{column.name}`: {column.comment}"
    yield ""


def _beside() -> Iterator[str]:
    yield from (f"- **{name}**: {said}" for name, said in BESIDE.items())


def page(text: str) -> str:
    """The page with today's tables."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{tables()}\n\n{END}{after}"


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.write_text(page(target.read_text("utf-8")), "utf-8")
