"""Files of both sides as they are before a search reads them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from nearkin.manifests.pairs import SIDES
from nearkin.runs.directory import RunDirectory
from nearkin.runs.meter import Meter
from nearkin.workflows.reading.input_digests import DescribedInputs, InputSide, compares_bytes, digest_of_reading
from nearkin.workflows.reading.snapshots import Snapshots, snapshots_of
from nearkin.workflows.reading.texts import Texts
from nearkin.workflows.resources import Resources


@dataclass(frozen=True, slots=True)
class PairSources:
    """Files of both sides.

    Parameters
    ----------
    sides : mapping of str to InputSide
        By "left" and "right".
    before : tuple of Snapshots
        State of the files of each side before they were read.
    """

    sides: dict[str, InputSide]
    before: tuple[Snapshots, ...]

    @classmethod
    def of(cls, sides: Iterable[Texts]) -> PairSources:
        """Record the files of both sides as they are now."""
        given: dict[str, InputSide] = {
            name: InputSide(f"--{name}", texts.sources, texts.encoding) for name, texts in zip(SIDES, sides)
        }
        return cls(given, tuple(snapshots_of(side.sources, side.encoding) for side in given.values()))

    def in_words(self) -> dict[str, dict[str, str]]:
        """Return the state of each file, by side and path, for the identity of a run."""
        return {
            name: {
                one.source.path: f"{one.source.size_bytes} bytes, {one.source.text}, {one.changed_ns or one.sha256}"
                + ("" if one.text_files is None else f", {one.text_files}")
                for one in snapshots
            }
            for name, snapshots in zip(self.sides, self.before)
        }

    def are_bytes_known(self, directory: RunDirectory) -> bool:
        """Whether the interrupted run in a directory left digests with which all files can be compared."""
        return compares_bytes(self.sides, self._read_as(), directory)

    def described(self, directory: RunDirectory, resources: Resources, meter: Meter) -> DescribedInputs:
        """Compute the digests of all files, and compare them with those of an interrupted run.

        Raises
        ------
        ResumeError, RunError
            See `DescribedInputs.of`.
        """
        return DescribedInputs.of(self.sides, self._read_as(), directory, resources=resources, meter=meter)

    def _read_as(self) -> str:
        return digest_of_reading(
            (source, one.text_files)
            for side, snapshots in zip(self.sides.values(), self.before)
            for source, one in zip(side.sources, snapshots, strict=True)
        )
