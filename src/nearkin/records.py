"""Records that flow between the stages, with Arrow schemas of those that are stored.

A *row* is Nearkin's own number of a document, counted from 0 in the order in which documents were read; a *doc_id* is
the user's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

U8 = NDArray[np.uint8]
U32 = NDArray[np.uint32]
U64 = NDArray[np.uint64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
F32 = NDArray[np.float32]
F64 = NDArray[np.float64]
Bool = NDArray[np.bool_]
Selection = NDArray[np.bool_] | NDArray[np.integer[Any]] | slice
"""Selection of array elements: a mask, an array of indices, or a slice."""

_STRINGS = pa.list_(pa.large_string())
ORIGIN_TYPE = pa.struct(
    [
        pa.field("sha256", pa.string()), pa.field("size_bytes", pa.int64()), pa.field("kind", pa.string()),
        pa.field("declared_kind", pa.string()), pa.field("extractor", pa.string()),
        pa.field("n_pages", pa.int64()),
        pa.field("exception", pa.string()), pa.field("sentence", pa.large_string()), pa.field("is_partial", pa.bool_()),
        pa.field("warnings", pa.large_string()), pa.field("family", pa.large_string()),
        pa.field("position", pa.int64()),
        pa.field(
            "mail",
            pa.struct(
                [
                    pa.field("message_id", pa.large_string()), pa.field("in_reply_to", _STRINGS),
                    pa.field("references", _STRINGS), pa.field("subject", pa.large_string()),
                    pa.field("sent_at", pa.timestamp("us", "UTC")), pa.field("sender", pa.large_string()),
                    pa.field("to", pa.large_string()), pa.field("cc", pa.large_string()),
                    pa.field("bcc", pa.large_string()), pa.field("thread_index", pa.large_string()),
                    pa.field("thread_topic", pa.large_string()),
                ]
            ),
        ),
    ]
)  # fmt: skip
"""Origin of a document that was extracted; see `stages.documents.origin.Origin`."""

DOCUMENTS_SCHEMA = pa.schema(
    [
        pa.field("doc_id", pa.large_string()),  # or int64; null: the document is named after its place, "file:line"
        pa.field("text", pa.large_binary()),  # UTF-8, not yet checked; null: there is no text
        pa.field("line", pa.int64(), nullable=False),  # counted from 1; in Parquet and tables the row
        pa.field("problem", pa.large_string()),  # why the text could not be had; null: all is well
        pa.field("keep_value", pa.float64()),  # the column that chooses survivors; null where it has none
        pa.field("parent", pa.large_string()),  # id of the document or container it is inside of; null: of none
        pa.field("origin", ORIGIN_TYPE),  # null for texts and records
    ]
)
"""Schema of a batch of documents as readers yield it."""


@dataclass(frozen=True, slots=True)
class ShingleSets:
    """The distinct shingles of a batch of documents, as 64-bit hashes.

    Parameters
    ----------
    hashes : uint64 array, shape (n_shingles,)
        Each set in order of first occurrence.
    offsets : int64 array, shape (n_documents + 1,)
        Set ``i`` is ``hashes[offsets[i]:offsets[i + 1]]``.
    n_units : int64 array, shape (n_documents,)
        Words or characters in each document, repeats counted.
    """

    hashes: U64
    offsets: I64
    n_units: I64
    fingerprint: str

    @property
    def sizes(self) -> I64:
        """Number of distinct shingles of each document, shape (n_documents,)."""
        return np.diff(self.offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def where(self, mask: Bool) -> ShingleSets:
        """Return the sets for which ``mask`` holds."""
        if mask.all():
            return self
        sizes = self.sizes
        offsets = np.concatenate([[0], np.cumsum(sizes[mask])]).astype(np.int64)
        return ShingleSets(self.hashes[np.repeat(mask, sizes)], offsets, self.n_units[mask], self.fingerprint)


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureCounts:
    """The distinct features of a batch of documents and how often each occurs.

    Parameters
    ----------
    hashes : uint64 array, shape (n_features,)
        Each document's one after another, in order of first occurrence.
    firsts : uint32 array, shape (n_features,)
        The character or word of its text, counted from 0, with which the first occurrence begins.
    offsets : int64 array, shape (n_documents + 1,)
        The features of document ``i`` are ``hashes[offsets[i]:offsets[i + 1]]``.
    n_characters
        Length of a feature that is a character n-gram; 0 for features of words.
    """

    hashes: U64
    counts: U32
    firsts: U32
    offsets: I64
    texts: pa.LargeStringArray
    n_characters: int
    fingerprint: str

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def has_features(self) -> Bool:
        """Whether each document has any, shape (n_documents,)."""
        return np.diff(self.offsets) > 0

    @property
    def n_occurrences(self) -> I64:
        """Number of features of each document, repeats counted, shape (n_documents,)."""
        running = np.concatenate([[0], np.cumsum(self.counts, dtype=np.int64)])
        return np.diff(running[self.offsets])

    @property
    def sets(self) -> ShingleSets:
        """Features without their counts."""
        return ShingleSets(self.hashes, self.offsets, self.n_occurrences, self.fingerprint)


@dataclass(frozen=True, slots=True)
class Signatures:
    """Fixed-size sketches, one per document.

    Parameters
    ----------
    slots : uint64 array, shape (n_documents, size)
        Two documents agree in a slot with probability equal to their Jaccard similarity.
    fingerprint
        Of the method that made them; signatures with different fingerprints must not be compared.
    """

    slots: U64
    fingerprint: str

    def __len__(self) -> int:
        return len(self.slots)

    def where(self, rows: Selection | list[int]) -> Signatures:
        """Return some of the rows."""
        return Signatures(self.slots[rows], self.fingerprint)


@dataclass(frozen=True, slots=True)
class BitSignatures:
    """Bit strings, one per document; the strings of similar documents differ in few bits.

    Parameters
    ----------
    packed : uint8 array, shape (n_documents, n_bits // 8)
        Bit ``j`` of a signature is bit ``7 - j % 8`` of byte ``j // 8``, so that it reads from left to right.
    has_features : bool array, shape (n_documents,)
        False: the document has no text; its bits are all 0, and it is never a neighbour.
    fingerprint
        Of the features and the method; signatures with different fingerprints must not be compared.
    """

    packed: U8
    has_features: Bool
    fingerprint: str

    @property
    def n_bits(self) -> int:
        """Bits in each signature."""
        return 8 * int(self.packed.shape[1])

    @property
    def words(self) -> U64:
        """Bits as 64-bit numbers, shape (n_documents, ceil(n_bits / 64)); unused bits are 0."""
        n_documents, n_bytes = self.packed.shape
        if n_bytes % 8 == 0 and self.packed.flags.c_contiguous:
            return self.packed.view(np.uint64)
        padded = np.zeros((n_documents, -(-n_bytes // 8) * 8), np.uint8)
        padded[:, :n_bytes] = self.packed
        return padded.view(np.uint64)

    def __len__(self) -> int:
        return len(self.packed)


@dataclass(frozen=True, slots=True)
class LetterVectors:
    """Counts of each letter and digit in each document, shape (n_documents, n_dimensions).

    Parameters
    ----------
    is_counted : bool array, shape (n_documents,)
        False: almost nothing of the document is in its vector; it must match nothing, and be reported.
    n_counted, n_others : int64 arrays, shape (n_documents,)
        Letters and digits that have a place in the vector, and those that have none.
    """

    counts: U32
    is_counted: Bool
    n_counted: I64
    n_others: I64
    fingerprint: str

    def __len__(self) -> int:
        return len(self.counts)


@dataclass(frozen=True, slots=True)
class Candidates:
    """Pairs of rows that may be similar, before verification; each pair once, ``left < right``, sorted."""

    left: U32
    right: U32

    def __len__(self) -> int:
        return len(self.left)


@dataclass(frozen=True, slots=True)
class Matches:
    """Pairs of rows with their exact similarity.

    Parameters
    ----------
    left, right : uint32 arrays, shape (n_pairs,)
        Rows, ``left < right``, each pair once, sorted.
    n_common, n_left, n_right : uint32 arrays, shape (n_pairs,)
        Shingles in both, and in each.
    differs : uint8 array, shape (n_pairs,), or None
        Index into `stages.verification.what_differs.DIFFERENCES`; None if it was not determined.
    """

    left: U32
    right: U32
    n_common: U32
    n_left: U32
    n_right: U32
    differs: U8 | None = None

    def __len__(self) -> int:
        return len(self.left)

    @property
    def jaccard(self) -> F64:
        """Jaccard similarity |A ∩ B| / |A ∪ B|, in [0, 1]."""
        union = self.n_left.astype(np.float64) + self.n_right - self.n_common
        return self.n_common / np.maximum(union, 1.0)

    @property
    def containment_left_in_right(self) -> F64:
        """Share of the left document that the right one contains, |A ∩ B| / |A|, in [0, 1]."""
        return self.n_common / np.maximum(self.n_left.astype(np.float64), 1.0)

    @property
    def containment_right_in_left(self) -> F64:
        """Share of the right document that the left one contains, |A ∩ B| / |B|, in [0, 1]."""
        return self.n_common / np.maximum(self.n_right.astype(np.float64), 1.0)

    @property
    def containment(self) -> F64:
        """Larger of the two containments, in [0, 1]."""
        return np.maximum(self.containment_left_in_right, self.containment_right_in_left)

    def where(self, chosen: Selection) -> Matches:
        """Return the selected matches."""
        return Matches(
            self.left[chosen], self.right[chosen], self.n_common[chosen], self.n_left[chosen], self.n_right[chosen],
            None if self.differs is None else self.differs[chosen],
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Groups:
    """Groups of documents, built from matches only.

    Parameters
    ----------
    principal : uint32 array, shape (n_documents,)
        The row of each document's principal; its own row where it is one, or is alone.
    n_bridges_refused : int64 array, shape (n_documents,)
        At the row of each principal: matches that lead out of its group.
    """

    principal: U32
    n_bridges_refused: I64

    def __len__(self) -> int:
        return len(self.principal)


@dataclass(frozen=True, slots=True)
class TextWords:
    """Words of a batch of texts, in their order.

    Parameters
    ----------
    words
        The distinct ones.
    ids, offsets : int32 array, int64 array of shape (n_texts + 1,)
        The words of text ``i`` are ``ids[offsets[i]:offsets[i + 1]]``, places in ``words``.
    """

    words: pa.LargeStringArray
    ids: I32
    offsets: I64
    fingerprint: str

    def __len__(self) -> int:
        return len(self.offsets) - 1


@dataclass(frozen=True, slots=True)
class TermCounts:
    """The distinct terms of each document and how often each occurs.

    Parameters
    ----------
    terms, counts : int32 and float32 arrays, shape (n_terms,)
        Numbers of a vocabulary; counts above 0, no whole numbers for translated terms.
    offsets : int64 array, shape (n_documents + 1,)
        The terms of document ``i`` are ``terms[offsets[i]:offsets[i + 1]]``.
    """

    terms: I32
    counts: F32
    offsets: I64

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def sizes(self) -> I64:
        """Number of distinct terms of each document, shape (n_documents,)."""
        return np.diff(self.offsets)

    def part(self, first: int, end: int) -> TermCounts:
        """Return the documents from ``first`` up to but not including ``end``."""
        block = slice(int(self.offsets[first]), int(self.offsets[end]))
        return TermCounts(self.terms[block], self.counts[block], self.offsets[first : end + 1] - self.offsets[first])


@dataclass(frozen=True, slots=True)
class WeightedVectors:
    """Documents as vectors of weighted terms, each of length 1.

    Parameters
    ----------
    terms, weights, offsets
        See `TermCounts`; of a document that has no vector the two offsets are equal.
    """

    terms: I32
    weights: F32
    offsets: I64

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def sizes(self) -> I64:
        """Number of terms of each document, shape (n_documents,)."""
        return np.diff(self.offsets)

    @property
    def sparse(self) -> tuple[I32, F32, I64]:
        """Three arrays of a sparse matrix, as kernels take them."""
        return self.terms, self.weights, self.offsets
