"""Queries by words with more candidates than are compared, and the order of versions."""

from __future__ import annotations

import nearkin
from made_up_prose import Prose
from nearkin.collection import similar
from nearkin.reports.facts.comparing import versions_facts
from nearkin.reports.facts.queries import similar_facts


def test_the_nearest_are_compared_and_the_others_counted(tmp_path, monkeypatch):
    prose = Prose(5)
    text = prose.text(120)
    documents = [(f"far-{i}", prose.altered(text, 4)) for i in range(12)]
    documents += [("near", prose.altered(text, 1)), ("same", text), ("other", prose.text(120))]
    with nearkin.Collection.open(tmp_path / "m", create=True) as collection:
        collection.add(documents)
        whole = collection.similar("same", threshold=0.5)
        assert (whole.n_found, whole.n_not_compared, whole.is_truncated) == (13, 0, False)
        monkeypatch.setattr(similar, "MAX_COMPARED", 5)
        found, versions = collection.similar("same", threshold=0.5), collection.versions("same")
    assert (found.n_not_compared, found.is_truncated, found.to_dict()["n_not_compared"]) == (9, True, 9)
    assert found.documents[0].document.doc_id == "near"
    assert 1 < found.n_found < 6
    assert versions.to_dict()["n_not_compared"] == 9
    for facts in (similar_facts(found), versions_facts(versions)):
        assert ("texts not compared", 9) in [(one.label, one.value) for one in facts]
