"""Stages are kept in files: in which form they stand there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nearkin.engines.spark.blocks import Blocks, Kept, as_batch
from nearkin.engines.spark.layout import MAX_BLOCK_BYTES, Block, Layout
from nearkin.engines.spark.stages import Stages
from nearkin.errors import EngineError
from nearkin.runs.progress import Meter, Silent

NUMBERS = Layout("numbers", (("number", "<u8"),))
N_BLOCKS = 200


def many_blocks(target: int, blocks: Sequence[Block]) -> Iterator[Block]:
    yield from NUMBERS.packed(target, np.arange(N_BLOCKS * MAX_BLOCK_BYTES // 8, dtype=np.uint64))


def test_large_blocks_are_kept_in_small_groups_of_rows(tmp_path: Path, spark) -> None:
    """Java holds a whole group when it writes, and up to 4,096 rows of it when it reads."""
    stages = Stages(spark, tmp_path, Meter(Silent()))
    found = stages.kept("many", lambda: stages.parts(1, many_blocks))
    [path] = (tmp_path / "many").glob("*.parquet")
    groups = pq.read_metadata(path)
    assert groups.num_rows == N_BLOCKS
    assert max(groups.row_group(i).total_byte_size for i in range(groups.num_row_groups)) < 16 << 20
    (numbers,) = NUMBERS.joined(found.collected())
    assert (np.sort(numbers) == np.arange(N_BLOCKS * MAX_BLOCK_BYTES // 8)).all()


def test_a_bit_that_changed_in_what_is_kept_is_noticed(tmp_path: Path) -> None:
    """The driver reads the files of a stage without Java, and verifies the checksums of their pages."""
    blocks = [Block("a stream", 0, bytes(range(256)) * 40), Block("another", 1, b"x" * 100)]
    path = tmp_path / "part-0.parquet"
    pq.write_table(pa.Table.from_batches([as_batch(blocks)]), path, compression="none", write_page_checksum=True)
    kept = Blocks(None, kept=(Kept(tmp_path),))  # type: ignore[arg-type]  # what is kept takes no frame
    assert [(one.stream, bytes(one.data)) for one in kept.collected()] == [(one.stream, one.data) for one in blocks]
    changed = bytearray(path.read_bytes())
    changed[changed.index(bytes(range(256))) + 7] ^= 16
    path.write_bytes(changed)
    with pytest.raises(EngineError, match=r"checksum .* Run the command again with --overwrite"):
        kept.collected()
