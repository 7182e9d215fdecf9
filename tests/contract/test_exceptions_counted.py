"""Exceptions counted once, and alike by ``add``, ``exceptions`` and ``info``: compared with a count by hand."""

from __future__ import annotations

import random
from itertools import count

from example_counts import examples
from extracted_documents import Row, add_extracted, origin, unread

BLANKS = ("", " \n", "\n" * 200, "\u00a0\u3000")


def test_exceptions_are_those_counted_by_hand(place) -> None:
    """Texts, blank texts, parts, blank parts, files without a text and null texts come and go under the same ids."""
    chance, numbers = random.Random(7), count()
    with place.open() as collection:
        collection.add([("sure", "A text.")], wave="0")
        texts, files, nulls = dict[str, str](), set[str](), dict[str, int]()
        for wave in range(examples(40)):
            rows: list[Row] = [("sure", "A text.", None, None)]
            n_no_text = n_partial = 0
            for doc_id in chance.sample("abcdef", chance.randrange(1, 6)):
                number = next(numbers)
                has_file = doc_id in "abcd"  # the others are records
                own = {"sha256": f"{number:064x}", "size_bytes": number, "kind": "pdf"}
                state = chance.choice(["text", "blank", "part", "blank part", "none"])
                text = chance.choice(BLANKS) if "blank" in state else f"Words of the text {number}."
                if state == "none":
                    rows.append((doc_id, None, unread("a", **own) if has_file else None, None))
                    files |= {doc_id} if has_file else set()
                    nulls |= {} if has_file else {doc_id: wave}
                else:
                    lack = {"exception": "damaged", "sentence": "cut", "is_partial": True} if "part" in state else {}
                    rows.append((doc_id, text, origin("a", **own, **lack) if has_file else None, None))
                    texts[doc_id] = state if has_file or "part" not in state else state.replace("part", "").strip()
                    files.discard(doc_id)
                n_no_text += state in ("none", "blank", "blank part")
                n_partial += state == "part" and has_file
            added = add_extracted(collection, rows, wave=str(wave), source=f"table {wave}")
            assert added.n_exceptions == n_no_text + n_partial
            without = files | {one for one, state in texts.items() if "blank" in state}
            # a record that failed is solved by a text that a later load stored
            without |= {
                one for one, at in nulls.items() if one not in texts or int(collection.document(one).wave) <= at
            }
            partly = {one for one, state in texts.items() if state == "part"} - files
            found = collection.exceptions()
            assert {one.doc_id for one in found.exceptions if not one.is_partial} == without
            assert {one.doc_id for one in found.exceptions if one.is_partial} == partly
            assert (found.n_no_text, found.n_partial) == (len(without), len(partly))
            assert (collection.info().n_no_text, collection.info().n_partial) == (len(without), len(partly))
