"""Decompression of files such as mails.tar.gz, with a limit on the unpacked size."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Mapping
from typing import IO

from nearkin.nouns import counted
from nearkin.stages.documents.compression import StreamFault, compression_of, unpacked
from nearkin.stages.documents.extraction.blobs import Blob
from nearkin.stages.documents.extraction.limits import raised_by
from nearkin.stages.documents.extraction.reading import FREE_BYTES, ExtractionError, bomb, too_much_memory

_PIECE_BYTES = 1 << 18
_IN_MEMORY = 64 << 20


def unpacked_blob(blob: Blob, limits: Mapping[str, int]) -> Blob:
    """Return the unpacked bytes: up to 64 MiB in memory, and more in a nameless file.

    Raises
    ------
    ExtractionError
        The bytes are damaged, or there are too many.
    """
    by_ratio, total = max(FREE_BYTES, blob.size * limits["compression_ratio"]), limits["total_bytes"]
    size, most = 0, min(total, by_ratio)
    file: IO[bytes] | None = None
    pieces: list[bytes] = []
    with blob.opened() as raw:
        pull = unpacked(raw.read, compression_of(blob.head))
        try:
            while piece := pull(_PIECE_BYTES):
                size += len(piece)
                if size > most:
                    raise bomb(most, blob.size, "total" if total < by_ratio else "ratio")
                if file is None and size > _IN_MEMORY:
                    file = tempfile.TemporaryFile()  # noqa: SIM115  (the blob outlives this function)
                    file.writelines(pieces)
                    pieces = []
                if file is None:
                    pieces.append(piece)
                else:
                    file.write(piece)
        except StreamFault as fault:
            if isinstance(fault.__cause__, MemoryError):
                raise ExtractionError("too big", too_much_memory(limits["memory_bytes"])) from fault
            raise ExtractionError("corrupt", str(fault)) from fault
        except OSError as error:
            raise ExtractionError("too big", _too_big_for_disk(error, limits["disk_bytes"])) from error
    if file is None:
        return Blob(b"".join(pieces))
    file.flush()
    return Blob(descriptor=os.dup(file.fileno()))


def _too_big_for_disk(error: OSError, limit: int) -> str:
    """Return the reason why unpacked bytes could not be written: the limit on the size of files, or a full disk."""
    if error.errno == errno.EFBIG:
        return f"it unpacks to more than the limit of {counted(limit, 'byte')} on the disk{raised_by('disk')}"
    return f"it unpacks to more than fits into the temporary directory: {error.strerror}"
