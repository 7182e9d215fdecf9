"""What is made equal before two texts are compared."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearkin import kernels
from nearkin.errors import ParameterError
from nearkin.kernels.buffers import large_strings, text_buffers

STEPS = {
    "nfkc": "Unicode compatibility forms become one (NFKC): full-width letters, ligatures, no-break spaces",
    "case": "letters become lower case",
    "space": "runs of white space become one space, none at either end",
}


@dataclass(frozen=True, slots=True)
class Normalisation:
    """Which differences do not count.

    Parameters
    ----------
    nfkc, case, space : bool
        See `STEPS` for what each does; they are done in this order.

    Examples
    --------
    >>> texts = pa.array(["Ｓｅｅ  the\\tﬁle"], pa.large_string())
    >>> Normalisation().apply(texts).to_pylist()
    ['see the file']
    >>> Normalisation.parse("case").apply(texts).to_pylist()
    ['ｓｅｅ  the\\tﬁle']
    """

    nfkc: bool = True
    case: bool = True
    space: bool = True

    @classmethod
    def parse(cls, text: str) -> Normalisation:
        """From ``"nfkc,case,space"``, any part of it, or ``"none"``.

        Raises
        ------
        ParameterError
            For a step that does not exist.
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
        """The steps that are on, in order."""
        return tuple(step for step in STEPS if getattr(self, step))

    def __str__(self) -> str:
        return ",".join(self.steps) or "none"

    @property
    def fingerprint(self) -> str:
        """What decides the result of `apply`."""
        return f"normalise={self}"

    def apply(self, texts: pa.LargeStringArray) -> pa.LargeStringArray:
        """The normalised texts; nulls become empty.

        Parameters
        ----------
        texts : LargeStringArray
            Valid UTF-8.
        """
        data, offsets = text_buffers(texts)
        kernel = kernels.twin("text", int(offsets[-1] - offsets[0]))
        if self.nfkc or self.case:
            _, is_ascii = kernel.first_invalid_byte(data, offsets)
            if not is_ascii.all():
                data, offsets = text_buffers(self._apply_beyond_ascii(texts, ~is_ascii))
        if self.case or self.space:
            data, offsets = kernel.fold(data, offsets, lower=self.case, collapse=self.space)
        return large_strings(data, offsets)

    def _apply_beyond_ascii(self, texts: pa.LargeStringArray, mask: np.ndarray) -> pa.LargeStringArray:
        """NFKC and lower case for the texts under the mask; on ASCII the one does nothing and the kernel does the other."""
        mask = pa.array(mask)
        changed = texts.filter(mask)
        if self.nfkc:
            changed = pc.utf8_normalize(changed, form="NFKC")
        if self.case:
            changed = pc.utf8_lower(changed)
        return pc.replace_with_mask(texts, mask, changed)
