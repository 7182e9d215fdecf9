"""The results as an HTML page without scripts or external files."""

from __future__ import annotations

from labs.collections.experiment import QUESTIONS, CollectionsResults
from labs.collections.pairs import SETTINGS
from labs.page import Drawn, LabPage, places

HEADINGS = {
    "pairs": "Every pair, compared without any search",
    "versions": "Versions of drawn documents",
    "groups": "Pairs of documents in one group",
    "conflicts": "Planted wrong labels",
}


def draw(results: CollectionsResults) -> tuple[Drawn, ...]:
    """Draw nothing: the results are tables."""
    return ()


def _values(results: CollectionsResults) -> dict[str, object]:
    return {
        "plan": results.plan,
        "documents": results.documents,
        "sections": [
            (name, HEADINGS[name], list(zip(SETTINGS, results.outcomes[name], strict=True))) for name in QUESTIONS
        ],
        "default": next(one for one, setting in zip(results.outcomes["groups"], SETTINGS) if setting.value == 0.5),
    }


PAGE = LabPage("labs.collections", draw, _values, {"thousandths": places(3)})
