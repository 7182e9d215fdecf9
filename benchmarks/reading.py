"""How fast Nearkin reads a file of each format, beside a bare loop of a library that takes out the ids and texts.

python benchmarks/reading.py [--documents 40000] [--repeat 3]

Both readers alternate, and the least processor time of each counts; MiB are those of the uncompressed file. One line in
200 of "JSON Lines, damaged" is no JSON; the bare loop passes over it.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from nearkin.formats import zstd
from nearkin.stages.documents.reader import read_batches
from nearkin.stages.documents.sources import resolve_sources


class Record(msgspec.Struct):
    """What msgspec takes out of a line."""

    id: int
    text: str


def records(n_documents: int) -> Iterator[tuple[int, str]]:
    drawn = random.Random(1)
    words = ["".join(drawn.choices("abcdefghijklmnopqrstuvwxyzäé", k=drawn.randint(2, 9))) for _ in range(5000)]
    for number in range(n_documents):
        yield number, " ".join(drawn.choices(words, k=drawn.randint(100, 700)))


def by_msgspec(file: BinaryIO) -> int:
    decoder, n_bytes = msgspec.json.Decoder(Record), 0
    for line in file:
        try:
            n_bytes += len(decoder.decode(line).text)
        except msgspec.DecodeError:
            continue
    return n_bytes


def by_csv(path: Path) -> int:
    csv.field_size_limit(1 << 26)
    with path.open(encoding="utf-8", newline="") as file:
        return sum(len(row[1]) for row in csv.reader(file))


def by_parquet(path: Path) -> int:
    return sum(batch.num_rows for batch in pq.ParquetFile(path).iter_batches(columns=["id", "text"]))


def by_nearkin(path: Path) -> int:
    source = resolve_sources([str(path)]).sources[0]
    return sum(batch.num_rows for batch in read_batches(source))


def opened(open_file: Callable[[Path], BinaryIO]) -> Callable[[Path], int]:
    def read(path: Path) -> int:
        with open_file(path) as file:
            return by_msgspec(file)

    return read


def written(folder: Path, n_documents: int) -> list[tuple[str, Path, int, str, Callable[[Path], int]]]:
    rows = [*records(n_documents)]
    lines = [msgspec.json.encode({"id": number, "text": text}) + b"\n" for number, text in rows]
    jsonl, damaged = (
        b"".join(lines),
        b"".join(b'{"id": ' + line if i % 200 == 7 else line for i, line in enumerate(lines)),
    )
    for name, data in (
        ("a.jsonl", jsonl), ("damaged.jsonl", damaged), ("a.jsonl.gz", gzip.compress(jsonl, 6)),
        ("a.jsonl.zst", zstd.compress(jsonl)),
    ):  # fmt: skip
        (folder / name).write_bytes(data)
    with (folder / "a.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("id", "text"), *rows])
    pq.write_table(pa.table({"id": [n for n, _ in rows], "text": [text for _, text in rows]}), folder / "a.parquet")
    text_bytes = sum(len(text.encode()) for _, text in rows)
    return [
        ("JSON Lines", folder / "a.jsonl", len(jsonl), "msgspec", opened(lambda path: path.open("rb"))),
        (
            "JSON Lines, damaged",
            folder / "damaged.jsonl",
            len(damaged),
            "msgspec",
            opened(lambda path: path.open("rb")),
        ),
        ("gzip", folder / "a.jsonl.gz", len(jsonl), "gzip, msgspec", opened(lambda path: gzip.open(path, "rb"))),
        ("zstd", folder / "a.jsonl.zst", len(jsonl), "zstd, msgspec", opened(lambda path: zstd.open(path, "rb"))),
        ("Parquet", folder / "a.parquet", text_bytes, "pyarrow", by_parquet),
        ("CSV", folder / "a.csv", (folder / "a.csv").stat().st_size, "csv", by_csv),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=40_000)
    parser.add_argument("--repeat", type=int, default=3)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name, path, size_bytes, library, by_library in written(Path(folder), asked.documents):
            taken: dict[Callable[[Path], int], float] = {}
            for _ in range(asked.repeat):
                for read in (by_nearkin, by_library):
                    start = time.process_time()
                    read(path)
                    taken[read] = min(taken.get(read, 1e9), time.process_time() - start)
            rates = [size_bytes / taken[read] / (1 << 20) for read in (by_nearkin, by_library)]
            print(f"{name}: Nearkin {rates[0]:,.0f} MiB/s, {library} {rates[1]:,.0f} MiB/s")


if __name__ == "__main__":
    main()
