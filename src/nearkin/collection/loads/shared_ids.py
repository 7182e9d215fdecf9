r"""Ids that several documents of a load have although they are different documents.

A given id that repeats names the same document again. An id that is made of the place of a document can be that of
another document, too: the file ``a.zip!x.txt`` and the member ``x.txt`` of ``a.zip``; two files whose names differ in a
byte that is not UTF-8; a row without an id in line 3 of ``f`` and a row with the id ``f:3``. So can an id with an
unpaired surrogate, which is written as the six characters of its escape, and an id with a byte that is not UTF-8, which
is written as ``\xff``, if another row has these characters, or other bytes that are written so: ``\xff\xff`` stands for
two bytes, or for one and four characters. Once both were seen, every later row with this id is taken for another
document: which of the two it repeats is not known.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from sqlalchemy import Connection, select

from nearkin.collection.loads.incoming import Examined, SeenIds
from nearkin.collection.stored.origins import OriginValues, of_plain_file, value_of
from nearkin.records import Bool
from nearkin.store.bulk import in_slices
from nearkin.store.schema import contents, documents

_ESCAPED = re.compile(r"\\ud[89a-f][0-9a-f]{2}")
"""An unpaired surrogate, or an id that has these characters."""


class SharedIds:
    """Ids made of places that were seen in a load, and the paths of files that share their name."""

    def __init__(self) -> None:
        self._made = SeenIds()
        self._from_bytes: SeenIds | None = None
        self._bytes = SeenIds()
        self._paths = dict[str, str]()
        self._skipped = dict[str, int]()

    def mark(self, examined: Examined, is_repeated: Bool) -> Bool:
        """Return which documents repeat an id that was made of the place of one of them, or that was escaped."""
        has_made, doc_ids = examined.has_made_id, examined.doc_ids
        if has_made is not None:
            self._made.mark([doc_ids[place] for place in np.flatnonzero(has_made)])
        if examined.escaped_ids or self._from_bytes is not None:
            self._made.mark(self._in_two_forms(examined, is_repeated))
        is_shared, places = np.zeros(len(doc_ids), np.bool_), np.flatnonzero(is_repeated)
        if not len(places):
            return is_shared
        repeated = [doc_ids[place] for place in places]
        is_escaped = np.array([_ESCAPED.search(doc_id) is not None for doc_id in repeated], np.bool_)
        is_shared[places] = self._made.has(repeated) | is_escaped
        return is_shared

    def _in_two_forms(self, examined: Examined, is_repeated: Bool) -> list[str]:
        """Return ids that stand for different bytes, or for bytes and for the characters by which these are written."""
        doc_ids, escaped = examined.doc_ids, examined.escaped_ids
        seen = self._from_bytes = self._from_bytes or SeenIds()
        digests = dict[str, list[str]]()
        for place, digest in escaped.items():
            digests.setdefault(doc_ids[place], []).append(digest)
        counts, repeated = Counter(doc_ids), Counter([doc_ids[place] for place in np.flatnonzero(is_repeated)])
        asked = [*repeated, *digests]
        were_bytes = {doc_id for doc_id, was in zip(asked, seen.has(asked), strict=True) if was}
        seen.mark(list(digests))
        came_as_text = {doc_id for doc_id, n in repeated.items() if n == counts[doc_id]} - were_bytes
        were_same = self._bytes.has(list(escaped.values()))
        has_others = {doc_ids[place] for place, was in zip(escaped, were_same, strict=True) if not was} & were_bytes
        self._bytes.mark(list(escaped.values()))
        both = [
            doc_id
            for doc_id, found in digests.items()
            if counts[doc_id] > len(found) or len(set(found)) > 1 or doc_id in came_as_text or doc_id in has_others
        ]
        return [*both, *(were_bytes - digests.keys())]

    def take(self, doc_id: str, path: str) -> None:
        """Note the path of a stored document, of which another file of the load has the name."""
        self._paths.setdefault(doc_id, path)

    def skip(self, doc_id: str, content: int) -> None:
        """Note the text of a document that is not stored again, because another wave replaced it since."""
        self._skipped.setdefault(doc_id, content)

    def skipped(self, doc_id: str) -> int | None:
        """Return the first text of a document that was not stored again, or None."""
        return self._skipped.get(doc_id)

    def problem(self, examined: Examined, place: int, other: tuple[str, int]) -> str:
        """Return the problem of a document whose id is that of a stored one at a place, ``other``."""
        path, doc_id = examined.places.get(place), examined.doc_ids[place]
        if path is None:
            return shared_id(other, (examined.sources[place], examined.lines[place]))
        return shared_name(doc_id, self._paths.get(doc_id), path)


def plain_file(examined: Examined, place: int) -> OriginValues | None:
    """Return kind, digest and size of the file of a document that is not stored; None if they are not known."""
    if (origin := examined.origins.get(place)) is not None:
        kind, sha256, size_bytes = (value_of(origin, name) for name in ("kind", "sha256", "size_bytes"))
        return None if kind is None or sha256 is None else of_plain_file(kind, sha256, size_bytes)
    file = examined.file_of(place)
    return None if file is None else of_plain_file(file.kind, file.sha256, file.size_bytes)


def place_of(connection: Connection, row: int) -> tuple[str, int]:
    """Return source and line of a stored document."""
    columns = documents.c
    source, line = connection.execute(select(columns.source, columns.line).where(columns.row == row)).one()
    return source, line


def shared_id(other: tuple[str, int], own: tuple[str, int]) -> str:
    """Return the problem of a document whose id is that of a document in another place.

    Examples
    --------
    >>> shared_id(("a.zip", 1), ("a.zip!x.txt", 1))
    'the id is also that of a.zip:1'
    """
    if other == own:
        return "the id is also that of another document at the same place, with another text"
    source, line = other
    return f"the id is also that of {source}:{line}"


def shared_name(doc_id: str, other: str | None, own: str) -> str:
    """Return the problem of a file whose name is that of another file of the load; ``other``: the path of that one.

    Examples
    --------
    >>> shared_name("mail/1.txt", "b/mail/1.txt", "c/mail/1.txt")
    'the id is also that of b/mail/1.txt, which has another text: in both folders the file has the name mail/1.txt'
    """
    if other is None:
        return "the id is also that of a file with the same name that was added before, and has another text"
    if other == own:
        return (
            "the id is also that of another file, which has another text: the two names differ only in bytes that are "
            f"not valid UTF-8, and both are written as {doc_id}"
        )
    return f"the id is also that of {other}, which has another text: in both folders the file has the name {doc_id}"


MIN_BITS = 112
"""Distance of two 256-bit signatures from which texts have almost nothing in common. Half of the bits of unrelated
texts differ, with a standard deviation of 8, so 98% of them have this distance; at a Jaccard similarity of 0.25, 2%."""


def unlike(connection: Connection, changed: Sequence[tuple[str, int, int]]) -> Iterator[str]:
    """Yield the ids of documents whose new text has almost nothing in common with the one before.

    Parameters
    ----------
    connection : Connection
    changed : sequence of (str, int, int)
        Id, content before and content now. Texts without a signature are not compared.
    """
    signatures = dict[int, int]()
    for some in in_slices(sorted({content for _, *both in changed for content in both})):
        query = select(contents.c.content, contents.c.signature).where(contents.c.content.in_(some))
        for content, signature in connection.execute(query):
            if signature is not None:
                signatures[content] = int.from_bytes(signature)
    for doc_id, before, now in changed:
        both = [signatures[content] for content in (before, now) if content in signatures]
        if len(both) == 2 and (both[0] ^ both[1]).bit_count() >= MIN_BITS:
            yield doc_id
