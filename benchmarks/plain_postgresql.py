"""A collection in PostgreSQL, queried in plain SQL: bytes per document, and processor time of the server.

Documents are those of ``corpus.py``. The server is one of its own, as the tests start it (no fsync). Times are
processor time of the server's process, warm and without parallel workers: other work on the machine changes them
little. A time per million is given only where two sizes show that it grows as the rows do::

    python benchmarks/plain_postgresql.py --documents 20000 100000
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

import nearkin
from corpus import write_corpus
from nearkin.collection.plain_sql import install
from waves import HERE, run

sys.path.insert(0, str(HERE.parent / "tests"))
from postgresql import Server, running

EACH = 200
ASKED = "SELECT doc_id, similarity_index FROM nearkin.indexed_documents WHERE similarity_index IS NOT NULL ORDER BY row"
SIZES = """
SELECT relname, pg_table_size(oid), pg_indexes_size(oid) FROM pg_class
WHERE relnamespace = 'nearkin'::regnamespace AND relkind = 'r' AND pg_table_size(oid) > 65536 ORDER BY 2 DESC
"""
OF_ONE: dict[str, Callable[[str, int], str]] = {
    "similar_by_jaccard(id, 0.5)": lambda name, _: f"SELECT * FROM nearkin.similar_by_jaccard('{name}', 0.5)",
    "similar_by_letters(id, 0.025)": lambda name, _: f"SELECT * FROM nearkin.similar_by_letters('{name}', 0.025)",
    "similar_by_letters(id, 0.05)": lambda name, _: f"SELECT * FROM nearkin.similar_by_letters('{name}', 0.05)",
    "near_duplicate_pairs WHERE doc_id": lambda name, _: (
        f"SELECT * FROM nearkin.near_duplicate_pairs WHERE doc_id = '{name}'"
    ),
    "similar_by_index(si, 0.01)": lambda _, si: f"SELECT * FROM nearkin.similar_by_index({si}, 0.01)",
    "similar_by_index(si)": lambda _, si: f"SELECT * FROM nearkin.similar_by_index({si})",
}
"""Questions about one document."""
OF_ALL = {
    "exact copies": (
        "SELECT content, count(*) FROM nearkin.documents WHERE is_current GROUP BY content HAVING count(*) > 1"
    ),
    "equal similarity indexes": (
        "SELECT similarity_index, array_agg(doc_id) FROM nearkin.indexed_documents GROUP BY 1 HAVING count(*) > 1"
    ),
    "letter_counts of all texts": "SELECT sum((nearkin.letter_counts(counts))[1]) FROM nearkin.contents",
}
"""Questions about the whole collection."""
console = Console(width=120)


@dataclass(slots=True)
class Measured:
    """Figures of one size of collection."""

    n_documents: int
    bytes_per_document: dict[str, tuple[float, float]] = field(default_factory=dict)
    ms_of_one: dict[str, tuple[float, float, float]] = field(default_factory=dict)
    s_of_all: dict[str, tuple[float, int]] = field(default_factory=dict)


@contextmanager
def session(server: Server) -> Iterator[Callable[[str], tuple[list[object], float]]]:
    """A function that runs a query and returns its rows and the seconds that the server's process ran."""
    with closing(server.connection()) as connection, closing(connection.cursor()) as cursor:
        connection.autocommit = True
        cursor.execute("SET max_parallel_workers_per_gather = 0")
        cursor.execute("SELECT pg_backend_pid()")
        spent = Path(f"/proc/{cursor.fetchone()[0]}/schedstat")

        def ask(query: str) -> tuple[list[object], float]:
            before = int(spent.read_text().split()[0])
            cursor.execute(query)
            rows = list(cursor.fetchall())
            return rows, (int(spent.read_text().split()[0]) - before) / 1e9

        yield ask


