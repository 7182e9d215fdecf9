"""A small collection as this version stores it, and what it answers; ``golden.py`` says when to write a new folder.

In ``tests``: ``python -m golden.stored_collection schema-1`` writes a collection of today's schema.
"""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import nearkin
from extracted_documents import HEADERS, add_extracted, origin, unread
from golden.collection import DOCUMENTS, LEASE
from golden.letter_counts import MORE

WAVES = Path(__file__).parent / "collections"


def fill(collection: nearkin.Collection) -> None:
    """Three waves, a changed document, a removed one, a mail; tags and other decisions, of which one is undone."""
    collection.add([(f"d{i:02d}", text) for i, text in enumerate(DOCUMENTS)], wave="first")
    changed = LEASE.format(owner="Anna Berg", tenant="Carl Dorn", street="12 Mill Lane", rent="925")
    collection.add([("d00", changed), *((f"m{i}", text) for i, text in enumerate(MORE)), ("d01", "No")], wave="second")
    collection.tag(["d00", "d02"], "responsive", "yes", by="ada")
    collection.tag(["d02"], "responsive", "no", by="ada")
    collection.tag(["m1"], "privileged", by="bo")
    collection.decide(never_group=("d00", "d02"), by="ada")
    collection.decide(same_group=("d00", "m1"), by="ada")
    collection.decide(principal="d02", by="ada")
    collection.decide(note=("d00", "the signed copy is on paper"), by="bo")
    collection.undo(2, by="bo")
    collection.remove(["d06"])
    extracted = [
        ("7.eml", "Please sign the lease of the house in Mill Lane by the end of this week. Ada",
         origin("a", kind="eml", extractor="nearkin mail 1", family="7.eml", mail=HEADERS), None),
        ("7.eml!lease.doc", LEASE.format(owner="A", tenant="B", street="3 Mill Lane", rent="925"),
         origin("b", kind="rtf", declared_kind="doc", exception="partial", sentence="an image is lost",
                is_partial=True, warnings="no charset", extractor="xberg 1.3.9", family="7.eml", position=1), "7.eml"),
        ("7.eml!scan.pdf", None, unread("c", n_pages=2, family="7.eml", position=2), "7.eml"),
    ]  # fmt: skip
    add_extracted(collection, extracted, wave="third")


def answers(collection: nearkin.Collection) -> dict[str, Any]:
    """What several questions find, without what differs from one day to the next."""
    told: dict[str, Any] = {}
    for doc_id in ("d00", "d02", "d07", "d12", "m2"):
        for asked in ({"gamma": 0.3}, {"threshold": 0.4}):
            found = collection.similar(doc_id, **asked)
            told[f"{doc_id} by {found.tolerance}"] = [one.to_dict() for one in found.documents]
        told[f"{doc_id} by index"] = collection.similar(doc_id, measure="index").to_dict() | {"elapsed_s": ""}
    told["old"] = collection.text("d00", version=1)
    told["tags"] = [(one["doc_id"], one["field"], one["value"]) for one in collection.tags().documents.to_pylist()]
    told["log"] = [one.to_dict() | {"at": ""} for one in collection.log()]
    told["info"] = asdict(collection.info()) | {"place": "", "waves": "", "schema": "", "n_segments": ""}
    return json.loads(json.dumps(told))


if __name__ == "__main__":
    folder = WAVES / sys.argv[1]
    with nearkin.Collection.open(folder / "stored", create=True) as made:
        fill(made)
        (folder / "answers.json").write_text(json.dumps(answers(made), indent=1, ensure_ascii=False) + "\n", "utf-8")
    shutil.rmtree(folder / "stored" / "segments")
