"""Every command, registered by being imported."""

from __future__ import annotations

from nearkin.cli import (  # noqa: F401
    add,
    align,
    audit,
    check,
    collection_info,
    compare,
    conflicts,
    dedup,
    families,
    groups,
    lab_cross_lingual,
    lab_minhash,
    lab_range_search,
    lab_signatures,
    lab_similarity_index,
    neighbours,
    pairs,
    plan,
    regroup,
    sign,
    similar,
    sql,
    statistics,
)
from nearkin.cli.align import align as translation_tables
from nearkin.cli.shell import app, lab
from nearkin.cli.shell import sql as plain_sql

app.add_typer(lab, name="lab")
app.add_typer(plain_sql, name="sql")
app.add_typer(translation_tables, name="align")
