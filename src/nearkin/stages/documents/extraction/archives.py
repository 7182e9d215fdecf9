"""ZIP and tar archives: each file in them is a document; nothing is unpacked onto the disk."""

from __future__ import annotations

import lzma
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from typing import IO, BinaryIO

from nearkin.nouns import counted, first_of
from nearkin.stages.documents.extraction import kinds
from nearkin.stages.documents.extraction.blobs import ARCHIVE_FAULTS, Blob
from nearkin.stages.documents.extraction.limits import raised_by
from nearkin.stages.documents.extraction.reading import (
    FREE_BYTES,
    Container,
    ExtractionError,
    Given,
    Member,
    bomb,
    safe_name,
    too_big,
)

_PIECE_BYTES = 1 << 20
_END_OF_TAR_BYTES = 2 * tarfile.BLOCKSIZE
_RECORDS = tuple(n * tarfile.BLOCKSIZE for n in (20, 40, 64, 100, 126, 128, 256, 512, 1024, 2048))
"""Sizes of records, to multiples of which programs pad an archive: the first is usual, the others are for tapes."""
_FREE_TOTAL_BYTES = 64 << 20
_SHOWN = 5
_ENCRYPTED, _UTF8 = 1, 1 << 11
_ATTRIBUTES_OF_UNIX = 3
_OF_THE_SYSTEM = "__MACOSX/"
"""Folder that macOS adds to archives, for attributes of the files."""
_FAULTS = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, struct.error, ValueError, IndexError, KeyError,
)  # fmt: skip


class _Archive(Container):
    """Base class of archives."""

    name = kinds.ARCHIVE

    def __init__(self, given: Given) -> None:
        super().__init__(given)
        self._limits = given.limits
        self._n_unpacked = 0

    def _read(self, file: IO[bytes], packed_bytes: int) -> bytes:
        """Return the content of a member; ExtractionError if it is too big or a bomb."""
        most = self._limits["output_bytes"]
        by_ratio = max(FREE_BYTES, packed_bytes * self._limits["compression_ratio"])
        pieces, size = [], 0
        while piece := file.read(_PIECE_BYTES):
            size += len(piece)
            self._n_unpacked += len(piece)
            if size > by_ratio:
                raise bomb(by_ratio, packed_bytes)
            if size > most:
                sentence = f"too big to be extracted: more than the limit of {counted(most, 'byte')}{raised_by('size')}"
                raise ExtractionError("too large", sentence)
            pieces.append(piece)
        return b"".join(pieces)


class ZipArchive(_Archive):
    """A ZIP archive, read in the order of its directory."""

    def members(self) -> Iterator[Member]:
        """Yield the files."""
        try:
            archive = self._given.blob.archive
        except NotImplementedError as error:
            raise ExtractionError("unsupported", f"the ZIP archive cannot be read: {error}") from error
        except ARCHIVE_FAULTS as error:
            raise ExtractionError("damaged", f"the ZIP archive is damaged: {_why(error)}") from error
        most = _FREE_TOTAL_BYTES + 2 * self._given.blob.size * self._limits["compression_ratio"]
        n_of_system, bombs = 0, list[str]()
        for entry in archive.infolist():
            name = _zip_name(entry)
            if entry.is_dir() or name.startswith(_OF_THE_SYSTEM):
                n_of_system += not entry.is_dir()
                continue
            member = self._member(archive, entry, safe_name(name) or None)
            if is_bomb := _is_bomb(member):
                bombs.append(safe_name(name))
            if not is_bomb or len(bombs) == 1:
                yield member
            if self._n_unpacked > most:  # its entries share their bytes
                yield from _summarised(bombs[1:], n_of_system)
                sentence = f"it unpacks to more than the limit of {counted(most, 'byte')}; the rest was not read"
                raise ExtractionError("too large", f"{sentence}{raised_by('ratio')}")
        yield from _summarised(bombs[1:], n_of_system)

    def _member(self, archive: zipfile.ZipFile, entry: zipfile.ZipInfo, name: str | None) -> Member:
        if entry.flag_bits & _ENCRYPTED:
            return Member(name=name, exception="encrypted", sentence="encrypted in its ZIP archive")
        if entry.create_system == _ATTRIBUTES_OF_UNIX and stat.S_ISLNK(entry.external_attr >> 16):
            return Member(name=name, exception="unsupported", sentence="a link in an archive, which is not followed")
        try:
            with archive.open(entry) as file:
                return Member(name=name, blob=Blob(self._read(file, entry.compress_size)))
        except ExtractionError as error:
            return Member(name=name, exception=error.exception, sentence=error.sentence)
        except (NotImplementedError, RuntimeError) as error:
            return Member(name=name, exception="unsupported", sentence=f"it cannot be unpacked: {error}")
        except _FAULTS as error:
            return Member(name=name, exception="damaged", sentence=f"damaged in its ZIP archive: {_why(error)}")


