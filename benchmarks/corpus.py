"""Writes a corpus with planted near-duplicates: real sentences, recombined, then edited in known ways.

A base document is a chain of short runs of neighbouring real sentences from many places, with one word in sixteen
replaced, so that base documents are unlike each other. Four in ten documents belong to families: a base and one to six
copies, each edited in its own way and strength. Families are spread over the whole corpus. The same seed and sentences
give the same bytes, whatever the number of processes and of files::

    python benchmarks/corpus.py --documents 50000 --out benchmarks/out/corpus.jsonl
    python benchmarks/corpus.py --documents 5000000 --out benchmarks/out/corpus-5m --format parquet

Each record has id, text, family (int), edit ("base" or the kind) and strength.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import os
import shutil
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from edits import EDITS, Words, every_nth_or_so
from sources import SentencePool, sentence_pool

I32 = NDArray[np.int32]
Format = Literal["jsonl", "parquet"]

GENERATOR_VERSION = 1
MEAN_BYTES = 2_300
SPREAD = 0.6  # of the logarithm of the length
SWAPPED = 1 / 16  # share of a base document's words replaced
FAMILY_CHANCE = 0.129  # that a base document has copies: then about four in ten documents are in families
MAX_COPIES = 6
FILE_DOCUMENTS = 50_000  # in one Parquet file
BLOCK_DOCUMENTS = 2_000  # written at a time
SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("text", pa.string()),
        ("family", pa.int32()),
        ("edit", pa.dictionary(pa.int8(), pa.string())),
        ("strength", pa.float32()),
    ]
)
KINDS = ["base", *EDITS]


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a corpus was made from; two equal manifests mean equal corpora."""

    version: int
    documents: int
    seed: int
    mean_bytes: int
    origin: str
    sentences: int
    digest: str
    format: Format


@dataclass(frozen=True, slots=True)
class Layout:
    """Which family, and which member of it (0 is the base), stands at each place of the corpus."""

    family: I32
    member: I32


def plan_layout(n_documents: int, seed: int) -> Layout:
    """Families drawn one after another, then spread over the corpus by one permutation."""
    random = np.random.Generator(np.random.PCG64(seed))
    sizes = np.ones(n_documents, dtype=np.int32)
    has_copies = random.random(n_documents) < FAMILY_CHANCE
    sizes[has_copies] += random.integers(1, MAX_COPIES + 1, int(has_copies.sum()), dtype=np.int32)
    ends = np.cumsum(sizes)
    n_families = int(np.searchsorted(ends, n_documents)) + 1
    sizes, starts = sizes[:n_families], (ends - sizes)[:n_families]
    family = np.repeat(np.arange(n_families, dtype=np.int32), sizes)[:n_documents]
    member = (np.arange(n_documents) - starts[family]).astype(np.int32)
    places = random.permutation(n_documents)
    return Layout(family[places], member[places])


@dataclass(frozen=True, slots=True)
class Lengths:
    """How long base documents are, in words."""

    mean: float
    overshoot: float  # by which the last run passes the drawn length, on average

    @classmethod
    def of(cls, pool: SentencePool, mean_bytes: int) -> Lengths:
        """The lengths that give texts of ``mean_bytes`` from this pool."""
        return cls(mean_bytes / pool.bytes_per_word, 2.2 * pool.words_per_sentence)

    def draw(self, random: Random) -> float:
        """One length: logarithms are normal, the ends are cut."""
        n_words = self.mean * math.exp(random.gauss(-0.5 * SPREAD * SPREAD, SPREAD))
        return min(max(n_words - self.overshoot, 40.0), 3_000.0)


