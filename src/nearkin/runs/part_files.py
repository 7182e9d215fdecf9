"""Files of numbered parts: each task writes the files of one part, others map them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from nearkin.runs.arrays import save_array, saved_array
from nearkin.runs.batches import batch_reader, batch_writer


@dataclass(frozen=True, slots=True)
class PartFiles:
    """A directory with some files for each part; only its path is pickled for a task.

    Parameters
    ----------
    folder : Path
        Directory that every executor can access.

    Examples
    --------
    >>> PartFiles(Path("chunks")).place(7, "-words.npy").name
    '000000007-words.npy'
    """

    folder: Path

    def place(self, part: int, suffix: str) -> Path:
        """Return the path of a part's file."""
        return self.folder / f"{part:09d}{suffix}"

    def save(self, part: int, suffix: str, array: np.ndarray) -> None:
        """Write an array of a part."""
        save_array(self.place(part, suffix), array)

    def array(self, part: int, suffix: str) -> np.ndarray:
        """Map an array of a part."""
        return saved_array(self.place(part, suffix))

    def save_table(self, part: int, suffix: str, table: pa.Table) -> None:
        """Write a table of a part; the file appears only when it is complete."""
        with batch_writer(self.place(part, suffix), table.schema) as writer:
            writer.write_table(table)

    def table(self, part: int, suffix: str) -> pa.Table:
        """Map a table of a part."""
        return batch_reader(self.place(part, suffix)).read_all()
