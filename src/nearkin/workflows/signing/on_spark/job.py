"""Signing on a cluster, from top to bottom; the signatures are the same as on one machine."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nearkin.engines.spark.session import Cluster
from nearkin.engines.spark.stages import stages_on
from nearkin.errors import ParameterError
from nearkin.paths import STDIN
from nearkin.runs.files import writing
from nearkin.runs.meter import Meter
from nearkin.stages.signatures.statistics import Statistics
from nearkin.workflows.reading.on_spark.tasks import standard_input_of_this_machine, task_blocks
from nearkin.workflows.reading.request import ReadingRequest
from nearkin.workflows.reading.texts import Texts
from nearkin.workflows.signing.batches import SignedTexts
from nearkin.workflows.signing.counting import save
from nearkin.workflows.signing.on_spark.counting import count_all
from nearkin.workflows.signing.on_spark.signing import SignInputTask, sign_all
from nearkin.workflows.signing.options import SigningOptions


@dataclass(frozen=True, slots=True)
class SigningCluster:
    """See `workflows.signing.engines.SigningEngine`.

    Parameters
    ----------
    cluster : Cluster
    out : Path
        File for the signatures; every executor can access its directory, which temporarily holds the parts.
    meter : Meter
    """

    cluster: Cluster
    out: Path
    meter: Meter

    def check(self, reading: ReadingRequest, options: SigningOptions) -> None:
        """Refuse what cannot be divided: standard input, and signatures that depend on all earlier documents."""
        if STDIN in reading.inputs:
            raise standard_input_of_this_machine()
        if options.is_online:
            raise ParameterError(
                "--online signs each document by all documents before it, so that workers cannot share the work. "
                "Omit --online: weighted-topsig then counts all documents first. Or omit --engine spark."
            )

    def sign(
        self, reading: ReadingRequest, texts: Texts, options: SigningOptions, statistics: Statistics | None
    ) -> SignedTexts:
        """Sign documents.

        Parameters
        ----------
        reading : ReadingRequest
            Input requested by the user.
        texts : Texts
            Sources found.
        options : SigningOptions
        statistics : Statistics or None
            Statistics of the collection; None: counted if the method needs them.

        Raises
        ------
        EngineError
            The cluster cannot do the work, or gave up.
        DocumentError, SourceError, OutputError
            As on one machine; if several documents are unreadable, any may be named.
        ParameterError
            A source is a pipe.
        """
        tasks = task_blocks(texts.sources, reading.encoding)
        with _work_beside(self.out) as work, stages_on(self.cluster, work, self.meter) as stages:
            if options.method == "weighted-topsig" and statistics is None:
                statistics = count_all(
                    stages,
                    tasks,
                    options,
                    rules=reading.rules,
                    size_bytes=texts.size_bytes,
                    progress=self.meter.progress,
                )
            kept = None
            if statistics is not None:
                kept = work / "statistics.parquet"
                save(statistics, kept)
            method = options.signer(statistics)
            signing = SignInputTask(work / "parts", options, reading.rules, method.fingerprint, kept)
            batches, id_kind = sign_all(stages, tasks, signing, texts, self.meter.progress)
        return SignedTexts(batches, method.fingerprint, id_kind, statistics)


@contextlib.contextmanager
def _work_beside(out: Path) -> Iterator[Path]:
    """Make a hidden folder in the directory of ``out`` while the block runs.

    Its name is unique: two runs with the same ``out`` must not use each other's parts.
    """
    work = out.absolute().with_name(f".{out.name}.{os.getpid()}-{secrets.token_hex(4)}.work")
    with writing(work):
        work.mkdir()
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)