def base_document(pool: SentencePool, random: Random, lengths: Lengths) -> Words:
    """Runs of one to four neighbouring sentences until the drawn length is reached, some words replaced."""
    n_words = lengths.draw(random)
    sentences = pool.sentences
    words: Words = []
    while len(words) < n_words:
        run = 1 + int(random.random() * 4)
        start = int(random.random() * (len(sentences) - run))
        for sentence in sentences[start : start + run]:
            words += sentence
        words[-1] += "\n\n" if random.random() < 0.4 else ""
    vocabulary = pool.vocabulary
    for at in every_nth_or_so(len(words), SWAPPED, random):
        words[at] = vocabulary[int(random.random() * len(vocabulary))]
    return words


def planted_edit(family: int, member: int, seed: int) -> tuple[str, float, Random]:
    """The kind and strength of one copy's edit, and the random numbers that carry it out."""
    random = Random((seed << 40) + (family << 4) + member + 1)
    kinds = KINDS[1:]
    kind = kinds[int(random.random() * len(kinds))]
    strengths = EDITS[kind][1]
    return kind, strengths[int(random.random() * len(strengths))], random


def document(pool: SentencePool, family: int, member: int, seed: int, lengths: Lengths) -> tuple[str, str, float]:
    """(text, edit, strength) of one document."""
    words = base_document(pool, Random((seed << 40) + (family << 4)), lengths)
    if member == 0:
        return " ".join(words).strip(), "base", 0.0
    kind, strength, random = planted_edit(family, member, seed)
    return " ".join(EDITS[kind][0](words, strength, random, pool)).strip(), kind, strength


@dataclass(frozen=True, slots=True)
class Corpus:
    """Everything a process needs to write its part."""

    pool: SentencePool
    layout: Layout
    lengths: Lengths
    manifest: Manifest

    def blocks(self, start: int, stop: int) -> Iterator[pa.RecordBatch]:
        """The records from ``start`` to ``stop``, a block at a time."""
        for block_start in range(start, stop, BLOCK_DOCUMENTS):
            yield self.block(block_start, min(stop, block_start + BLOCK_DOCUMENTS))

    def block(self, start: int, stop: int) -> pa.RecordBatch:
        """One block of records."""
        families = self.layout.family[start:stop].tolist()
        members = self.layout.member[start:stop].tolist()
        seed, lengths = self.manifest.seed, self.lengths
        rows = [document(self.pool, f, m, seed, lengths) for f, m in zip(families, members, strict=True)]
        texts, edits, strengths = zip(*rows, strict=True)
        kinds = pa.array([KINDS.index(edit) for edit in edits], pa.int8())
        columns = [
            pa.array([f"d{row:08d}" for row in range(start, stop)], pa.string()),
            pa.array(texts, pa.string()),
            pa.array(families, pa.int32()),
            pa.DictionaryArray.from_arrays(kinds, pa.array(KINDS)),
            pa.array(strengths, pa.float32()),
        ]
        return pa.record_batch(columns, schema=SCHEMA)

    def write_part(self, path: Path, start: int, stop: int) -> None:
        """One file, written aside and renamed into place."""
        aside = path.with_name(path.name + ".part")
        if self.manifest.format == "parquet":
            with pq.ParquetWriter(aside, SCHEMA, compression="zstd", compression_level=1) as writer:
                for block in self.blocks(start, stop):
                    writer.write_batch(block)
        else:
            with aside.open("w", encoding="utf-8") as lines:
                for block in self.blocks(start, stop):
                    for record in block.to_pylist():
                        record["strength"] = round(record["strength"], 6)
                        lines.write(json.dumps(record, ensure_ascii=False) + "\n")
        aside.replace(path)


_corpus: Corpus | None = None  # set before the processes fork, so that they share one pool


def _write_part(part: tuple[Path, int, int]) -> int:
    """One file, in a worker process."""
    if _corpus is None:
        raise RuntimeError("the corpus must be planned before its parts are written")
    _corpus.write_part(*part)
    return part[2] - part[1]


