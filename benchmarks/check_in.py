"""A document is checked in: how long the question takes, and how often its answer is right.

Documents are those of ``corpus.py``; what is asked for are copies of stored ones, as they are, with some words changed,
cut, lengthened, and documents that are not there. Questions are asked of one opened collection, warm, one after
another::

    python benchmarks/check_in.py --data FOLDER --documents 1000000
    python benchmarks/check_in.py --data FOLDER --documents 1000000 --url postgresql://USER:PASSWORD@HOST:PORT/DATABASE
"""

from __future__ import annotations

import argparse
import random
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

import nearkin
from corpus import write_corpus
from documents import read_columns
from nearkin.collection.check_in.candidates import _nearest
from nearkin.collection.check_in.results import CheckIn, CheckOptions
from nearkin.kernels.buffers import strings
from waves import HERE, run

EACH = 100
console = Console(width=120)


def changed(text: str, chance: random.Random) -> str:
    """One word in fifty becomes another."""
    words = text.split(" ")
    for _ in range(max(1, len(words) // 50)):
        words[chance.randrange(len(words))] = f"word{chance.randrange(10**6)}"
    return " ".join(words)


def questions(texts: dict[str, str], unrelated: list[str]) -> list[tuple[str, str, str | None]]:
    """Kinds, texts, and the document that is to be found."""
    chance = random.Random(3)
    chosen = chance.sample(sorted(doc_id for doc_id, text in texts.items() if len(text.split()) >= 200), 4 * EACH)
    asked: list[tuple[str, str, str | None]] = []
    for i in range(EACH):
        exact, near, longer, shorter = chosen[4 * i : 4 * i + 4]
        words = texts[longer].split(" ")
        asked += [
            ("the same", texts[exact], exact),
            ("2 % changed", changed(texts[near], chance), near),
            ("its middle", " ".join(words[len(words) // 4 : 3 * len(words) // 4]), longer),
            ("it, and more", f"{texts[shorter]} {unrelated[EACH + i]}", shorter),
            ("unrelated", unrelated[i], None),
        ]
    return asked


def timed(ask: Callable[[str], object], texts: list[str]) -> tuple[np.ndarray, list[object]]:
    """Milliseconds of each question, and the answers; the first round warms."""
    answers = [ask(text) for text in texts]
    took = []
    for text in texts:
        began = time.perf_counter()
        ask(text)
        took.append(1000 * (time.perf_counter() - began))
    return np.array(took), answers


def measure(place: str, texts: dict[str, str], unrelated: list[str], table: Table) -> None:
    """The questions, in three ways."""
    asked = questions(texts, unrelated)
    by_index = CheckOptions(measure="index", with_passage=False)
    by_keys = CheckOptions(with_passage=False)
    with nearkin.Collection.open(place) as collection:
        store = collection.opened.store

        def one_query(text: str) -> object:
            made = collection.opened.counting.index(strings([text]))
            with store.reading() as connection:
                return _nearest(connection, int(made.values[0]), by_index) if made.has_value[0] else []

        ways: list[tuple[str, Callable[[str], object]]] = [
            ("the ten nearest by similarity index", one_query),
            ("check, by similarity index", lambda text: collection.check(text, options=by_index)),
            ("check, by bands and samples", lambda text: collection.check(text, options=by_keys)),
            ("the same, and where they differ", collection.check),
        ]
        for name, ask in ways:
            took, answers = timed(ask, [text for _, text, _ in asked])
            right = dict[str, list[bool]]()
            for (kind, _, doc_id), answer in zip(asked, answers, strict=True):
                if isinstance(answer, list):
                    continue
                ids = {one.document.doc_id for one in answer.documents}
                right.setdefault(kind, []).append(doc_id in ids if doc_id else not ids)
            found = ", ".join(f"{kind} {np.mean(one):.0%}" for kind, one in right.items())
            figures = f"{np.median(took):.1f} / {np.percentile(took, 95):.1f} / {np.percentile(took, 99):.1f} ms"
            table.add_row(name, figures, found)
        began = time.perf_counter()
        for i, (_, text, _) in enumerate(asked[:EACH]):
            collection.check(text, store=CheckIn(f"checked in {i}"))
        stored_ms = 1000 * (time.perf_counter() - began) / EACH
        collection.remove([f"checked in {i}" for i in range(EACH)])
        table.add_row("check and store", f"{stored_ms:.1f} ms on average", "")


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="real sentences: see corpus.py")
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--url", help="of an empty PostgreSQL database; a directory if not given")
    parser.add_argument("--again", action="store_true", help="ask what was filled before")
    parser.add_argument("--out", type=Path, default=HERE / "out" / "check-in")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    corpus, others = options.out / f"corpus-{options.documents}", options.out / "unrelated"
    write_corpus(corpus, options.documents, data=options.data, output_format="parquet")
    write_corpus(others, 20 * EACH, data=options.data, output_format="parquet", seed=2)
    columns = read_columns(corpus, ["id", "text"]).slice(0, 50_000)
    texts = dict(zip(columns["id"].to_pylist(), columns["text"].to_pylist(), strict=True))
    unrelated = [text for text in read_columns(others, ["text"])["text"].to_pylist() if len(text.split()) >= 100]
    place = options.url or str(options.out / "repository")
    table = Table(title=f"{options.documents:,} documents in {'PostgreSQL' if options.url else 'SQLite'}")
    for name in ("what", "median / 95th / 99th percentile", "answers that are right"):
        table.add_column(name)
    if not options.again:
        fill(place, corpus, options, table)
    measure(place, texts, unrelated, table)
    console.print(table)


def fill(place: str, corpus: Path, options: argparse.Namespace, table: Table) -> None:
    """The documents, and the keys that the first check makes."""
    if options.url is None:
        shutil.rmtree(place, ignore_errors=True)
    added = run(options.out, "add", place, corpus, "--text", "text", "--id", "id", "-q")
    rate = f"{options.documents / added.wall_s:,.0f} documents/s"
    table.add_row("fill it", f"{added.wall_s:,.0f} s, {rate}, {added.peak_anonymous_bytes / 2**20:,.0f} MiB", "")
    question = options.out / "question.txt"
    question.write_text("Is something like this here?", encoding="utf-8")
    first = run(options.out, "check", place, question)
    keyed = f"{first.wall_s:,.0f} s, {first.peak_anonymous_bytes / 2**20:,.0f} MiB"
    table.add_row("the first check, which makes the keys", keyed, "")


if __name__ == "__main__":
    main()
