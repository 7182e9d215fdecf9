"""Modules that read the table of documents: a new one compares rows with their checksums, or says here why not."""

from __future__ import annotations

import re
from pathlib import Path

import nearkin

PACKAGE = Path(nearkin.__file__).parent
READS = re.compile(r"\bdocuments\.c\b|\bschema\.documents\b|\bFROM documents\b")
COMPARES = re.compile(r"\b(document_rows|current_documents|with_documents|refuse_changed_documents)\b")
WITHOUT = {
    "conditions of queries for rows that are compared": (
        "collection/listing/conditions.py", "collection/listing/family.py", "collection/check_in/shared_keys.py",
    ),
    "called after all rows were compared": (
        "collection/decisions/for_groups.py", "collection/groups/changes.py",
        "collection/groups/returned_principals.py", "collection/stored/group_state.py",
    ),
    "compares, repairs or sets aside the rows itself": (
        "collection/loads/loading.py", "collection/stored/newest.py", "collection/stored/removed_rows.py",
        "store/integrity.py", "store/sealing.py",
    ),
    "reads what its own transaction wrote": ("collection/check_in/storing.py",),
    "counts rows, or finds the last one": (
        "collection/groups/listed.py", "collection/listing/problems.py", "collection/stored/group_history.py",
        "web/current_info.py", "web/mail_threads.py",
    ),
    "names documents in a report of damage": (
        "collection/stored/contents.py", "collection/stored/purged.py", "collection/stored_texts.py",
    ),
    "its callers compare the rows that it finds": ("collection/stored/inside.py",),
    "names the table only": ("store/checksums.py", "store/schema.py", "store/seals.py", "store/store.py"),
}  # fmt: skip


def test_every_reader_of_documents_compares_rows_or_is_known() -> None:
    texts = {str(path.relative_to(PACKAGE)): path.read_text() for path in PACKAGE.rglob("*.py")}
    readers = {name for name, text in texts.items() if READS.search(text)}
    known = {name for names in WITHOUT.values() for name in names}
    without = {name for name in readers if not COMPARES.search(texts[name])}
    assert without <= known, sorted(without - known)
    assert known <= readers, sorted(known - readers)
