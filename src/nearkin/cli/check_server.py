"""``nearkin check --server``: the file goes to a service that has the collection open."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nearkin.collection.check_in.results import Checked, CheckedDocument, CheckOptions
from nearkin.collection.results import StoredDocument
from nearkin.errors import CollectionError, ParameterError, SourceError
from nearkin.paths import why
from nearkin.planning.part_recall import PartRecall
from nearkin.stages.differences.comparison import Piece
from nearkin.store.environment import service_token
from nearkin.web.client import checked_by, read_token

if TYPE_CHECKING:
    from nearkin.options.check import CheckCommand


def check_by_server(job: CheckCommand, server: str, options: CheckOptions) -> Checked:
    """Let a service check a file."""
    token = service_token() if job.token_file is None else read_token(job.token_file)
    if not token:
        raise ParameterError("--server needs the token of the service: --token-file, or the variable NEARKIN_TOKEN.")
    name = os.fsencode(job.checked_file).decode("utf-8", "replace")
    storing = {"store": True, "id": job.doc_id or name, "wave": job.wave, "only_new": job.only_new}
    query = {
        "threshold": options.threshold,
        "containment": options.containment,
        "parts": options.containment is not None,
        "measure": options.measure,
        "tolerance": options.tolerance,
        "limit": options.limit,
        "name": name,
        "encoding": job.encoding,
        **(storing if job.store else {}),
    }
    answer = checked_by(server, token, _content(job.checked_file), query)
    try:
        return checked_of(answer, options)
    except (KeyError, TypeError) as error:
        raise CollectionError(f"The service at {server} runs another version of Nearkin than this command.") from error


def _content(file: Path) -> bytes:
    from nearkin.stages.documents.head import standard_input

    try:
        return standard_input(None).read() if str(file) == "-" else file.read_bytes()
    except OSError as error:
        raise SourceError(f"{file}: {why(error)}.") from error


_DOCUMENT = tuple(StoredDocument.__dataclass_fields__)
_MEASURES = tuple(name for name in CheckedDocument.__dataclass_fields__ if name != "document")
_SAME = (
    "verdict", "n_found", "expected_recall", "n_candidates", "n_compared", "n_hot_keys", "is_answered",
    "similarity_index", "stored_as", "version", "is_resent", "is_purged", "elapsed_s", "missing",
    "n_differences", "n_moves",
)  # fmt: skip


def checked_of(answer: Mapping[str, Any], options: CheckOptions) -> Checked:
    """Return the result whose `Checked.to_dict` is the answer.

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
