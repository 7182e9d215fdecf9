"""Remarks on decisions on two documents whose result may be unexpected."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import Connection, select

from nearkin.collection.decisions.activity import current_decisions
from nearkin.collection.decisions.records import NEVER_GROUP, SAME_GROUP, SettingChange
from nearkin.collection.stored.document_rows import current_contents_among_known
from nearkin.store.schema import decisions, members


def remarks(connection: Connection, wanted: SettingChange) -> Iterator[str]:
    """Yield what may be unexpected about a decision, from the stored groups."""
    if wanted.kind == NEVER_GROUP and wanted.now and not _share_a_group(connection, wanted.subject, wanted.other):
        yield (
            f"{wanted.subject} and {wanted.other} are in no stored group together. The decision keeps them apart "
            "in later groups."
        )
    if wanted.kind == SAME_GROUP:
        pair = wanted.subject, wanted.other
        is_of_pair = decisions.c.subject.in_(pair) | decisions.c.other.in_(pair)
        for (_, *apart), _, _ in list(current_decisions(connection, (decisions.c.kind == NEVER_GROUP) & is_of_pair)):
            for one, partner in (pair, pair[::-1]):
                if one in apart and partner not in apart:
                    third = apart[apart[0] == one]
                    if _share_a_group(connection, third, partner):
                        yield (
                            f"{one} must never be in a group with {third}, which is in one with {partner} now: "
                            f"{partner} leaves it."
                        )


def _share_a_group(connection: Connection, first: str, second: str) -> bool:
    """Whether two documents are in the same stored group, at any tolerance."""
    contents = current_contents_among_known(connection, (first, second))
    if len(contents) < 2:
        return False
    is_one = members.c.content.in_(contents.values())
    found = connection.execute(select(members.c.grouping, members.c.group_number, members.c.content).where(is_one))
    groups_of = dict[int, set[tuple[int, int]]]()
    for grouping, number, content in found:
        groups_of.setdefault(content, set()).add((grouping, number))
    one, other = (groups_of.get(content, set()) for content in contents.values())
    return bool(one & other)