def _is_bomb(member: Member) -> bool:
    """Whether a member was refused for the ratio of its sizes."""
    return member.sentence is not None and member.sentence.endswith(raised_by("ratio"))


def _summarised(bombs: Sequence[str], n_of_system: int) -> Iterator[Member]:
    """Yield one member for all bombs but the first, and one for what macOS adds: a bomb costs few rows."""
    if bombs:
        n = counted(len(bombs), "more file")
        names = first_of([repr(name) for name in bombs], _SHOWN)
        yield Member(name=None, exception="too large", sentence=f"{n} in it, refused for the same reason: {names}")
    if n_of_system:
        n = counted(n_of_system, "file")
        sentence = f"{n} in which macOS keeps attributes of the others; not read"
        yield Member(name=_OF_THE_SYSTEM.rstrip("/"), exception="unsupported", sentence=sentence)


class TarArchive(_Archive):
    """A tar archive, read from beginning to end."""

    def members(self) -> Iterator[Member]:
        """Yield the files."""
        with self._given.blob.opened() as raw:
            try:
                with tarfile.open(fileobj=raw, mode="r:", errors="surrogateescape") as archive:
                    while (entry := archive.next()) is not None:
                        archive.members.clear()  # type: ignore[attr-defined]  # the list of all would grow with the archive
                        if not entry.isdir():
                            yield self._member(archive, entry)
                    _check_end(raw, archive.offset)
            except (tarfile.TarError, *_FAULTS) as error:
                raise ExtractionError("damaged", f"the tar archive is damaged: {_why(error)}") from error

    def _member(self, archive: tarfile.TarFile, entry: tarfile.TarInfo) -> Member:
        name = safe_name(entry.name) or None
        if entry.issym() or entry.islnk():
            return Member(name=name, exception="unsupported", sentence="a link in an archive, which is not followed")
        if not entry.isfile():
            return Member(name=name, exception="unsupported", sentence="a device in an archive, which is not read")
        most = self._limits["output_bytes"]
        if entry.size > most:
            return Member(name=name, exception="too large", sentence=too_big(entry.size, most))
        file = archive.extractfile(entry)
        data = b"" if file is None else file.read(entry.size)
        if len(data) < entry.size:
            raise ExtractionError("damaged", "the tar archive is truncated")
        return Member(name=name, blob=Blob(data))


def _check_end(raw: BinaryIO, offset: int) -> None:
    """Check that a tar archive is complete: `tarfile` takes a damaged header for the end of the archive."""
    raw.seek(offset)
    block = raw.read(tarfile.BLOCKSIZE)
    if len(block) < tarfile.BLOCKSIZE:
        raise ExtractionError("damaged", "the tar archive is truncated: it has no end mark; files may be missing")
    if block.strip(b"\0"):
        raise ExtractionError("damaged", f"the tar archive is damaged at byte {offset:,}: further files are not found")
    n_zeros = len(block)
    while piece := raw.read(_PIECE_BYTES):
        if rest := piece.lstrip(b"\0"):
            at = offset + n_zeros + len(piece) - len(rest)
            sentence = f"the tar archive ends before byte {at:,}, and the file does not: what follows was not read"
            raise ExtractionError("damaged", sentence)
        n_zeros += len(piece)
    if n_zeros < _END_OF_TAR_BYTES:
        raise ExtractionError("damaged", "the tar archive is truncated in its end mark; files may be missing")
    record = max((one for one in _RECORDS if (offset + n_zeros) % one == 0), default=0)
    if n_zeros > _END_OF_TAR_BYTES + record:
        sentence = f"the tar archive ends with {counted(n_zeros, 'zero byte')}, as after an interrupted download"
        raise ExtractionError("damaged", f"{sentence}; files may be missing")


def _zip_name(entry: zipfile.ZipInfo) -> str:
    """Return the name of an entry; many programs write UTF-8 without saying so."""
    if entry.flag_bits & _UTF8:
        return entry.filename
    try:
        return entry.filename.encode("cp437").decode("utf-8")
    except UnicodeError:
        return entry.filename


def _why(error: Exception) -> str:
    """Return what went wrong in one line."""
    return (str(error) or type(error).__name__).splitlines()[0][:200]
