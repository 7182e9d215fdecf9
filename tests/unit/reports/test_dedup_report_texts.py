"""What ids and texts of documents do on the page: nothing but be shown."""

from __future__ import annotations

import pytest

from dedup_pages import MANIFEST, Page, render
from nearkin.reports.dedup import GroupRow, MemberRow, SamplePair
from nearkin.reports.pages import problems_table


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        '"><img src=x onerror=alert(1)>',
        "' onload='x",
        "</style></title>",
        "{{ 7*7 }}",
        "&lt;b&gt;",
    ],
)
def test_what_documents_say_is_never_markup(hostile: str) -> None:
    manifest = MANIFEST | {
        "command": hostile,
        "nearkin": hostile,
        "fingerprint": hostile,
        "parameters": {
            hostile: hostile,
            "keep": f"max:{hostile}",
            "measure": hostile,
            "shingle": hostile,
            "threshold": 0.8,
        },
        "inputs": [{"path": hostile, "sha256": hostile, "format": hostile, "text": hostile, "id": hostile}],
        "problems": {hostile: 1},
    }
    text = render(
        manifest,
        largest_groups=[
            GroupRow(
                group=hostile,
                size=2,
                lowest_similarity=0.9,
                n_bridges_refused=0,
                n_exact_copies=0,
                members=(MemberRow(doc_id=hostile, where=hostile, similarity=0.9, reason=hostile),),
            )
        ],
        samples=[
            SamplePair(
                id_a=hostile,
                id_b=hostile,
                source_a=hostile,
                source_b=hostile,
                similarity=0.9,
                measure=hostile,
                text_a=f"{hostile} a",
                text_b=f"{hostile} b",
            )
        ],
        problems=problems_table([(hostile, hostile, hostile)], 1),
    )
    harmless = Page(render(problems=problems_table([("x", "x", "x")], 1)))
    page = Page(text)

    assert set(page.tags) <= set(harmless.tags)
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    assert hostile in page.words
