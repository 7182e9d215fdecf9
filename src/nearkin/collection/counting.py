"""Methods that count, sign and index the texts of a collection; they are fixed when it is created."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearkin.errors import FingerprintError, ParameterError
from nearkin.kernels.buffers import integers
from nearkin.records import I64, U32, BitSignatures, Bool, Candidates, LetterVectors, ShingleSets
from nearkin.stages.documents.ignoring import NOTHING, Ignored
from nearkin.stages.documents.normalisation import Normalisation
from nearkin.stages.features.letters import Alphabet, LetterCounts
from nearkin.stages.features.shingles import Words, count_features
from nearkin.stages.signatures.minhash import BitMinHash
from nearkin.stages.signatures.similarity_index import SimilarityIndex, SimilarityIndexes
from nearkin.stages.verification.difference_names import DIFFERENCES, Difference
from nearkin.stages.verification.overlap import verify
from nearkin.stages.verification.what_differs import Compared, TextNumbers
from nearkin.store.damage import BACKUP, unrepairable

DEFAULT_ALPHABET: Alphabet = "universal"
SHINGLES = Words(5)
NORMALISE = Normalisation()
SIGNATURE = BitMinHash(256)
"""Method of the bit signatures; docs/decisions/0006 gives the reasons."""
_NAMED = {"similarity_index": "similarity indexes", "index": "similarity indexes"}


@dataclass(frozen=True, slots=True)
class TextCounting:
    """Methods applied to every text of a collection; what is ``ignored`` does not count, and is stored.

    Examples
    --------
    >>> TextCounting.of(TextCounting(LetterCounts("latin")).facts()).letters.alphabet
    'latin'
    """

    letters: LetterCounts
    similarity_index: SimilarityIndex = field(default_factory=SimilarityIndex)
    ignored: Ignored = NOTHING

    @property
    def normalise(self) -> Normalisation:
        """Differences that are ignored when words are compared."""
        return NORMALISE.ignoring(self.ignored) if self.ignored else NORMALISE

    @property
    def signatures(self) -> str:
        """Fingerprint of the signatures: normalisation, features and method."""
        return f"{NORMALISE.fingerprint};{SHINGLES.fingerprint};{SIGNATURE.fingerprint}"

    def facts(self) -> dict[str, str]:
        """Return the facts to store."""
        return {
            "alphabet": self.letters.alphabet,
            "letters": self.letters.fingerprint,
            "signatures": self.signatures,
            "index": self.similarity_index.spec,
            "similarity_index": self.similarity_index.fingerprint,
            **({"ignored": str(self.ignored)} if self.ignored else {}),
        }

    @classmethod
    def of(cls, facts: Mapping[str, str]) -> TextCounting:
        """Restore the methods from the facts of a store."""
        if missing := [name for name in cls(LetterCounts()).facts() if name not in facts]:
            raise unrepairable(f"its {', '.join(missing)} is missing")
        try:
            index, letters = SimilarityIndex.parse(facts["index"]), LetterCounts(facts["alphabet"])  # type: ignore[arg-type]  # it checks it
        except ParameterError as error:
            raise FingerprintError(f"The collection is damaged: its methods are invalid ({error}). {BACKUP}") from error
        counting = cls(letters, index, Ignored.restored(facts.get("ignored", "")))
        for name, value in counting.facts().items():
            if facts.get(name) != value:
                raise FingerprintError(
                    f"The {_NAMED.get(name, name)} of the collection were made with {facts.get(name)!r}; this Nearkin "
                    f"uses {value!r}. Use the Nearkin version that made it, or add its documents to a new collection."
                )
        return counting

    def count(self, texts: pa.LargeStringArray) -> LetterVectors:
        """Count the letters of unchanged texts."""
        return self.letters.count(self._left_of(texts))

    def vectors_of_counts(self, counts: U32, is_counted: Bool) -> LetterVectors:
        """Make letter vectors from stored counts, for searches."""
        nothing = np.zeros(len(counts), np.int64)  # the number of letters plays no part in a search
        return LetterVectors(counts, is_counted, nothing, nothing, self.letters.fingerprint)

    def sign(self, texts: pa.LargeStringArray) -> BitSignatures:
        """Make the signatures of unchanged texts."""
        return replace(
            SIGNATURE.sign(count_features(self.normalise.apply(texts), SHINGLES)), fingerprint=self.signatures
        )

    def index(self, texts: pa.LargeStringArray) -> SimilarityIndexes:
        """Make the similarity indexes of unchanged texts."""
        return self.similarity_index.index(self._left_of(texts))

    def shingles(self, texts: pa.LargeStringArray) -> ShingleSets:
        """Make the shingle sets from which Jaccard similarity is computed."""
        return SHINGLES.sets(self.normalise.apply(texts))

    def with_numbers(self, texts: pa.LargeStringArray) -> pa.LargeStringArray:
        """Normalise texts to see whether they are equal; ignored numbers count."""
        ignored = replace(self.ignored, numbers=False)
        return (NORMALISE.ignoring(ignored) if ignored else NORMALISE).apply(texts)

    def differences(
        self, normalised: pa.LargeStringArray, sets: ShingleSets, left: I64, right: I64
    ) -> list[Difference]:
        """Return what differs in each pair of texts, as ``nearkin dedup`` says it.

        Examples
        --------
        >>> counting, bills = TextCounting(LetterCounts()), [f"Bill {n}: due on the first of May." for n in (1, 2)]
        >>> normalised = counting.with_numbers(pa.array([*bills, bills[0].upper()], pa.large_string()))
        >>> counting.differences(normalised, SHINGLES.sets(normalised), np.array([0, 0]), np.array([1, 2]))
        ['numbers', 'nothing']
        """
        hashes, starts, ends = sets.hashes, sets.offsets[:-1], sets.offsets[1:]
        length, unit_words = SHINGLES.length_in_words
        compared = Compared(
            hashes=hashes, starts=starts, ends=ends, numbers=TextNumbers.of(normalised), length=length,
            unit_words=unit_words,
        )  # fmt: skip
        candidates = Candidates(left.astype(np.uint32), right.astype(np.uint32))
        codes = compared.differences(verify(candidates, hashes, starts, ends))
        are_equal = pc.equal(normalised.take(integers(left)), normalised.take(integers(right))).to_pylist()
        return [
            "nothing" if is_equal else DIFFERENCES[code]
            for is_equal, code in zip(are_equal, codes.tolist(), strict=True)
        ]

    def _left_of(self, texts: pa.LargeStringArray) -> pa.LargeStringArray:
        return self.ignored.removed(texts).texts if self.ignored else texts
