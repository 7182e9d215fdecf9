from __future__ import annotations

import pytest

from nearkin.manifests.dedup import DedupManifest
from nearkin.reports.families import FamilyCard, MemberCard, render_families_report
from nearkin.stages.differences.relating import DifferenceInContext, Stretch

MANIFEST = {
    "nearkin": "0.1", "command": "families",
    "parameters": {"threshold": 0.6, "measure": "jaccard", "shingle": "words:3"},
    "counts": {"documents": 9}, "families": {"families": 3, "documents": 7, "relations": {"revised": 4}},
}  # fmt: skip


def page(principal: str, member: str, *, n_cut: int = 0) -> str:
    one = DifferenceInContext(
        before="rent of ",
        principal=Stretch(principal, n_cut),
        member=Stretch(member),
        after=" crowns",
        is_after_cut=True,
        line_principal=3,
        line_member=4,
    )
    row = MemberCard(
        doc_id="b",
        where="in.csv:2",
        similarity=0.9,
        containment_in_principal=0.95,
        containment_of_principal=0.94,
        relation="revised",
        filled_in="",
        n_differences=7,
        n_words_only_in_principal=1,
        n_words_only_in_member=1,
        n_particulars=2,
        is_whole=True,
        differences=(one,),
    )
    card = FamilyCard(number=1, size=4, principal="a", where="in.csv:1", relations={"revised": 3}, members=(row,))
    manifest, rules = DedupManifest.of(MANIFEST), {"revised": "the rest"}
    return render_families_report(manifest, cards=[card], rules=rules, problems=[], n_problems=0)


@pytest.mark.parametrize(
    ("principal", "member", "expected"),
    [
        ("100", "250", "rent of <del>100</del> <ins>250</ins> crowns …"),
        ("", "250", "rent of <ins>250</ins> crowns …"),
        ("100", "", "rent of <del>100</del> crowns …"),
        ("100 and 20 old", "100 and 30 old", "rent of 100 and <del>20</del> <ins>30</ins> old crowns …"),
        ("<b>1</b>", "\u202e2", "rent of <del>&lt;b&gt;1&lt;/b&gt;</del> <ins>⟨U+202E⟩2</ins> crowns …"),
        (
            "10 and what else there may be", "all that is due and more",
            "rent of <del>10 and what else there may be</del> <ins>all that is due and more</ins> crowns …",
        ),
    ],
)  # fmt: skip
def test_differences_are_marked(principal: str, member: str, expected: str) -> None:
    html = page(principal, member)
    for unseen in ("[only in A: ", "[only in B: ", "]"):
        html = html.replace(f'<span class="unseen">{unseen}</span>', "")
    assert expected in html


@pytest.mark.parametrize(
    ("n_principal", "n_member", "n_particulars", "told"),
    [
        (0, 0, 0, ""),
        (3, 3, 6, "3 words only in the principal, 3 only here; all of these 6 words are names, numbers or dates"),
        (3, 3, 4, "3 words only in the principal, 3 only here; 4 of these 6 words are names, numbers or dates"),
        (1, 2, 1, "1 word only in the principal, 2 only here; 1 of these 3 words is a name, a number or a date"),
        (1, 2, 0, "1 word only in the principal, 2 only here; none of these 3 words is a name, a number or a date"),
        (1, 0, 0, "1 word only in the principal, 0 only here; this word is not a name, a number or a date"),
        (0, 1, 1, "0 words only in the principal, 1 only here; this word is a name, a number or a date"),
    ],
)
def test_the_words_of_the_differences_are_counted(
    n_principal: int, n_member: int, n_particulars: int, told: str
) -> None:
    card = MemberCard(
        doc_id="b", where="in.csv:2", similarity=0.9, containment_in_principal=0.95, containment_of_principal=0.94,
        relation="revised", filled_in="", n_differences=2, n_words_only_in_principal=n_principal,
        n_words_only_in_member=n_member, n_particulars=n_particulars, is_whole=True,
    )  # fmt: skip
    assert card.words_told == told
