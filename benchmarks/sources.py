"""The sentences that the generated corpus is made of: real prose, from a folder of data or from this machine.

With a folder, its ``reuters21578.parquet`` and ``contracts.parquet`` are read where they exist. Without one, what every
machine has: ``/usr/share/doc/*/copyright``, the licence and description files of the installed Python packages, and the
docstrings of the standard library. Every sentence is kept once, in reading order, so that neighbours stay neighbours.
"""

from __future__ import annotations

import ast
import hashlib
import re
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq

SENTENCE_END = re.compile(r"(?<=[.!?;:])\s+(?=[A-Z\"'(])|\n\s*\n")
WORD = re.compile(r"[^\W_]+")
MIN_WORDS, MAX_WORDS = 6, 60
MAX_SENTENCES = 400_000
MAX_CONTRACT_CHARACTERS = 60_000  # of one contract: a few are the length of a book and would fill the pool alone


@dataclass(frozen=True, slots=True)
class SentencePool:
    """Real sentences as lists of words (punctuation attached), and the words to put in their place.

    Parameters
    ----------
    sentences : list of lists of str
        In reading order; consecutive ones mostly come from one document.
    vocabulary : list of str
        Distinct words, sorted.
    origin : str
        Where they come from, in words.
    digest : str
        SHA-256 of all sentences: two pools with the same digest give the same corpus.
    """

    sentences: list[list[str]]
    vocabulary: list[str]
    origin: str
    digest: str

    @property
    def words_per_sentence(self) -> float:
        """The mean."""
        return sum(map(len, self.sentences)) / len(self.sentences)

    @property
    def bytes_per_word(self) -> float:
        """The mean of a sample, the space after the word included."""
        sample = self.sentences[:: max(1, len(self.sentences) // 5_000)]
        return sum(len(" ".join(words).encode()) + 1 for words in sample) / sum(map(len, sample))


def sentence_pool(data: Path | None) -> SentencePool:
    """The pool from ``data``, or from this machine when it is None.

    Raises
    ------
    SystemExit
        When fewer than 1,000 sentences are found.
    """
    texts, origin = (_texts_of_folder(data), _origin_of_folder(data)) if data else (_texts_of_machine(), _MACHINE)
    words: dict[str, str] = {}
    sentences: list[list[str]] = []
    seen: set[bytes] = set()
    digest = hashlib.sha256()
    for text in texts:
        for raw in SENTENCE_END.split(text):
            sentence = raw.split()
            if not MIN_WORDS <= len(sentence) <= MAX_WORDS:
                continue
            tokens = WORD.findall(raw.lower())
            if sum(map(str.isalpha, tokens)) < 0.7 * len(sentence):
                continue  # a table, a rule of dashes or a list of numbers
            key = hashlib.blake2b(" ".join(tokens).encode(), digest_size=12).digest()
            if key in seen:
                continue
            seen.add(key)
            digest.update(key)
            sentences.append([words.setdefault(word, word) for word in sentence])
        if len(sentences) >= MAX_SENTENCES:
            break
    if len(sentences) < 1_000:
        raise SystemExit(f"The corpus needs at least 1,000 sentences of prose; {origin} gave {len(sentences)}.")
    vocabulary = sorted(word for word in words if word.isalpha() and 3 <= len(word) <= 14)
    return SentencePool(sentences, vocabulary, origin, digest.hexdigest())


_MACHINE = "licence and copyright files, package descriptions and docstrings of this machine"


def _origin_of_folder(data: Path) -> str:
    """Which files of the folder are used."""
    return " and ".join(name for name in ("reuters21578.parquet", "contracts.parquet") if (data / name).is_file())


def _texts_of_folder(data: Path) -> Iterator[str]:
    """The texts of the known files, a batch at a time."""
    names = [name for name in ("reuters21578.parquet", "contracts.parquet") if (data / name).is_file()]
    if not names:
        raise SystemExit(f"--data {data}: must hold reuters21578.parquet or contracts.parquet; neither is there.")
    for name in names:
        for batch in pq.ParquetFile(data / name).iter_batches(batch_size=256, columns=["text"]):
            for text in batch.column(0).to_pylist():
                if text:
                    yield text[:MAX_CONTRACT_CHARACTERS]


def _texts_of_machine() -> Iterator[str]:
    """The prose that every machine has, in the order of its paths."""
    folders = [Path("/usr/share/doc"), Path(sysconfig.get_paths()["purelib"])]
    patterns = ["*/copyright", "*.dist-info/**/*"]
    for folder, pattern in zip(folders, patterns, strict=True):
        for path in sorted(folder.glob(pattern)):
            if path.is_file() and (path.name in ("copyright", "METADATA") or "licen" in path.name.lower()):
                yield path.read_text("utf-8", errors="ignore")
    for path in sorted(Path(sysconfig.get_paths()["stdlib"]).rglob("*.py")):
        if {"site-packages", "test", "tests", "idle_test"} & set(path.parts):
            continue
        yield from _docstrings(path)


def _docstrings(path: Path) -> Iterator[str]:
    """The docstrings of one module; none when it does not parse."""
    try:
        tree = ast.parse(path.read_text("utf-8", errors="ignore"))
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text:
                yield text
