"""Near-duplicates in a stream: each document is compared with the earlier ones, and stored in constant space.

Source: Matti Lyra, "Near duplicate detection" (shingles, MinHash and LSH over Reuters RCV1).
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from nearkin.arguments import checking_methods, plain_number
from nearkin.errors import (
    FingerprintError,
    OutputError,
    OutputExistsError,
    ParameterError,
    RunError,
    SourceError,
    check_int,
    in_percent,
    is_number,
)
from nearkin.kernels import linking
from nearkin.kernels.hashing import GOLDEN
from nearkin.nouns import counted
from nearkin.paths import check_output, check_outside_collections, path_of, why
from nearkin.planning.search import bands_for
from nearkin.records import I32, U32, U64, Candidates
from nearkin.runs.spool import Arrays, array_in, as_batch, mapped_batch, save_batch
from nearkin.stages.documents.normalisation import DEFAULT_STEPS, Normalisation, digests
from nearkin.stages.features.shingles import Shingling, parse_shingling
from nearkin.stages.search.bands import Bands
from nearkin.stages.signatures.minhash import MinHash
from nearkin.stages.verification.overlap import verify

_FIRST_CAPACITY = 1024
_PAIRS = "an iterable of (id, text) pairs"
_MAX_OF_A_CHAIN = 64
_CUT = f"matches with documents older than the latest {_MAX_OF_A_CHAIN} that share a key may be missing"
Number = TypeVar("Number", bound=np.generic)


@dataclass(frozen=True, slots=True)
class StreamMatch:
    """Earlier document that is similar to the added one.

    Parameters
    ----------
    is_verified
        Whether it is exact: the text was fetched, or the texts are the same. Otherwise it is estimated from the
        sketches, and the true similarity can be below the threshold.
    is_exact_copy
        Whether both normalised texts are the same.
    """

    doc_id: object
    jaccard: float
    is_verified: bool
    is_exact_copy: bool


@checking_methods
class StreamDeduplicator:
    """Search for near-duplicates in a stream; each document takes the same memory, whatever its length.

    Threads may share a stream: their calls are answered one after another, and `add_many` batch by batch.

    Parameters
    ----------
    threshold, recall
        As for `nearkin.dedup`.
    size
        Number of slots of a sketch: 4 bytes a document each. The standard error of an estimate is at most
        ``0.5 / sqrt(size)``.
    fetch
        Function that returns the text of an earlier document by its id, without using the stream. With it, every match
        is verified. Without it, similarities are estimated, and many matches just below the threshold can be false, as
        in texts that share boilerplate (70% of 12,752 in one corpus). If it raises, no document is added.
    max_age
        Number of latest documents with which a new document is compared; older ones are forgotten, which limits memory.

    Attributes
    ----------
    n_chains_cut : int
        Number of times that a document shared a key with more than 64 earlier documents and was compared only with the
        latest 64, so that matches may be missing; the ``repr`` shows it.

    Examples
    --------
    >>> texts = {"a": "the cat sat on the mat by the door of the house", "b": "The cat sat on the mat by the door."}
    >>> stream = StreamDeduplicator(threshold=0.6, shingle="words:2", fetch=texts.__getitem__)
    >>> stream.add("a", texts["a"])
    ()
    >>> stream.add("b", texts["b"])
    (StreamMatch(doc_id='a', jaccard=0.7272727272727273, is_verified=True, is_exact_copy=False),)
    >>> stream
    StreamDeduplicator(2 documents, 944 bytes per document and its id)
    """

    def __init__(
        self,
        *,
        threshold: float = 0.7,
        recall: float = 0.99,
        shingle: str | Shingling = "words:5",
        size: int = 128,
        normalise: Normalisation | str = DEFAULT_STEPS,
        fetch: Callable[[Any], str] | None = None,
        seed: int = 0,
        max_age: int | None = None,
    ) -> None:
        if not is_number(threshold) or not 0 < threshold <= 1:
            raise ParameterError.of("threshold", f"a number > 0 and <= 1{in_percent(threshold)}", threshold)
        if not is_number(recall) or not 0 < recall < 1:
            raise ParameterError.of("recall", f"a number > 0 and < 1{in_percent(recall)}", recall)
        if max_age is not None:
            check_int("max_age", max_age, 1, rule="an int >= 1, or None")
        for name, value, kind, rule in (
            ("shingle", shingle, (str, Shingling), "a name such as words:5, or a Shingling"),
            ("normalise", normalise, (str, Normalisation), "steps such as hyphens,case,space, or a Normalisation"),
        ):
            if not isinstance(value, kind):
                raise ParameterError.of(name, rule, value)
        if fetch is not None and not callable(fetch):
            raise ParameterError.of("fetch", "a function, or None", fetch)
        self.threshold, self.recall, self.max_age = threshold, recall, max_age
        self.shingle = parse_shingling(shingle) if isinstance(shingle, str) else shingle
        self.minhash = MinHash(size, seed)
        self.bands = _bands_within(size, threshold, recall)
        self.normalise = Normalisation.parse(normalise) if isinstance(normalise, str) else normalise
        self.fetch = fetch
        self.n_chains_cut = 0
        self._lock = threading.RLock()
        self._ids: list[Hashable] = []
        self._n_dropped = 0  # documents before the first row
        self._places: dict[Hashable, int] = {}  # the number of documents before each, by id
        n_keys = self.bands.bands + 1
        self._slots: U32 = np.zeros((0, size), np.uint32)
        self._digests: U64 = np.zeros((0, 4), np.uint64)
        self._keys: U64 = np.zeros((0, n_keys), np.uint64)
        self._previous: I32 = np.zeros((0, n_keys), np.int32)
        self._heads: I32 = np.zeros((n_keys, 0), np.int32)
        self._grow(_FIRST_CAPACITY)

    def __len__(self) -> int:
        """Return the number of documents that are not forgotten."""
        with self._lock:
            return len(self._ids) if self.max_age is None else min(len(self._ids), self.max_age)

    def __contains__(self, doc_id: object) -> bool:
        """Whether a document with this id was added and is not forgotten."""
        with self._lock:
            return self._is_known(_plain_id(doc_id), self._places, self._n_dropped + len(self._ids))

    def __getstate__(self) -> Mapping[str, object]:
        """Return everything but the lock, which cannot be copied."""
        with self._lock:
            return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        vars(self).update(state, _lock=threading.RLock())

    def _is_known(self, doc_id: object, places: Mapping[Hashable, int], place: int) -> bool:
        earlier = places.get(doc_id)
        return earlier is not None and (self.max_age is None or place - earlier <= self.max_age)

    def __repr__(self) -> str:
        n_cut = self.n_chains_cut
        cut = f", {counted(n_cut, 'comparison')} cut short: {_CUT}" if n_cut else ""
        fields = (
            f"{counted(len(self), 'document')}, {counted(self.bytes_per_document, 'byte')} per document and its id{cut}"
        )
        return f"StreamDeduplicator({fields})"

    @property
    def bytes_per_document(self) -> int:
        """Bytes stored per document, without its id. The arrays may have room for twice as many documents."""
        with self._lock:
            by_row = (self._slots, self._digests, self._keys, self._previous)
        return sum(array.nbytes // len(array) for array in by_row) + self._heads.nbytes // len(self._keys)

    def add(self, doc_id: Hashable, text: str) -> tuple[StreamMatch, ...]:
        """Add a document, and return the earlier documents that are similar to it, the most similar first.

        A text that is empty after normalisation matches nothing. An id can be added once; that of a forgotten document
        again. An id that is neither a str nor an int is taken, but such a stream cannot be saved.

        Raises
        ------
        ParameterError
            A document with this id was added before, or the text is not a str that UTF-8 can encode.
        """
        return next(iter(self.add_many([(doc_id, text)])))

    def add_many(
        self, documents: Iterable[tuple[Hashable, str]], *, batch_size: int = 1024
    ) -> Iterator[tuple[StreamMatch, ...]]:
        """Add documents like `add`, while the results are consumed; much faster than calls of `add`.

        A batch is added when its first result is requested. If ``fetch`` raises, or an id or a text is refused, no
        document of the batch is added.

        Raises
        ------
        ParameterError
            ``batch_size`` is not an int of at least 1, ``documents`` are not iterable, or hold something else than (id,
            text).
        """
        if not isinstance(documents, Iterable) or isinstance(documents, str | bytes):
            raise ParameterError.of("documents", _PAIRS, documents)
        check_int("batch_size", batch_size, 1)
        return self._added(documents, batch_size)

    def _added(self, documents: Iterable[tuple[Hashable, str]], batch_size: int) -> Iterator[tuple[StreamMatch, ...]]:
        batch: list[tuple[Hashable, str]] = []
        for document in documents:
            if not isinstance(document, tuple | list) or len(document) != 2:
                raise ParameterError.of("documents", _PAIRS, document)
            batch.append((_plain_id(document[0]), document[1]))
            if len(batch) == batch_size:
                yield from self._add_batch(batch)
                batch = []
        if batch:
            yield from self._add_batch(batch)

    def _add_batch(self, batch: list[tuple[Hashable, str]]) -> list[tuple[StreamMatch, ...]]:
        with self._lock:
            return self._add_locked(batch)

    def _add_locked(self, batch: list[tuple[Hashable, str]]) -> list[tuple[StreamMatch, ...]]:
        self._check_new(doc_id for doc_id, _ in batch)
        texts = self.normalise.apply(_strings([text for _, text in batch]))
        sets = self.shingle.sets(texts)
        self._forget()
        first, last = len(self._ids), len(self._ids) + len(batch)
        while last > len(self._keys):
            self._grow(2 * len(self._keys))
        signatures = self.minhash.sign(sets)
        self._slots[first:last] = _shortened(signatures.slots)
        self._digests[first:last] = np.frombuffer(digests(texts).buffers()[1], np.uint64).reshape(-1, 4)
        self._keys[first:last, :-1] = self.bands.keys(signatures).T
        self._keys[first:last, -1] = self._digests[first:last, 0]
        has_text = pc.binary_length(texts).to_numpy() > 0
        # a unique key for each document that must not be found: by bands without shingles, by digest without text
        numbers = np.arange(self._n_dropped + first, self._n_dropped + last, dtype=np.uint64)[:, None]
        self._keys[first:last, :-1] = np.where(sets.sizes[:, None] > 0, self._keys[first:last, :-1], numbers)
        self._keys[first:last, -1:] = np.where(has_text[:, None], self._keys[first:last, -1:], numbers)
        found: list[list[StreamMatch]] = [[] for _ in batch]
        pending = {first + i: text for i, (_, text) in enumerate(batch)}
        try:
            self._ids += [doc_id for doc_id, _ in batch]
            row, earlier, n_cut = linking.find_in_chains(
                self._keys, first, last, self._heads, self._previous, most=_MAX_OF_A_CHAIN
            )
            for i, j in zip(row.tolist(), earlier.tolist(), strict=True):
                if self.max_age is not None and i - j > self.max_age:
                    continue
                match = self._compare(i, j, pending)
                if match.jaccard >= self.threshold:
                    found[i - first].append(match)
        except BaseException:  # most likely from fetch: the batch is not added, and can be added again
            del self._ids[first:]
            self._rebuild()
            raise
        self._places.update((doc_id, self._n_dropped + first + i) for i, (doc_id, _) in enumerate(batch))
        self.n_chains_cut += n_cut
        return [tuple(sorted(matches, key=lambda m: -m.jaccard)) for matches in found]

    def _check_new(self, doc_ids: Iterable[Hashable]) -> None:
        new: dict[Hashable, int] = {}
        for place, doc_id in enumerate(doc_ids, self._n_dropped + len(self._ids)):
            try:
                is_known = self._is_known(doc_id, self._places, place) or self._is_known(doc_id, new, place)
            except TypeError as error:  # such as a list
                rule = "hashable, such as a str or an int"
                raise ParameterError.of("doc_id", rule, doc_id) from error
            if is_known:
                rule = "new: each id can be added once"
                raise ParameterError.of("doc_id", rule, doc_id)
            new[doc_id] = place

    def _compare(self, row: int, earlier: int, pending: dict[int, str]) -> StreamMatch:
        doc_id = self._ids[earlier]
        if (self._digests[row] == self._digests[earlier]).all():
            return StreamMatch(doc_id, 1.0, True, True)
        if self.fetch is not None:
            other = pending[earlier] if earlier in pending else self.fetch(doc_id)
            sets = self.shingle.sets(self.normalise.apply(_strings([pending[row], other])))
            pair = Candidates(np.zeros(1, np.uint32), np.ones(1, np.uint32))
            exact = verify(pair, sets.hashes, sets.offsets[:-1], sets.offsets[1:]).jaccard[0]
            return StreamMatch(doc_id, float(exact), True, False)
        return StreamMatch(doc_id, float((self._slots[row] == self._slots[earlier]).mean()), False, False)

    def _grow(self, capacity: int) -> None:
        self._slots = _enlarged(self._slots, capacity)
        self._digests = _enlarged(self._digests, capacity)
        self._keys = _enlarged(self._keys, capacity)
        self._previous = _enlarged(self._previous, capacity)
        self._rebuild()

    def _rebuild(self) -> None:
        self._heads = np.full((len(self._heads), 2 * len(self._keys)), linking.NO_ROW, np.int32)
        linking.rebuild_chains(self._keys, len(self._ids), self._heads, self._previous)

    def _forget(self) -> None:
        n_old = len(self._ids) - (self.max_age or 0)
        if self.max_age is None or n_old < max(self.max_age, _FIRST_CAPACITY):
            return
        for array in (self._slots, self._digests, self._keys):
            array[: self.max_age] = array[n_old : len(self._ids)].copy()
        self._n_dropped += n_old
        for doc_id in self._ids[:n_old]:
            if self._places.get(doc_id, self._n_dropped) < self._n_dropped:  # otherwise it was added again since
                del self._places[doc_id]
        del self._ids[:n_old]
        self._rebuild()

    def save(self, path: str | Path) -> None:
        """Save the stream to a file, which `open` reads; it replaces a saved stream, but no other file.

        Raises
        ------
        OutputExistsError, OutputError
            There is another file at ``path``; or it cannot be written there.

        Examples
        --------
        >>> import tempfile
        >>> stream = StreamDeduplicator(threshold=0.6, shingle="words:2")
        >>> stream.add("a", "the cat sat on the mat by the door of the house")
        ()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     stream.save(f"{folder}/stream")
        ...     again = StreamDeduplicator.open(f"{folder}/stream")
        >>> again.add("b", "The cat sat on the mat, by the door of the house.")[0].doc_id
        'a'
        """
        place = path_of(path, "path")
        with self._lock:
            n, odd = len(self._ids), [doc_id for doc_id in self._ids if not isinstance(doc_id, str | int)]
            if odd:
                raise ParameterError.of("doc_id", "a str or an int", odd[0])
            parameters = {
                "threshold": self.threshold, "recall": self.recall, "shingle": str(self.shingle),
                "size": self.minhash.size, "seed": self.minhash.seed, "normalise": str(self.normalise),
                "max_age": self.max_age,
            }  # fmt: skip
            about = {
                "parameters": parameters, "methods": self._methods(), "ids": self._ids, "n_dropped": self._n_dropped,
                "n_chains_cut": self.n_chains_cut,
            }  # fmt: skip
            arrays: Arrays = {"slots": self._slots[:n], "digests": self._digests[:n], "keys": self._keys[:n]}
            write_stream(place, about, arrays)

    @classmethod
    def open(cls, path: str | Path, *, fetch: Callable[[Any], str] | None = None) -> StreamDeduplicator:
        """Open a stream that `save` wrote; it continues as if it had not been saved. ``fetch`` is not saved.

        Raises
        ------
        RunError, FingerprintError, SourceError
            The file is damaged, has another format, was written by a version that makes other sketches, or is missing.
        """
        about, arrays = read_stream(path_of(path, "path"))
        stream = cls(fetch=fetch, **about["parameters"])
        if about["methods"] != stream._methods():
            raise FingerprintError(
                f"{path} was made with {about['methods']!r}; this Nearkin uses {stream._methods()!r}. Use the Nearkin "
                "that wrote it, or begin a new stream."
            )
        stream._ids, stream._n_dropped, stream.n_chains_cut = about["ids"], about["n_dropped"], about["n_chains_cut"]
        stream._places = {doc_id: stream._n_dropped + row for row, doc_id in enumerate(stream._ids)}
        stream._slots, stream._digests, stream._keys = (arrays[name] for name in ("slots", "digests", "keys"))
        stream._grow(max(_FIRST_CAPACITY, 1 << max(0, len(stream._ids) - 1).bit_length()))
        return stream

    def _methods(self) -> str:
        parts = self.normalise.fingerprint, self.shingle.fingerprint, self.minhash.fingerprint, self.bands.fingerprint
        return ";".join(parts)


def _plain_id(doc_id: Hashable) -> Hashable:
    return str(doc_id) if isinstance(doc_id, np.str_) else plain_number(doc_id)


def _strings(texts: list[str]) -> pa.LargeStringArray:
    try:
        if all(isinstance(text, str) for text in texts):
            return pa.array(texts, pa.large_string())
    except UnicodeEncodeError:
        pass
    came = next(text for text in texts if not isinstance(text, str) or text.encode(errors="replace").decode() != text)
    raise ParameterError.of("text", "a str that UTF-8 can encode", came)


def _bands_within(size: int, threshold: float, recall: float) -> Bands:
    """Return the bands with the most rows, hence the fewest candidates, that reach the recall."""
    for rows in range(size, 0, -1):
        bands = bands_for(threshold, rows, recall)
        if bands * rows <= size:
            return Bands(bands, rows)
    raise ParameterError.of("size", f"large enough for recall {recall} at threshold {threshold}", size)


def _enlarged(array: NDArray[Number], capacity: int) -> NDArray[Number]:
    larger = np.zeros((capacity, array.shape[1]), array.dtype)
    larger[: len(array)] = array
    return larger


def _shortened(slots: U64) -> U32:
    """Return 32 bits of each slot, enough to compare slots with one error in four thousand million."""
    return ((slots ^ (slots >> np.uint64(29))) * GOLDEN >> np.uint64(32)).astype(np.uint32)


_KEY = b"nearkin.stream"
_VERSION = 1


def write_stream(path: Path, about: Mapping[str, object], arrays: Arrays) -> None:
    """Write a file that appears when it is complete and on disk; it replaces a saved stream or an empty file only."""
    check_output(path, "path")
    check_outside_collections(path, "the file")
    if path.exists() and not path.is_dir() and not _is_free(path):  # writing says that it is a directory
        raise OutputExistsError(f"{path} already exists, and is not a saved stream. Choose another path.")
    batch = as_batch(arrays).replace_schema_metadata({_KEY: json.dumps({**about, "version": _VERSION})})
    save_batch(path, batch, durable=True)


def read_stream(path: Path) -> tuple[Mapping[str, Any], Arrays]:
    """Read what `write_stream` wrote; the arrays are copies in memory."""
    try:
        with open(path, "rb"):
            batch = mapped_batch(path)
    except OSError as error:
        raise SourceError(f"Cannot read {path}: {why(error)}.") from error
    except RunError as error:
        raise RunError(
            f"{path} is damaged, or is not a saved stream. Check the path, or restore the file from a backup."
        ) from error
    stored = (batch.schema.metadata or {}).get(_KEY)
    about = {} if stored is None else json.loads(stored)
    if about.pop("version", None) != _VERSION:
        raise RunError(f"{path} is not a stream that this version of Nearkin saved. Use the Nearkin that wrote it.")
    return about, {name: array_in(batch, name, path).copy() for name in batch.schema.names}


def _is_free(path: Path) -> bool:
    try:
        if not path.is_file() or not path.stat().st_size:
            return path.is_file()
        read_stream(path)
    except (RunError, SourceError):
        return False
    except OSError as error:
        raise OutputError(f"Cannot write {path}: {why(error)}.") from error
    return True
