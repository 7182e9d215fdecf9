"""How fast compressed files are unpacked by Nearkin and by `pyarrow.input_stream`; see docs/decisions/0028.

python benchmarks/decompression.py
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import time
from collections.abc import Callable

import pyarrow as pa

from nearkin.formats import zstd
from nearkin.stages.documents.streams import ByteStream

PIECE_BYTES = 1 << 20
PACKING: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress, "zstd": zstd.compress, "bzip2": bz2.compress, "xz": lzma.compress,
}  # fmt: skip


def prose(n_lines: int) -> bytes:
    drawn = random.Random(1)
    words = [bytes(drawn.choices(b"abcdefghijklmnopqrstuvwxyz", k=drawn.randint(2, 9))) for _ in range(5000)]
    return b"".join(b" ".join(drawn.choices(words, k=200)) + b"\n" for _ in range(n_lines))


def by_nearkin(packed: bytes, compression: str) -> int:
    stream, room, n_bytes = ByteStream(io.BytesIO(packed), compression), memoryview(bytearray(PIECE_BYTES)), 0
    while n_read := stream.read_into(room):
        n_bytes += n_read
    return n_bytes


def by_arrow(packed: bytes, compression: str) -> int:
    name, n_bytes = {"bzip2": "bz2"}.get(compression, compression), 0
    with pa.input_stream(pa.BufferReader(packed), compression=name) as stream:
        while piece := stream.read(PIECE_BYTES):
            n_bytes += len(piece)
    return n_bytes


def main() -> None:
    text = prose(20_000)
    for compression, pack in PACKING.items():
        packed, rates = pack(text), []
        for unpack in (by_nearkin, by_arrow):
            try:
                taken = []
                for _ in range(3):
                    start = time.perf_counter()
                    n_bytes = unpack(packed, compression)
                    taken.append(time.perf_counter() - start)
                if n_bytes != len(text):
                    raise SystemExit(f"{compression}: {n_bytes:,} bytes of {len(text):,}")
                rates.append(f"{len(text) / min(taken) / (1 << 20):,.0f} MiB/s")
            except ValueError as error:
                rates.append(str(error))
        print(f"{compression}: Nearkin {rates[0]}, Arrow {rates[1]}")


if __name__ == "__main__":
    main()
