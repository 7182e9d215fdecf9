"""Differences that are removed before two texts are compared."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

from nearkin.errors import ParameterError
from nearkin.kernels.buffers import large_strings, text_buffers
from nearkin.kernels.text import fold

Steps = Literal[
    "none", "nfkc", "case", "space", "nfkc,case", "nfkc,space", "case,space", "nfkc,case,space"
]  # fmt: skip
"""Combinations of steps in the syntax of `Normalisation.parse`, which accepts them in any order."""

STEPS = {
    "nfkc": "Unicode compatibility forms become one (NFKC): full-width letters, ligatures, no-break spaces",
    "case": "letters become lower case",
    "space": "runs of white space become one space, none at either end",
}


@dataclass(frozen=True, slots=True)
class Normalisation:
    r"""Differences to ignore.

    Parameters
    ----------
    nfkc, case, space : bool
        See `STEPS` for the effect of each; they are applied in this order.

    Examples
    --------
    >>> texts = pa.array(["Ｓｅｅ  the\tﬁle"], pa.large_string())
    >>> Normalisation().apply(texts).to_pylist()
    ['see the file']
    >>> Normalisation.parse("case").apply(texts).to_pylist()
    ['ｓｅｅ  the\tﬁle']
    """

    nfkc: bool = True
    case: bool = True
    space: bool = True

    @classmethod
    def parse(cls, text: str) -> Normalisation:
        """Parse ``"nfkc,case,space"``, any part of it, or ``"none"``.

        Raises
        ------
        ParameterError
            A step does not exist.
        """
        steps = {step.strip() for step in text.split(",")} - {"", "none"}
        if unknown := steps - STEPS.keys():
            raise ParameterError.of(
                "normalise",
                "dedup",
                f"steps out of {', '.join(STEPS)}, joined by commas, or 'none'",
                ",".join(sorted(unknown)),
            )
        return cls(**{field.name: field.name in steps for field in fields(cls)})

    @property
    def steps(self) -> tuple[str, ...]:
        """The enabled steps, in order."""
        return tuple(step for step in STEPS if getattr(self, step))

    def __str__(self) -> str:
        return ",".join(self.steps) or "none"

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the parameters that determine the result of `apply`."""
        return f"normalise={self}"

    def apply(self, texts: pa.LargeStringArray) -> pa.LargeStringArray:
        """Return the normalised texts; nulls become empty.

        Parameters
        ----------
        texts : LargeStringArray
            Valid UTF-8.
        """
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
        """Apply Arrow's NFKC and lower case.

        They consider neighbouring characters too, and are thirty times slower than the kernel.
        """
        if self.nfkc:
            texts = pc.utf8_normalize(texts, form="NFKC")
        if self.case:
            texts = pc.utf8_lower(texts)
        data, offsets = text_buffers(texts)
        folded, folded_offsets, _ = fold(data, offsets, nfkc=False, lower=False, collapse=self.space)
        return large_strings(folded, folded_offsets)


AS_IT_CAME = Normalisation(nfkc=False, case=False, space=False)
"""Texts as they were read: stored, digested and counted letter by letter unchanged."""