def write_corpus(
    out: Path,
    n_documents: int,
    *,
    data: Path | None,
    seed: int = 1,
    mean_bytes: int = MEAN_BYTES,
    output_format: Format = "jsonl",
    processes: int | None = None,
    file_documents: int = FILE_DOCUMENTS,
) -> Manifest:
    """Write the corpus unless the very same one is there already.

    JSONL goes to the file ``out``; Parquet to the folder ``out``, a file for every ``file_documents``.
    """
    global _corpus
    pool = sentence_pool(data)
    manifest = Manifest(
        GENERATOR_VERSION, n_documents, seed, mean_bytes, pool.origin, len(pool.sentences), pool.digest, output_format
    )
    note = out.with_name(out.name + ".manifest.json")
    if note.is_file() and out.exists() and json.loads(note.read_text("utf-8")) == asdict(manifest):
        return manifest
    note.unlink(missing_ok=True)
    if out.is_dir():
        shutil.rmtree(out)
    _check_room(out, n_documents * mean_bytes)
    _corpus = Corpus(pool, plan_layout(n_documents, seed), Lengths.of(pool, mean_bytes), manifest)
    folder = out if output_format == "parquet" else out.with_name(out.name + ".parts")
    folder.mkdir(parents=True, exist_ok=True)
    part_documents = file_documents if output_format == "parquet" else 5_000
    parts = [
        (folder / f"part-{number:05d}.{output_format}", start, min(start + part_documents, n_documents))
        for number, start in enumerate(range(0, n_documents, part_documents))
    ]
    with multiprocessing.get_context("fork").Pool(processes or os.cpu_count()) as workers:
        done, began = 0, time.perf_counter()
        for n_written in workers.imap(_write_part, parts):
            done += n_written
            _tell(f"\r{done:,} of {n_documents:,} documents, {done / (time.perf_counter() - began):,.0f}/s ")
    _tell("\n")
    if output_format == "jsonl":
        _join_parts(out, [part[0] for part in parts])
    note.write_text(json.dumps(asdict(manifest), indent=1) + "\n", "utf-8")
    _corpus = None
    return manifest


def _tell(text: str) -> None:
    """Progress, only on a terminal."""
    if sys.stderr.isatty():
        print(text, end="", file=sys.stderr, flush=True)


def _check_room(out: Path, size_bytes: int) -> None:
    """Refuse early when the disk cannot hold the corpus and half as much again for the run."""
    folder = next(parent for parent in out.absolute().parents if parent.exists())
    free = shutil.disk_usage(folder).free
    if free < 1.5 * size_bytes:
        raise SystemExit(f"{folder}: about {1.5 * size_bytes / 1e9:.1f} GB are needed; {free / 1e9:.1f} GB are free.")


def _join_parts(out: Path, parts: list[Path]) -> None:
    """One file from the parts, which are removed as they are taken in."""
    aside = out.with_name(out.name + ".part")
    with aside.open("wb") as whole:
        for part in parts:
            with part.open("rb") as piece:
                shutil.copyfileobj(piece, whole, 1 << 20)
            part.unlink()
    parts[0].parent.rmdir()
    aside.replace(out)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=50_000)
    parser.add_argument("--out", type=Path, required=True, help="a JSONL file, or a folder of Parquet files")
    parser.add_argument("--format", choices=["jsonl", "parquet"], default="jsonl")
    parser.add_argument("--data", type=Path, help="a folder with reuters21578.parquet and contracts.parquet")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mean-bytes", type=int, default=MEAN_BYTES)
    parser.add_argument("--processes", type=int)
    options = parser.parse_args()
    began = time.perf_counter()
    manifest = write_corpus(
        options.out,
        options.documents,
        data=options.data,
        seed=options.seed,
        mean_bytes=options.mean_bytes,
        output_format=options.format,
        processes=options.processes,
    )
    print(f"{manifest.documents:,} documents in {time.perf_counter() - began:.1f} s, from {manifest.origin}")


if __name__ == "__main__":
    main()
