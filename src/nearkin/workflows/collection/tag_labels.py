"""Tags of a collection → pairs of ids and labels."""

from __future__ import annotations

from sqlalchemy import select

from nearkin.collection.collection import Collection
from nearkin.collection.decisions.tags import tags_as_labels
from nearkin.errors import ParameterError
from nearkin.store.schema import documents
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
            everything = connection.execute(select(documents.c.doc_id).where(documents.c.is_current)).scalars()
            pairs += [(doc_id, f"not {field}") for doc_id in everything if doc_id not in values]
    return LabelsRead(tuple(pairs), 0, "", field)
