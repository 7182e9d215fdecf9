"""Labels of a group, against their definition."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from nearkin.collection.conflicts.search import Entry, LabelledGroup
from nearkin.collection.results import StoredDocument

LABELLED = st.lists(st.tuples(st.integers(0, 5), st.sampled_from("abcd")), min_size=2, max_size=20)


def entry(row: int, content: int, label: str) -> Entry:
    document = StoredDocument(
        doc_id=f"d{row}", version=1, wave="w", source="s", line=1, n_characters=9, n_letters=9, is_counted=True,
        is_current=True, content=content,
    )  # fmt: skip
    return Entry(document, row, label)


@given(LABELLED.filter(lambda some: len({label for _, label in some}) > 1))
def test_the_others_are_those_with_another_label(labelled):
    entries = [entry(row, content, label) for row, (content, label) in enumerate(labelled)]
    group = LabelledGroup(entries)
    for odd in group.odd:
        others = [one for one in entries if one.label != odd.label]
        majority = {one.document.content for one in entries if one.label == group.majority_label}
        of_majority, of_any = (some.tolist() for some in group.others(odd.label))
        assert of_majority == sorted(majority)
        assert of_any == sorted({one.document.content for one in others})
        for content in of_any:
            own = [one for one in others if one.document.content == content]
            expected = next((one for one in own if one.label == group.majority_label), own[0])
            assert group.first_with_another_label(odd.label, content) is expected
