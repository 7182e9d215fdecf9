"""Memory of texts that were read, kept for the next ones."""

from functools import cache

_KEPT_BYTES = 16 << 20


@cache  # it stays so; a second piece of this size would come from memory that is kept, and be filled with zeros
def keep_memory() -> None:
    """Let glibc keep memory that texts have left.

    Else it gives it back, and gets each page of it again by a page fault, which takes a fifth of the time of a short
    file. Once a large piece has been freed, it keeps twice as much (mallopt(3), M_MMAP_THRESHOLD).
    """
    bytes(_KEPT_BYTES)  # not a bytearray, which would be filled with zeros, page by page
