"""Changed documents whose text has almost nothing in common with the one before: perhaps other documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlalchemy import Connection, select

from nearkin.store.bulk import in_slices
from nearkin.store.schema import contents

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
