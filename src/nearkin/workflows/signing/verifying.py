"""Verification of neighbours by their shingles, for which the signed documents are read again."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from nearkin.engines.local import map_ordered
from nearkin.errors import ParameterError, in_percent
from nearkin.nouns import one_of
from nearkin.records import I64, U32, U64, Bool, Candidates, Matches, ShingleSets
from nearkin.reports.quantities import criterion_text
from nearkin.runs.progress import Meter, Progress
from nearkin.stages.documents.normalisation import Normalisation, prepare
from nearkin.stages.features.shingles import Shingling, Words, parse_shingling
from nearkin.stages.verification.measures import MEASURES, Measure
from nearkin.stages.verification.overlap import verify
from nearkin.workflows.reading.rereading import reread
from nearkin.workflows.resources import Resources
from nearkin.workflows.signing.signature_file import SignatureFile


@dataclass(frozen=True, slots=True)
class Verification:
    """Parameters of the verification of a pair of neighbours; the threshold is in (0, 1]."""

    measure: Measure
    threshold: float
    shingle: Shingling = field(default_factory=Words)
    normalise: Normalisation = field(default_factory=Normalisation)

    def __post_init__(self) -> None:
        for name, kind, rule in (
            ("shingle", Shingling, "words:N, chars:N or code:N"),
            ("normalise", Normalisation, "steps such as hyphens,case,space, or none"),
        ):
            if not isinstance(getattr(self, name), kind):
                raise ParameterError.of(name, rule, getattr(self, name))

    @classmethod
    def if_given(
        cls, rule: str | None, shingle: Shingling | str, normalise: Normalisation | str
    ) -> Verification | None:
        """Parse the parameters of a verification; None without a rule. The others need a rule."""
        shingling = parse_shingling(shingle) if isinstance(shingle, str) else shingle
        steps = Normalisation.parse(normalise) if isinstance(normalise, str) else normalise
        if rule is not None:
            return cls.parse(rule, shingling, steps)
        for name, given, kind, default in (
            ("shingle", shingling, Shingling, Words()), ("normalise", steps, Normalisation, Normalisation())
        ):  # fmt: skip
            if not isinstance(given, kind) or given != default:
                raise ParameterError(f"is for 'verify': add it, or omit {name!r}.", parameter=name)
        return None

    @classmethod
    def parse(cls, text: str, shingle: Shingling, normalise: Normalisation) -> Verification:
        """Parse a rule such as ``"jaccard:0.8"``.

        Examples
        --------
        >>> Verification.parse("jaccard:0.8", Words(5), Normalisation()).threshold
        0.8
        """
        measure, _, number = text.partition(":") if isinstance(text, str) else ("", "", "")
        try:
            threshold = float(number)
        except ValueError:
            threshold = -1.0
        if measure not in MEASURES or not 0 < threshold <= 1:
            names = one_of(f"{name}:T" for name in MEASURES)
            rule = f"{names} with T > 0 and <= 1, such as jaccard:0.8{in_percent(threshold)}"
            raise ParameterError.of("verify", rule, text)
        return cls(MEASURES[measure], threshold, shingle, normalise)

    @property
    def parameters(self) -> dict[str, object]:
        """The parameters as JSON types, under the names that runs of other commands store."""
        shown = {"shingle": str(self.shingle), "normalise": str(self.normalise)}
        return {"measure": self.measure.name, "threshold": self.threshold, **shown}

    def in_words(self) -> str:
        """Return measure, threshold, shingles and normalisation."""
        return f"{criterion_text(self.parameters)}, normalise {self.normalise.shown}"

    def say(self, file: SignatureFile, progress: Progress) -> None:
        """Report how pairs are verified, and options for the signed features if these are others."""
        features, steps = (str(file.about.parameters[name]) for name in ("features", "normalise"))
        other = ""
        if (str(self.shingle), str(self.normalise)) != (features, steps):
            other = f". The signatures were made from other features. To verify by the same: --shingle {features}"
            other += "" if ";" in steps else f" --normalise {steps}"
        progress.say(f"verify: {self.in_words()}{other}")


class TooManyShingles(Exception):
    """Documents have more shingles than the memory allows; ``mean`` is the number of a document."""

    def __init__(self, mean: float) -> None:
        super().__init__(mean)
        self.mean = mean


@dataclass(frozen=True, slots=True)
class SignatureVerifier:
    """Shingle sets: that of a row is ``hashes[starts[row]:ends[row]]``, empty for rows not requested."""

    verification: Verification
    hashes: U64
    starts: I64
    ends: I64

    @classmethod
    def read(
        cls,
        file: SignatureFile,
        rows: U32,
        verification: Verification,
        resources: Resources,
        meter: Meter,
        max_shingles: int | None = None,
    ) -> SignatureVerifier:
        """Read the signed documents again, and keep the shingles of these rows."""
        about = file.about
        again = reread(
            about.inputs, about.encoding, about.reading, in_memory=file.in_memory, threads=resources.n_threads,
            progress=meter.progress,
        )  # fmt: skip

        def shingles(item: tuple[I64, pa.RecordBatch, str]) -> tuple[I64, ShingleSets]:
            chosen, batch, name = item
            return chosen, verification.shingle.sets(prepare(batch, verification.normalise, source_name=name)["text"])

        hashes: list[U64] = [np.zeros(0, np.uint64)]
        starts, ends = np.zeros((2, len(file.documents)), np.int64)
        at = n_read = 0
        with meter.stage("read again", again.size_bytes, "bytes") as progress:
            batches = again.batches(progress, rows.astype(np.int64))
            for chosen, sets in map_ordered(shingles, batches, threads=resources.n_threads):
                starts[chosen], ends[chosen] = sets.offsets[:-1] + at, sets.offsets[1:] + at
                hashes.append(sets.hashes)
                at, n_read = at + len(sets.hashes), n_read + len(chosen)
                if max_shingles is not None and n_read and at * len(rows) > max_shingles * n_read:
                    raise TooManyShingles(at / n_read)
        return cls(verification, np.concatenate(hashes), starts, ends)

    @classmethod
    def joined(cls, first: SignatureVerifier, second: SignatureVerifier) -> SignatureVerifier:
        """Join the documents of both; those of the second are numbered after the first."""
        n = len(first.hashes)
        return cls(
            first.verification,
            np.concatenate([first.hashes, second.hashes]),
            np.concatenate([first.starts, second.starts + n]),
            np.concatenate([first.ends, second.ends + n]),
        )

    def verify(self, left: U32, right: U32) -> tuple[Matches, Bool]:
        """Return the pairs of rows whose exact similarity reaches the threshold, and their places."""
        matches = verify(Candidates(left, right), self.hashes, self.starts, self.ends)
        good = self.verification.measure.similarity(matches) >= self.verification.threshold
        return matches.where(good), good
