"""Result of a check, restored from the JSON that another process sent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nearkin.collection.check_in.results import Checked, CheckedDocument, CheckOptions
from nearkin.collection.results import StoredDocument
from nearkin.planning.part_recall import PartRecall
from nearkin.stages.differences.comparison import Piece

_DOCUMENT = tuple(StoredDocument.__dataclass_fields__)
_MEASURES = tuple(name for name in CheckedDocument.__dataclass_fields__ if name != "document")
_SAME = (
    "verdict", "n_found", "expected_recall", "n_candidates", "n_compared", "n_hot_keys", "is_answered",
    "similarity_index", "stored_as", "version", "is_resent", "is_purged", "elapsed_s", "missing",
    "n_differences", "n_moves",
)  # fmt: skip


def checked_of(answer: Mapping[str, Any], options: CheckOptions) -> Checked:
    """Return the result whose `Checked.to_dict` is the answer.

    Raises
    ------
    KeyError
        Something is missing: the answer is that of another version.

    Examples
    --------
    >>> import tempfile
    >>> from nearkin.collection.collection import Collection
    >>> lease = "The tenant shall pay the rent of 900 crowns on the first day of each month to the landlord."
    >>> with tempfile.TemporaryDirectory() as folder, Collection.open(f"{folder}/m", create=True) as collection:
    ...     added = collection.add([("a", lease)])
    ...     found = collection.check(f"{lease} Signed by Ada Kern.")
    >>> checked_of(found.to_dict(), found.options).to_dict() == found.to_dict()
    True
    """
    parts = answer.get("expected_recall_of_parts")
    return Checked(
        documents=tuple(
            CheckedDocument(document=_document(one), **{name: one[name] for name in _MEASURES})
            for one in answer["documents"]
        ),
        passage=tuple(Piece(one["kind"], one["text"]) for one in answer["passage"]),
        options=options,
        not_checked=tuple(answer["not_checked"]),
        expected_recall_of_parts=None if parts is None else PartRecall(**parts),
        **{name: answer[name] for name in _SAME},
    )


def _document(one: Mapping[str, Any]) -> StoredDocument:
    return StoredDocument(**{name: one[name] for name in _DOCUMENT})
