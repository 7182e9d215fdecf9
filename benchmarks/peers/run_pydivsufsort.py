"""Repeats of at least so many bytes, by a suffix array and its longest common prefixes; bytes as they are.

A repeat that crosses the end of a document is cut there: texts are joined by a byte that they do not have.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from pydivsufsort import divsufsort, kasai


def main() -> None:
    """Run and hand over."""
    folder, out, spans, n_bytes = Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4])
    texts = [text.encode() for file in sorted(folder.glob("*.parquet"))
             for text in pq.read_table(file, columns=["text"])["text"].to_pylist()]  # fmt: skip
    starts = np.cumsum([0, *(len(text) + 1 for text in texts)])
    data = np.frombuffer(bytearray(b"\xff".join([*texts, b""])), np.uint8)
    suffixes = divsufsort(data)
    common = kasai(data, suffixes)
    ends = starts[1:][np.searchsorted(starts, suffixes, side="right") - 1] - 1  # of the document of each suffix
    here = np.minimum(common, ends - suffixes)[:-1]
    there = np.minimum(common[:-1], (ends - suffixes)[1:])
    reach = np.zeros(len(data) + 1, np.int64)
    for places, lengths in ((suffixes[:-1], here), (suffixes[1:], there)):
        is_long = lengths >= n_bytes
        np.add.at(reach, places[is_long], 1)
        np.add.at(reach, places[is_long] + lengths[is_long], -1)
    is_repeated = np.cumsum(reach)[:-1] > 0
    theirs = np.zeros(len(data) + 1, np.int64)
    for row, parts in json.loads(spans.read_text()).items():
        for start, end in parts:
            theirs[starts[int(row)] + start] += 1
            theirs[starts[int(row)] + end] -= 1
    is_passage = np.cumsum(theirs)[:-1] > 0
    out.write_text(json.dumps({
        "bytes": len(data), "of_suffix_array": int(is_repeated.sum()), "of_nearkin": int(is_passage.sum()),
        "of_both": int((is_repeated & is_passage).sum()),
    }))  # fmt: skip


if __name__ == "__main__":
    main()
