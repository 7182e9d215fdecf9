"""Texts and words on a cluster: tasks read, extract, split and winnow; the driver compares, as on one machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from nearkin.engines.spark.layout import Block
from nearkin.engines.spark.stages import Stages
from nearkin.options.dedup import DedupOptions
from nearkin.options.families import PassageOptions
from nearkin.runs.files import make_work_folder
from nearkin.runs.progress import Progress
from nearkin.runs.spool import Chunk, load_arrays, save_arrays
from nearkin.stages.documents.rules import ReadingRules
from nearkin.workflows.dedup.on_spark.job import spooled
from nearkin.workflows.dedup.on_spark.partitions import Partitions
from nearkin.workflows.passages.searching import SpooledTexts, Tokens
from nearkin.workflows.reading.inputs import Input

_TOKENS = "tokens"


def read_by_tasks(
    stages: Stages,
    inputs: Sequence[Input],
    n_mine: int,
    work: Path,
    as_read: DedupOptions,
    options: PassageOptions,
    *,
    rules: ReadingRules,
    progress: Progress,
) -> SpooledTexts:
    """Read inputs into the spool, and their words into files beside it; the first ``n_mine`` are those to search."""
    folder = work.absolute() / _TOKENS
    make_work_folder(folder)
    partitions, kinds = spooled(stages, inputs, work, as_read, rules=rules, progress=progress)
    splitting = partial(split_partition, partitions, options, folder)
    stages.kept("split", lambda: stages.parts(len(partitions), splitting))
    return SpooledTexts(
        chunks=partitions.chunks(), n_inputs=partitions.n_documents(n_mine), id_kinds=kinds,
        tokens_of=partial(stored_tokens, folder), engine=stages.about,
    )  # fmt: skip


def split_partition(
    partitions: Partitions, options: PassageOptions, folder: Path, target: int, blocks: Sequence[Block]
) -> Iterator[Block]:
    """Write the words of each chunk of a partition."""
    for chunk in partitions.chunks(target):
        save_arrays(folder / chunk.path.name, Tokens.of(chunk, options)._asdict())
    yield Block("words", target, b"")


def stored_tokens(folder: Path, chunk: Chunk) -> Tokens:
    """Return the words of a chunk that a task wrote."""
    return Tokens(**load_arrays(folder / chunk.path.name))
