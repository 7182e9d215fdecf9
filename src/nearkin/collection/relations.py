"""Relations of stored texts to a principal, or to the member before in time, by the rules of ``nearkin families``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby

import msgspec
import numpy as np
from sqlalchemy import Connection, select

from nearkin.collection.counting import NORMALISE
from nearkin.collection.opened import OpenedCollection
from nearkin.collection.stored.contents import texts_of
from nearkin.collection.stored.word_sets import in_lots, lengths_of, some_at_a_time
from nearkin.formats import zstd
from nearkin.kernels.buffers import strings
from nearkin.records import U64
from nearkin.stages.differences.one_sided import MAX_CHARACTERS
from nearkin.stages.differences.particulars import Original
from nearkin.stages.differences.relations import COPY, N_SHOWN, RULES_NUMBER, MemberComparison, compare
from nearkin.stages.features.shingles import Words
from nearkin.store.bulk import in_slices, insert_rows, n_rows
from nearkin.store.schema import relations
from nearkin.store.store import Store

RELATION_SHINGLES = Words(3)


@dataclass(frozen=True, slots=True)
class RelatedText:
    """A text compared with its principal; a containment is the share of the word 3-grams of one that the other has."""

    comparison: MemberComparison
    containment_in_principal: float
    containment_of_principal: float


def relate(
    principal: str, texts: Sequence[str], *, n_shown: int = 0, with_one_sided: bool = False
) -> list[RelatedText]:
    """Compare texts with a principal; equal texts are compared once."""
    distinct = list(dict.fromkeys(texts))
    normalised = NORMALISE.apply(strings([principal, *distinct]))
    sets = RELATION_SHINGLES.sets(normalised)
    hashes, *others = (sets.hashes[a:b] for a, b in zip(sets.offsets[:-1], sets.offsets[1:]))
    prepared = normalised.to_pylist()
    original, related = Original(principal), dict[str, RelatedText]()
    for text, as_compared, other in zip(distinct, prepared[1:], others, strict=True):
        if as_compared == prepared[0]:
            related[text] = RelatedText(COPY, 1.0, 1.0)
            continue
        inside, holding = _containments(hashes, other)
        comparison = compare(
            original,
            Original(text),
            n_shown=n_shown,
            with_one_sided=with_one_sided,
        )
        related[text] = RelatedText(comparison, inside, holding)
    return [related[text] for text in texts]


def _containments(principal: U64, member: U64) -> tuple[float, float]:
    n_both = len(np.intersect1d(principal, member, assume_unique=True))
    return n_both / max(1, len(member)), n_both / max(1, len(principal))


Pair = tuple[int, int]
"""Contents of a principal and of a member."""
_METHOD = "relations"
FINGERPRINT = f"5;rules={RULES_NUMBER:08x};{RELATION_SHINGLES.fingerprint};{NORMALISE.fingerprint};shown={N_SHOWN}"
"""Name of what is stored; raise its number when comparisons change and the rules do not."""
_PAIRS_AT_A_TIME = 512
_WAITING_S = 0.1
"""What can be computed again is not worth waiting for another writer."""


def relations_of(
    collection: OpenedCollection, pairs: Sequence[Pair], *, max_new: int | None = None
) -> Iterator[tuple[Pair, RelatedText]]:
    """Yield the relation of each member to its principal; those that are not stored yet are computed and stored.

    Opened read-only, or while another process writes, they are only computed.

    At most 512 are stored at a time, so that other writers have their turn.

    Parameters
    ----------
    pairs : sequence of (int, int)
        Contents of a principal and of a member, those of one principal one after another.
    """
    left = len(pairs) if max_new is None else max_new
    is_read_only = collection.store.access.is_read_only
    for lot in _lots(collection, pairs):
        with collection.store.reading() as connection:
            related = _stored(connection, collection.store, lot)
            new = [pair for pair in dict.fromkeys(lot) if pair not in related][:left]
            missing = _computed(connection, new)
        left -= len(missing)
        if missing and not is_read_only:
            collection.stores("some relations of texts", partial(_write, collection.store, missing))
        related |= missing
        for pair in lot:
            if pair in related:
                yield pair, related[pair]


def _lots(collection: OpenedCollection, pairs: Sequence[Pair]) -> Iterator[Sequence[Pair]]:
    with collection.store.reading() as connection:
        lengths = lengths_of(connection, (content for pair in pairs for content in pair))
    sizes = ((pair, sum(min(lengths.get(content, 0), MAX_CHARACTERS) for content in pair)) for pair in pairs)
    return in_lots(sizes, at_most=_PAIRS_AT_A_TIME)


def n_not_stored(connection: Connection, store: Store, pairs: Sequence[Pair]) -> int:
    """Return how many of some distinct pairs have no stored relation."""
    if not _are_right(connection, store):
        return len(pairs)
    missing, keys = set(pairs), select(relations.c.principal, relations.c.content)
    for block in in_slices(sorted({principal for principal, _ in pairs})):
        rows = connection.execute(keys.where(relations.c.principal.in_(block)))
        missing -= {(row.principal, row.content) for row in rows}
    return len(missing)


def _stored(connection: Connection, store: Store, pairs: Sequence[Pair]) -> dict[Pair, RelatedText]:
    by_pair = dict[Pair, RelatedText]()
    if not _are_right(connection, store):
        return by_pair
    wanted, is_asked = set(pairs), relations.c.principal.in_({principal for principal, _ in pairs})
    for row in connection.execute(select(relations).where(is_asked)):
        pair = row.principal, row.content
        if pair in wanted and (related := _unpacked(row.comparison)) is not None:
            by_pair[pair] = related
    return by_pair


def _computed(connection: Connection, pairs: Sequence[Pair]) -> dict[Pair, RelatedText]:
    by_pair = dict[Pair, RelatedText]()
    for principal, of_one in groupby(pairs, key=lambda pair: pair[0]):
        text = texts_of(connection, [principal])[principal]
        for block in some_at_a_time(connection, [content for _, content in of_one]):
            texts = texts_of(connection, block)
            others = [texts[content] for content in block]
            related = relate(text, others, n_shown=N_SHOWN, with_one_sided=True)
            by_pair |= {(principal, content): relation for content, relation in zip(block, related, strict=True)}
    return by_pair


def _write(store: Store, related: Mapping[Pair, RelatedText]) -> None:
    """Store relations over those of another process."""
    with store.writing(at_most_s=_WAITING_S) as connection:
        if not _are_right(connection, store):
            connection.execute(relations.delete())
            store.write_facts(connection, {_METHOD: FINGERPRINT})
        for principal, of_one in groupby(sorted(related), key=lambda pair: pair[0]):
            for block in in_slices([content for _, content in of_one]):
                is_one = (relations.c.principal == principal) & relations.c.content.in_(block)
                connection.execute(relations.delete().where(is_one))
        rows = [(*pair, _packed(relation)) for pair, relation in related.items()]
        insert_rows(connection, relations, list(zip(*rows, strict=True)))


def forget(connection: Connection) -> None:
    """Remove all relations, in a write transaction: nothing of an erased text stays."""
    connection.execute(relations.delete())


def n_stored(connection: Connection, store: Store) -> int:
    """Return the number of stored relations."""
    return n_rows(connection, relations) if _are_right(connection, store) else 0


def _are_right(connection: Connection, store: Store) -> bool:
    return store.fact(connection, _METHOD) == FINGERPRINT


def _packed(related: RelatedText) -> bytes:
    return zstd.compress(msgspec.json.encode(related), options={zstd.CompressionParameter.checksum_flag: 1})


def _unpacked(blob: bytes) -> RelatedText | None:
    try:
        related = msgspec.json.decode(zstd.decompress(blob), type=RelatedText)
    except (zstd.ZstdError, msgspec.DecodeError, ValueError):
        return None
    # the page knows exact copies of the principal by this object
    return replace(related, comparison=COPY) if related.comparison == COPY else related