def measure(n_documents: int, out: Path, data: Path | None) -> Measured:
    """Fill a collection of this size, and query it."""
    corpus = out / f"corpus-{n_documents}"
    write_corpus(corpus, n_documents, data=data, output_format="parquet")
    figures = Measured(n_documents)
    with running() as server:
        url = server.url()
        run(out, "add", url, corpus, "--text", "text", "--id", "id", "--cache", out / "cache", "-q")
        with nearkin.Collection.open(url, cache=out / "cache") as collection:
            install(collection.opened)
        server.sql("VACUUM (FREEZE, ANALYZE)")
        with session(server) as ask:
            for name, table, indexes in ask(SIZES)[0]:  # type: ignore[misc]
                figures.bytes_per_document[name] = (table / n_documents, indexes / n_documents)
            asked = random.Random(1).sample(ask(ASKED)[0], EACH)
            for name, query in OF_ONE.items():
                questions = [query(*one) for one in asked]  # type: ignore[misc]
                for question in questions[: EACH // 4]:
                    ask(question)
                answers = [ask(question) for question in questions]
                took = 1000 * np.array([seconds for _, seconds in answers])
                n_rows = float(np.mean([len(rows) for rows, _ in answers]))
                figures.ms_of_one[name] = (float(np.median(took)), float(np.percentile(took, 99)), n_rows)
            for name, query in OF_ALL.items():
                ask(query)
                rows, seconds = ask(query)
                figures.s_of_all[name] = (seconds, len(rows))
    return figures


def per_million(small: tuple[float, int], large: tuple[float, int]) -> str:
    """Extrapolate a time to a million rows where it grew as the rows did, within a quarter.

    >>> per_million((2.0, 20_000), (10.1, 100_000))
    '101'
    >>> per_million((2.0, 20_000), (40.0, 100_000))
    'not linear: 4.0 times that'
    """
    if small[1] == large[1]:
        return ""
    growth = (large[0] / small[0]) / (large[1] / small[1])
    return f"{large[0] / large[1] * 1e6:.3g}" if 0.75 <= growth <= 1.25 else f"not linear: {growth:.1f} times that"


def show(small: Measured, large: Measured) -> None:
    """Print the figures of both sizes beside each other."""
    sizes = Table("table", "bytes per document", "of its indexes", title=f"{large.n_documents:,} documents")
    for name, (table, indexes) in large.bytes_per_document.items():
        sizes.add_row(name, f"{table:,.0f}", f"{indexes:,.0f}")
    total = [sum(column) for column in zip(*large.bytes_per_document.values(), strict=True)]
    sizes.add_row("all", f"{total[0]:,.0f}", f"{total[1]:,.0f}")
    console.print(sizes)
    one = Table(
        "median / 99th percentile, ms", *(f"{of.n_documents:,}" for of in (small, large)), "rows", "per million"
    )
    for name, (median, highest, n_rows) in large.ms_of_one.items():
        before = small.ms_of_one[name]
        grown = per_million((before[0], small.n_documents), (median, large.n_documents))
        one.add_row(
            name, f"{before[0]:.1f} / {before[1]:.1f}", f"{median:.1f} / {highest:.1f}", f"{n_rows:,.1f}", grown
        )
    console.print(one)
    every = Table("seconds", *(f"{of.n_documents:,}" for of in (small, large)), "rows", "per million")
    for name, (seconds, n_rows) in large.s_of_all.items():
        before_s = small.s_of_all[name][0]
        grown = per_million((before_s, small.n_documents), (seconds, large.n_documents))
        every.add_row(name, f"{before_s:.2f}", f"{seconds:.2f}", f"{n_rows:,}", grown)
    console.print(every)


def main() -> None:
    """Measure two sizes and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="real sentences: see corpus.py")
    parser.add_argument("--documents", type=int, nargs="+", default=[20_000, 100_000])
    parser.add_argument("--out", type=Path, default=HERE / "out" / "plain-postgresql")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    sizes = sorted(options.documents)
    figures = [measure(n, options.out, options.data) for n in (sizes[0], sizes[-1])[: len(sizes)]]
    show(figures[0], figures[-1])


if __name__ == "__main__":
    main()
