"""Word alignment by eflomal, if it is installed.

Source: Robert Östling and Jörg Tiedemann, "Efficient word alignment with Markov chain Monte Carlo", 2016. It samples:
two runs over the same sentences give nearly, not exactly, the same table.
"""

from __future__ import annotations

import importlib
import importlib.util
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from nearkin.errors import MissingExtraError, RunError
from nearkin.nouns import counted
from nearkin.stages.translation.pairs import SentencePairs, Sentences
from nearkin.stages.translation.rows import TranslationRows


def is_installed() -> bool:
    """Whether eflomal can be imported."""
    return importlib.util.find_spec("eflomal") is not None


@dataclass(frozen=True, slots=True)
class Eflomal:
    """The aligner eflomal: a sampled hidden Markov model with fertilities.

    Raises
    ------
    MissingExtraError
        Eflomal is not installed.
    """

    def __post_init__(self) -> None:
        if not is_installed():
            raise MissingExtraError.of("The aligner eflomal", "eflomal")

    @property
    def fingerprint(self) -> str:
        """Name and version."""
        from importlib.metadata import version

        return f"eflomal;version={version('eflomal')}"

    def align(self, pairs: SentencePairs) -> TranslationRows:
        """Return the words linked in either direction; a link in both counts 1, in one 1/2.

        Raises
        ------
        RunError
            Eflomal failed.
        """
        module = importlib.import_module("eflomal")
        with tempfile.TemporaryDirectory(prefix="nearkin-") as folder:
            links = Path(folder, "forward"), Path(folder, "reverse")
            try:
                module.Aligner().align(
                    _lines(pairs.source),
                    _lines(pairs.target),
                    links_filename_fwd=str(links[0]),
                    links_filename_rev=str(links[1]),
                )
            except SystemExit as error:  # raised if eflomal does not find its program
                raise RunError(
                    "eflomal did not start: its program is neither next to python nor on the PATH."
                ) from error
            counts: Counter[int] = Counter()
            for path in links:
                _count_links(path, pairs, counts)
        keys = np.array(sorted(counts), np.int64)
        n = np.array([counts[key] for key in keys.tolist()], np.float64) / 2
        n_targets = max(len(pairs.target_words), 1)
        words = pairs.source_words, pairs.target_words
        return TranslationRows.of_counts(
            words, (keys // n_targets).astype(np.int32), (keys % n_targets).astype(np.int32), n
        )


def _lines(sentences: Sentences) -> Iterator[str]:
    """Yield sentences of numbers, so that no word can be misread."""
    words, offsets = sentences
    for start, end in pairwise(offsets.tolist()):
        yield " ".join(map(str, words[start:end].tolist()))


def _count_links(path: Path, pairs: SentencePairs, counts: Counter[int]) -> None:
    """Count links from lines of "0-1 2-0", one per pair of sentences: positions of a source and a target word."""
    (source, source_offsets), (target, target_offsets) = pairs.source, pairs.target
    n_lines, n_targets = 0, len(pairs.target_words)
    if path.exists():
        with path.open(encoding="ascii") as lines:
            for n_lines, line in enumerate(lines, 1):
                links = np.array(line.replace("-", " ").split(), np.int64).reshape(-1, 2)
                of_source = source[source_offsets[n_lines - 1] + links[:, 0]].astype(np.int64)
                of_target = target[target_offsets[n_lines - 1] + links[:, 1]]
                counts.update((of_source * n_targets + of_target).tolist())
    if n_lines != len(pairs):
        raise RunError(f"eflomal did not finish: it aligned {n_lines:,} of {counted(len(pairs), 'pair')} of sentences.")
