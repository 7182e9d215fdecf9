"""Tags of a collection → pairs of ids and labels."""

from __future__ import annotations

from nearkin.collection.collection import Collection
from nearkin.collection.decisions.tags import tags_as_labels
from nearkin.collection.stored.document_rows import contents_of_current
from nearkin.errors import ParameterError
from nearkin.workflows.collection.labels import LabelsRead


def labels_of_tag(collection: Collection, field: str) -> LabelsRead:
    """Return the values of a tag as labels, as if they had been read from a file.

    The label of a bare tag is its name; if the tag is always bare, every other current document has the label
    "not FIELD".

    Raises
    ------
    ParameterError
        No current document has the tag.
    """
    with collection.opened.store.reading() as connection:
        values = dict(tags_as_labels(connection, field))
        if not values:
            raise ParameterError(f"No document has the tag {field!r}. List the tags: nearkin tags COLLECTION")
        pairs = [(doc_id, value or field) for doc_id, value in values.items()]
        if not any(values.values()):
            pairs += [(doc_id, f"not {field}") for doc_id in contents_of_current(connection) if doc_id not in values]
    return LabelsRead(tuple(pairs), 0, "", field)
