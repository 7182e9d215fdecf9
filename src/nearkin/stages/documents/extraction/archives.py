"""ZIP and tar archives: each file in them is a document; nothing is unpacked onto the disk."""

from __future__ import annotations

import stat
import tarfile
import zipfile
from collections.abc import Iterator
from functools import partial

from nearkin.nouns import counted
from nearkin.stages.documents.extraction.limits import ExtractionLimits, raised_by
from nearkin.stages.documents.extraction.reading import (
    ARCHIVE_FAULTS,
    Blob,
    DocumentRead,
    Given,
    Member,
    first_line,
    gathered,
    safe_name,
    too_big,
)
from nearkin.stages.documents.faults import RecordFault

_PIECE_BYTES = 1 << 20
_END_OF_TAR = bytes(2 * tarfile.BLOCKSIZE)
_FREE_TOTAL_BYTES = 64 << 20
_ENCRYPTED, _UTF8 = 1, 1 << 11
_ATTRIBUTES_OF_UNIX = 3
_OF_THE_SYSTEM = "__MACOSX/"
"""Folder that macOS adds to archives, for attributes of the files: it holds no documents."""
_NO_FILE = "a link or a device in an archive, which is not followed"


def read_zip(given: Given) -> DocumentRead:
    """Return a ZIP archive; its files come in the order of its directory."""
    return DocumentRead(members=partial(_files_of_zip, given))


def _files_of_zip(given: Given) -> Iterator[Member]:
    try:
        archive = given.blob.archive
    except NotImplementedError as error:
        raise RecordFault("unsupported", f"the ZIP archive cannot be read: {error}") from error
    except ARCHIVE_FAULTS as error:
        raise RecordFault("damaged", f"the ZIP archive is damaged: {first_line(error)}") from error
    n_unpacked, most = 0, _FREE_TOTAL_BYTES + 2 * given.blob.size * given.limits.ratio
    for entry in archive.infolist():
        name = _zip_name(entry)
        if entry.is_dir() or name.startswith(_OF_THE_SYSTEM):
            continue
        member = Member.of(safe_name(name) or None, partial(_file_of_zip, archive, entry, given.limits))
        yield member
        n_unpacked += entry.file_size if member.blob is None else member.blob.size
        if n_unpacked > most:  # its entries share their bytes
            sentence = f"it unpacks to more than the limit of {counted(most, 'byte')}; the rest was not read"
            raise RecordFault("too large", f"{sentence}{raised_by('ratio')}")


def _file_of_zip(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, limits: ExtractionLimits) -> Blob:
    if entry.flag_bits & _ENCRYPTED:
        raise RecordFault("encrypted", "encrypted in its ZIP archive")
    if entry.create_system == _ATTRIBUTES_OF_UNIX and stat.S_ISLNK(entry.external_attr >> 16):
        raise RecordFault("unsupported", _NO_FILE)
    try:
        with archive.open(entry) as file:
            return gathered(file.read, entry.compress_size, limits)
    except (NotImplementedError, RuntimeError) as error:
        raise RecordFault("unsupported", f"it cannot be unpacked: {error}") from error
    except ARCHIVE_FAULTS as error:
        raise RecordFault("damaged", f"damaged in its ZIP archive: {first_line(error)}") from error


def _zip_name(entry: zipfile.ZipInfo) -> str:
    if entry.flag_bits & _UTF8:
        return entry.filename
    try:
        return entry.filename.encode("cp437").decode("utf-8")
    except UnicodeError:
        return entry.filename


def read_tar(given: Given) -> DocumentRead:
    """Return a tar archive, read from beginning to end."""
    return DocumentRead(members=partial(_files_of_tar, given))


def _files_of_tar(given: Given) -> Iterator[Member]:
    with given.blob.opened() as raw:
        try:
            with tarfile.open(fileobj=raw, mode="r:", errors="surrogateescape") as archive:
                while (entry := archive.next()) is not None:
                    archive.members.clear()  # type: ignore[attr-defined]  # the list of all would grow with the archive
                    if not entry.isdir():
                        name = safe_name(entry.name) or None
                        yield Member.of(name, partial(_file_of_tar, archive, entry, given.limits))
                raw.seek(archive.offset)
        except (tarfile.TarError, *ARCHIVE_FAULTS) as error:
            raise RecordFault("damaged", f"the tar archive is damaged: {first_line(error)}") from error
        if raw.read(len(_END_OF_TAR)) != _END_OF_TAR:  # tarfile takes a damaged header for the end
            sentence = f"the tar archive is damaged or truncated at byte {archive.offset:,}: files may be missing"
            raise RecordFault("damaged", sentence)
        while piece := raw.read(_PIECE_BYTES):
            if piece.strip(b"\0"):
                raise RecordFault("damaged", "the tar archive ends before its file: what follows was not read")


def _file_of_tar(archive: tarfile.TarFile, entry: tarfile.TarInfo, limits: ExtractionLimits) -> Blob:
    if not entry.isfile():
        raise RecordFault("unsupported", _NO_FILE)
    if entry.size > limits.total:
        raise RecordFault("too large", too_big(entry.size, limits.total))
    with archive.extractfile(entry) as file:  # type: ignore[union-attr]  # it is a file
        blob = gathered(file.read, entry.size, limits)
    if blob.size < entry.size:
        raise EOFError("truncated")
    return blob
