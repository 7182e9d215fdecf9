"""ZIP and tar archives: each file in them is a document; nothing is unpacked onto the disk."""

from __future__ import annotations

import stat
import tarfile
import zipfile
from collections.abc import Iterator
from functools import partial

from nearkin.stages.documents.extraction.reading import Blob, Given, Member, gathered, safe_name
from nearkin.stages.documents.rules import ExtractionLimits, RecordFault

_PIECE_BYTES = 1 << 20
_END_OF_TAR = bytes(2 * tarfile.BLOCKSIZE)
_FREE_TOTAL_BYTES = 64 << 20
_ENCRYPTED, _UTF8 = 1, 1 << 11
_ATTRIBUTES_OF_UNIX = 3
_OF_THE_SYSTEM = "__MACOSX/"
"""Folder that macOS adds to archives, for attributes of the files: it holds no documents."""
_NO_FILE = "a link or a device in an archive, which is not followed"


def files_of_zip(given: Given) -> Iterator[Member]:
    """Yield the files of a ZIP archive in the order of its directory."""
    archive = given.blob.archive
    n_unpacked, most = 0, _FREE_TOTAL_BYTES + 2 * given.blob.size * given.limits.ratio
    for entry in archive.infolist():
        name = _zip_name(entry)
        if entry.is_dir() or name.startswith(_OF_THE_SYSTEM):
            continue
        member = Member.of(safe_name(name) or None, partial(_file_of_zip, archive, entry, given.limits), given.limits)
        yield member
        n_unpacked += entry.file_size if member.blob is None else member.blob.size
        if n_unpacked > most:  # its entries share their bytes
            raise given.limits.exceeded("ratio")


def _file_of_zip(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, limits: ExtractionLimits) -> Blob:
    if entry.flag_bits & _ENCRYPTED:
        raise RecordFault("encrypted", "encrypted in its ZIP archive")
    if entry.create_system == _ATTRIBUTES_OF_UNIX and stat.S_ISLNK(entry.external_attr >> 16):
        raise RecordFault("unsupported", _NO_FILE)
    with archive.open(entry) as file:
        return gathered(file.read, entry.compress_size, limits)


def _zip_name(entry: zipfile.ZipInfo) -> str:
    if entry.flag_bits & _UTF8:
        return entry.filename
    try:
        return entry.filename.encode("cp437").decode("utf-8")
    except UnicodeError:
        return entry.filename


def files_of_tar(given: Given) -> Iterator[Member]:
    """Yield the files of a tar archive, read from beginning to end."""
    with given.blob.opened() as raw:
        with tarfile.open(fileobj=raw, mode="r:", errors="surrogateescape") as archive:
            while (entry := archive.next()) is not None:
                archive.members.clear()  # type: ignore[attr-defined]  # the list of all would grow with the archive
                if not entry.isdir():
                    read = partial(_file_of_tar, archive, entry, given.limits)
                    yield Member.of(safe_name(entry.name) or None, read, given.limits)
            raw.seek(archive.offset)
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
        raise limits.exceeded("total")
    with archive.extractfile(entry) as file:  # type: ignore[union-attr]  # it is a file
        blob = gathered(file.read, entry.size, limits)
    if blob.size < entry.size:
        raise EOFError("truncated")
    return blob
