"""Differences that are removed before two texts are compared."""

from __future__ import annotations

import functools
import unicodedata
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from nearkin.arguments import checking_methods, checking_types
from nearkin.errors import ParameterError
from nearkin.kernels.buffers import large_strings, text_buffers
from nearkin.kernels.text import fold
from nearkin.nouns import counted
from nearkin.records import Bool
from nearkin.stages.documents.ignoring import NOTHING, Ignored

Steps = Literal[
    "none", "nfkc", "case", "space", "nfkc,case", "nfkc,space", "case,space", "nfkc,case,space"
]  # fmt: skip
"""Combinations of steps in the syntax of `Normalisation.parse`, which accepts them in any order."""

STEPS = {
    "nfkc": "Unicode compatibility forms become one (NFKC): full-width letters, ligatures, no-break spaces",
    "case": "letters become lower case",
    "space": "runs of white space become one space, none at either end",
}


class Normalised(NamedTuple):
    """Normalised texts, and of which of them nothing is left because of what does not count.

    Parameters
    ----------
    texts : LargeStringArray
    is_only_numbers : bool array, shape (n_texts,), or None
        Whether the text had digits and no letters; None if digits count.
    is_only_ignored : bool array, shape (n_texts,), or None
        Whether the text had nothing but passages that do not count; None if there are no such passages.
    """

    texts: pa.LargeStringArray
    is_only_numbers: Bool | None
    is_only_ignored: Bool | None


@checking_methods
@dataclass(frozen=True, slots=True)
class Normalisation:
    r"""Differences to ignore.

    Parameters
    ----------
    nfkc, case, space : bool
        Steps, applied in this order: Unicode compatibility forms become one (NFKC), such as full-width letters and
        ligatures; letters become lower case; runs of white space become one space.
    ignored : Ignored
        Passages and numbers that do not count; they are removed before the steps.

    Examples
    --------
    >>> texts = pa.array(["Ｓｅｅ  the\tﬁle"], pa.large_string())
    >>> Normalisation().apply(texts).to_pylist()
    ['see the file']
    >>> Normalisation.parse("case").apply(texts).to_pylist()
    ['ｓｅｅ  the\tﬁle']
    >>> texts = pa.array(["A b 7 c"], pa.large_string())
    >>> Normalisation(ignored=Ignored(("text:b",), numbers=True)).apply(texts).to_pylist()
    ['a c']
    """

    nfkc: bool = True
    case: bool = True
    space: bool = True
    ignored: Ignored = NOTHING

    @classmethod
    def parse(cls, text: str) -> Normalisation:
        """Parse ``"nfkc,case,space"``, any part of it, or ``"none"``; also the result of `str`.

        Raises
        ------
        ParameterError
            A step does not exist.
        """
        rule = f"steps out of {', '.join(STEPS)}, joined by commas, or 'none'"
        if not isinstance(text, str):
            raise ParameterError.of("normalise", rule, text)
        text, mark, ignored = text.partition(";")
        steps = {step.strip() for step in text.split(",")} - {"", "none"}
        if unknown := steps - STEPS.keys():
            raise ParameterError.of("normalise", rule, ",".join(sorted(unknown)))
        return cls(**{step: step in steps for step in STEPS}, ignored=Ignored.restored(mark + ignored))

    def ignoring(self, ignored: Ignored) -> Normalisation:
        """Return the same steps with other passages that do not count."""
        return replace(self, ignored=ignored)

    @property
    def steps(self) -> tuple[str, ...]:
        """The enabled steps, in order."""
        return tuple(step for step in STEPS if getattr(self, step))

    def __str__(self) -> str:
        return (",".join(self.steps) or "none") + str(self.ignored)

    @property
    def shown(self) -> str:
        """The steps, and how many passages do not count, for a message."""
        n_passages = len(self.ignored.passages)
        numbers = ", without numbers" if self.ignored.numbers else ""
        passages = f", without {counted(n_passages, 'passage')}" if n_passages else ""
        return (",".join(self.steps) or "none") + passages + numbers

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the parameters that determine the result of `apply`."""
        return f"normalise={self}"

    @checking_types
    def apply(self, texts: pa.LargeStringArray) -> pa.LargeStringArray:
        """Return the normalised texts; nulls become empty.

        Parameters
        ----------
        texts : LargeStringArray
            Valid UTF-8.
        """
        return self.normalised(texts).texts

    @checking_types
    def normalised(self, texts: pa.LargeStringArray) -> Normalised:
        """Return the normalised texts, and which have only numbers or passages that do not count; see `apply`."""
        if not self.ignored:
            return Normalised(self._folded(texts), None, None)
        left = self.ignored.removed(texts)
        folded = self._folded(left.texts)
        if not self.ignored.passages:
            return Normalised(folded, left.is_only_numbers, None)
        spaceless = replace(self, space=True, ignored=NOTHING)
        is_only_ignored = _are_empty(folded if self.space else spaceless.apply(folded))
        if left.is_only_numbers is not None:
            is_only_ignored &= ~left.is_only_numbers
        is_only_ignored[is_only_ignored] = ~_are_empty(spaceless.apply(texts.filter(pa.array(is_only_ignored))))
        return Normalised(folded, left.is_only_numbers, is_only_ignored)

    def _folded(self, texts: pa.LargeStringArray) -> pa.LargeStringArray:
        """Apply the steps."""
        if not self.steps:
            return texts.fill_null("") if texts.null_count else texts
        data, offsets = text_buffers(texts)
        folded, folded_offsets, is_left = fold(data, offsets, nfkc=self.nfkc, lower=self.case, collapse=self.space)
        normalised = large_strings(folded, folded_offsets)
        if is_left.any():
            mask = pa.array(is_left)
            normalised = pc.replace_with_mask(normalised, mask, self._apply_by_library(texts.filter(mask)))
        return normalised

    def _apply_by_library(self, texts: pa.LargeStringArray) -> pa.LargeStringArray:
        """Apply NFKC and lower case of a library.

        They consider neighbouring characters too, and are thirty times slower than the kernel.
        """
        if self.nfkc:
            texts = _nfkc(texts)
        if self.case:
            texts = pc.utf8_lower(texts)
        data, offsets = text_buffers(texts)
        folded, folded_offsets, _ = fold(data, offsets, nfkc=False, lower=False, collapse=self.space)
        return large_strings(folded, folded_offsets)


def _are_empty(texts: pa.LargeStringArray) -> Bool:
    is_empty: Bool = pc.equal(pc.binary_length(texts), 0).to_numpy(zero_copy_only=False).copy()
    return is_empty


@functools.cache
def _composes() -> bool:
    """Whether Arrow's NFKC joins letters and accents: before pyarrow 26, it does not."""
    composed: bool = pc.utf8_normalize(pa.array(["a\u0300"]), form="NFKC")[0].as_py() == "\u00e0"
    return composed


def _nfkc(texts: pa.LargeStringArray) -> pa.LargeStringArray:
    if _composes():
        return pc.utf8_normalize(texts, form="NFKC")
    return pa.array([unicodedata.normalize("NFKC", text) for text in texts.to_pylist()], pa.large_string())


AS_IT_CAME = Normalisation(nfkc=False, case=False, space=False)
"""Value for texts that are stored, digested and counted letter by letter without a change."""
