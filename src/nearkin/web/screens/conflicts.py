"""Conflicts: groups whose members have different tags, the most similar first, each with a proposed resolution."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import groupby

import pyarrow as pa

from nearkin.collection.conflicts.by_group import Conflict, Conflicts
from nearkin.collection.dates import DATE_TAG
from nearkin.collection.tolerance import ALL
from nearkin.errors import ParameterError
from nearkin.reports.facts.queries import unlabelled_facts
from nearkin.web.queries import GroupingQuery
from nearkin.web.screen import Screen
from nearkin.web.service import ReviewService, ScreenAnswer
from nearkin.workflows.collection.labels import LabelsRead, labels_of_tag
from nearkin.workflows.collection.tables import table_of_conflicts
from nearkin.workflows.resources import Resources

_MAX_SHOWN = 300


class ConflictsQuery(GroupingQuery, kw_only=True):
    """Field of the tags that may contradict one another; by default the field with the most documents."""

    field: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupConflict:
    """Contradicting tags of one group.

    Parameters
    ----------
    conflicts
        At least one; the most similar texts first.
    labels : tuple of (str, int)
        Labels and numbers of documents, that of most documents first.
    """

    conflicts: tuple[Conflict, ...]
    labels: tuple[tuple[str, int], ...]

    @property
    def worst(self) -> Conflict:
        """The most similar documents with different labels."""
        return self.conflicts[0]

    @property
    def odd_ids(self) -> list[str]:
        """Documents that do not have the majority's label."""
        return list(dict.fromkeys(one.a.doc_id for one in self.conflicts))

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON types."""
        return {
            "group": self.worst.group,
            "majority_label": self.worst.majority_label,
            "labels": [{"label": label, "n_documents": n} for label, n in self.labels],
            "odd_ids": self.odd_ids,
        }


def conflicts(service: ReviewService, asked: ConflictsQuery) -> ScreenAnswer:
    """List the groups with contradicting tags."""
    fields = tag_fields(service)
    field = asked.field or next(iter(fields), None)
    if field is None:
        return ScreenAnswer("conflicts.html.j2", {"found": None}, {})
    read = labels_of_tag(service.collection, field)
    found = _found(service, asked, read, _MAX_SHOWN)
    rows, is_sensitive = by_group(found), field.casefold() in service.sensitive
    values = {
        "field": field,
        "fields": fields if field in fields else [field, *fields],
        "found": found,
        "rows": rows,
        "facts": list(unlabelled_facts(found, tag=field)),
        "is_bare": read.is_bare,
        "is_sensitive": is_sensitive,
        "n_tagged": sum(label != f"not {field}" for _, label in read.pairs) if read.is_bare else found.n_labelled,
        "tag_of": lambda label: tag_of(field, label, is_bare=read.is_bare),
    }
    data = found.to_dict() | {"field": field, "is_sensitive": is_sensitive}
    data["groups"] = [one.to_dict() | ({"majority_label": None, "odd_ids": []} if is_sensitive else {}) for one in rows]
    return ScreenAnswer("conflicts.html.j2", values, data)


def conflicts_table(service: ReviewService, asked: ConflictsQuery) -> pa.Table:
    """Return a row for each document whose tag is not the majority's in its group."""
    field = asked.field or next(iter(tag_fields(service)), None)
    if field is None:
        raise ParameterError(
            "No document has a tag yet, dates aside: dates never conflict, because every version has its own."
        )
    return table_of_conflicts(_found(service, asked, labels_of_tag(service.collection, field), ALL), field)


def _found(service: ReviewService, asked: ConflictsQuery, read: LabelsRead, limit: int) -> Conflicts:
    tolerance = asked.tolerance
    given = {tolerance.parameter: tolerance.value}
    return service.collection.conflicts(
        read.pairs,
        measure=asked.measure,
        threads=Resources().n_threads,
        limit=limit,
        **given,
    )


def tag_fields(service: ReviewService) -> list[str]:
    """Return the fields of tags that are labels, the field with the most documents first."""
    n_documents = Counter[str]()
    for one in service.collection.tags().counts:
        n_documents[one.field] += one.n_documents
    return [field for field, n in n_documents.most_common() if n and field != DATE_TAG]


def by_group(found: Conflicts) -> list[GroupConflict]:
    """Gather conflicts by group; groups with the most similar contradicting texts come first.

    If there are more conflicts than were compared, the last group may lack some, and is omitted unless it is the only
    one.
    """

    def key(one: Conflict) -> tuple[int | None, int | None]:
        return one.group, None if one.group is not None else one.a.content

    rows = list[GroupConflict]()
    for _, own in groupby(found.conflicts, key):
        some = tuple(own)
        odd = Counter(one.label_a for one in some)
        majority = (some[0].majority_label, some[0].n_with_majority_label)
        rows.append(GroupConflict(conflicts=some, labels=(majority, *odd.most_common())))
    return rows[:-1] if found.n_found > len(found.conflicts) and len(rows) > 1 else rows


def tag_of(field: str, label: str, *, is_bare: bool) -> tuple[str, bool]:
    """Return the tag of a label, and whether to remove it instead of setting it.

    Examples
    --------
    >>> tag_of("responsive", "no", is_bare=False)
    ('responsive=no', False)
    >>> tag_of("privileged", "not privileged", is_bare=True)
    ('privileged', True)
    """
    if is_bare:
        return field, label != field
    return (field if label == field else f"{field}={label}"), False


SCREENS = (Screen("/conflicts", ConflictsQuery, conflicts, conflicts_table),)
