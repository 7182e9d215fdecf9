"""How the texts of a collection are counted and signed: said once, when it is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from nearkin.errors import CollectionError, FingerprintError, ParameterError
from nearkin.records import U32, BitSignatures, Bool, LetterVectors, ShingleSets
from nearkin.stages.documents.normalisation import Normalisation
from nearkin.stages.features.counting import count_features
from nearkin.stages.features.letters import Alphabet, LetterCounts
from nearkin.stages.features.shingles import Words
from nearkin.stages.signatures.bit_minhash import BitMinHash
from nearkin.stages.signatures.similarity_index import SimilarityIndex, SimilarityIndexes

DEFAULT_ALPHABET: Alphabet = "universal"
AS_IT_CAME = Normalisation(nfkc=False, case=False, space=False)
"""Texts are stored, digested and counted letter by letter as they came."""
SHINGLES = Words(5)
NORMALISE = Normalisation()
SIGNATURE = BitMinHash(256)
"""See docs/decisions/0006 for why this one."""
_NAMED = {"similarity_index": "similarity indexes", "index": "similarity indexes"}


@dataclass(frozen=True, slots=True)
class TextCounting:
    """What is worked out of every text.

    Parameters
    ----------
    letters : LetterCounts
    similarity_index : SimilarityIndex

    Examples
    --------
    >>> TextCounting.of(TextCounting(LetterCounts("latin")).facts()).letters.alphabet
    'latin'
    """

    letters: LetterCounts
    similarity_index: SimilarityIndex = field(default_factory=SimilarityIndex)

    @property
    def signatures(self) -> str:
        """The fingerprint of signatures: of what is made equal, what a feature is, and the method."""
        return f"{NORMALISE.fingerprint};{SHINGLES.fingerprint};{SIGNATURE.fingerprint}"

    def facts(self) -> dict[str, str]:
        """What the store keeps of it."""
        return {
            "alphabet": self.letters.alphabet,
            "letters": self.letters.fingerprint,
            "signatures": self.signatures,
            "index": self.similarity_index.spec,
            "similarity_index": self.similarity_index.fingerprint,
        }

    @classmethod
    def of(cls, facts: Mapping[str, str]) -> TextCounting:
        """As a store has it.

        Raises
        ------
        FingerprintError
            This Nearkin counts or signs in another way under the same name.
        CollectionError
            The store does not say how they were counted: it is damaged.
        """
        if missing := [name for name in cls(LetterCounts()).facts() if name not in facts]:
            raise CollectionError(
                f"The collection is damaged: its {', '.join(missing)} is missing. Restore the database from a backup."
            )
        if facts["alphabet"] not in ("latin", "universal"):
            raise FingerprintError(
                f"The alphabet of the collection must be 'latin' or 'universal'. Got {facts['alphabet']!r} instead."
            )
        try:
            index = SimilarityIndex.parse(facts.get("index", ""))
        except ParameterError as error:
            raise FingerprintError(
                f"The collection says {facts.get('index')!r} where its similarity index should be."
            ) from error
        counting = cls(LetterCounts(facts["alphabet"]), index)  # type: ignore[arg-type]  # it was checked
        for name, value in counting.facts().items():
            if facts.get(name) != value:
                raise FingerprintError(
                    f"The collection's {_NAMED.get(name, name)} were made as {facts.get(name)!r}; this Nearkin makes "
                    f"{value!r}. Use the version of Nearkin that made it, or add its documents to a new collection."
                )
        return counting

    def count(self, texts: pa.LargeStringArray) -> LetterVectors:
        """The letters of texts as they came."""
        return self.letters.count(texts)

    def vectors_of_counts(self, counts: U32, is_counted: Bool) -> LetterVectors:
        """Letter counts that were stored, to be searched with or for."""
        nothing = np.zeros(len(counts), np.int64)  # how many letters there are plays no part in a search
        return LetterVectors(counts, is_counted, nothing, nothing, self.letters.fingerprint)

    def sign(self, texts: pa.LargeStringArray) -> BitSignatures:
        """The signatures of texts as they came."""
        return replace(SIGNATURE.sign(count_features(NORMALISE.apply(texts), SHINGLES)), fingerprint=self.signatures)

    def index(self, texts: pa.LargeStringArray) -> SimilarityIndexes:
        """The similarity indexes of texts as they came."""
        return self.similarity_index.index(texts)

    def shingles(self, texts: pa.LargeStringArray) -> ShingleSets:
        """By which the Jaccard similarity is."""
        return SHINGLES.sets(NORMALISE.apply(texts))
