"""All operations of the API; a new one is entered here."""

from __future__ import annotations

from nearkin.web.api import documents, observing, reviewing
from nearkin.web.api.operation import Operation

OPERATIONS: tuple[Operation, ...] = (*documents.OPERATIONS, *reviewing.OPERATIONS, *observing.OPERATIONS)
