"""Load files in a folder, and the files that they name, which are not separate documents."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import BinaryIO, cast

from nearkin.nouns import counted, first_of
from nearkin.stages.documents.faults import StreamFault
from nearkin.stages.documents.foreign import is_image_list
from nearkin.stages.documents.head import head_of_stream
from nearkin.stages.documents.load_files.columns import columns_of
from nearkin.stages.documents.load_files.records import names_in
from nearkin.stages.documents.load_files.text_folder import RefusedPathError, TextFolder, folded_file_name
from nearkin.stages.documents.readers.load_file import LoadFile
from nearkin.stages.documents.source import Note, NotRead
from nearkin.stages.documents.streams import ByteStream

_SUFFIXES = (".dat", ".csv")
_IMAGE_SUFFIXES = (".opt", ".lfp", ".log")
_FIRST_BYTES = 1 << 14
_MAX_NAME = 1_024
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class ListedFiles:
    """The files of a folder, without those that belong to load files.

    Parameters
    ----------
    load_files : tuple of str
    others : tuple of str
        Neither load files nor named by one.
    notes : tuple of Note
    """

    load_files: tuple[str, ...]
    others: tuple[str, ...]
    notes: tuple[Note, ...]


def listed_files(folder: str, paths: Sequence[str], *, takes_textless: bool = False) -> ListedFiles:
    """Separate load files, the texts and originals that they name, and lists of images from other files.

    Load files without a column of texts are skipped, or with ``takes_textless`` are other files.
    """
    images = image_lists(paths)
    found = [path for path in paths if path.lower().endswith(_SUFFIXES) and is_load_file(path)]
    loads = tuple(path for path in found if _has_texts(path))
    textless = [path for path in found if path not in loads and not takes_textless]
    without = {*images, *textless}
    rest = [path for path in paths if path not in without]
    notes = list[Note](said_of_image_lists(folder, images))
    if textless:
        what = counted(len(textless), "load file without a column of texts", "load files without a column of texts")
        notes.append(
            NotRead(
                place=folder, reason="load files without a column of texts", paths=tuple(textless),
                sentence=f"{folder}: skipped {what}: {_names(folder, textless)}",
            )
        )  # fmt: skip
    if loads:
        named = {key for path in loads for key in _named_by(path, folder)}
        own = {*loads}
        kept = [one for one in rest if one not in own and _key(os.path.relpath(one, folder).split(os.sep)) not in named]
        n_named = len(rest) - len(loads) - len(kept)
        if n_named:
            belong = counted(n_named, "file belongs", "files belong")
            again = "is not read again as a file" if n_named == 1 else "are not read again as files"
            notes.append(f"{folder}: {belong} to records of {_names(folder, loads)}, and {again}")
        rest = kept
    return ListedFiles(loads, tuple(one for one in rest if one not in loads), tuple(notes))


def is_load_file(path: str) -> bool:
    """Whether a file has the header of a load file."""
    try:
        with open(path, "rb", buffering=0) as raw:
            head = head_of_stream(ByteStream(cast(BinaryIO, raw), "none"))
    except (OSError, StreamFault):
        return False  # reported when it is read
    return LoadFile().settled(head, None) == "load-file"


def _has_texts(path: str) -> bool:
    """Whether a load file has a column of texts, or of their paths."""
    with open(path, "rb", buffering=0) as raw:
        names = names_in(head_of_stream(ByteStream(cast(BinaryIO, raw), "none")).data)
    known = columns_of(names)
    return known.path is not None or known.text is not None


def image_lists(paths: Sequence[str]) -> list[str]:
    """Return the files that list images: Opticon and LFP."""
    return [path for path in paths if path.lower().endswith(_IMAGE_SUFFIXES) and _is_image_list(path)]


def said_of_image_lists(place: str, paths: Sequence[str]) -> Iterator[NotRead]:
    """Yield the skipped lists of images, if any."""
    if paths:
        what = counted(len(paths), "list of images (Opticon or LFP)", "lists of images (Opticon or LFP)")
        sentence = f"{place}: skipped {what}, which hold no text: {_names(place, paths)}"
        yield NotRead(
            place=place, reason="lists of images (Opticon or LFP)", paths=tuple(sorted(paths)), sentence=sentence
        )


def _is_image_list(path: str) -> bool:
    if not os.path.isfile(path):  # reading a pipe would block
        return False
    with suppress(OSError), open(path, "rb") as file:
        return is_image_list(file.read(_FIRST_BYTES))
    return False


def _named_by(path: str, folder: str) -> Iterator[str]:
    """Yield a key of each file in a folder that a load file names as a text or an original."""
    from nearkin.stages.documents.load_files.reading import paths_in

    beside = os.path.dirname(os.path.abspath(path))
    texts, from_folder = TextFolder(folder, beside), os.path.relpath(beside, os.path.abspath(folder))
    above = [] if from_folder == os.curdir else from_folder.split(os.sep)
    with open(path, "rb", buffering=0) as raw, suppress(StreamFault):
        stream = ByteStream(cast(BinaryIO, raw), "none")
        dialect = LoadFile().dialect(head_of_stream(stream))
        for named in () if dialect is None else paths_in(stream, dialect):
            if named.strip() and len(named) <= _MAX_NAME:
                with suppress(RefusedPathError):
                    parts = texts.parts(named)
                    yield _key(parts)
                    yield _key([*above, *parts])


def _key(parts: Sequence[str]) -> str:
    return "/".join(map(folded_file_name, parts))


def _names(folder: str, paths: Sequence[str]) -> str:
    names = [os.path.relpath(path, folder) if os.path.isdir(folder) else path for path in paths[:_SHOWN]]
    return first_of(names, _SHOWN, len(paths))
