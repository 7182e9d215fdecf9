"""The model of the planner at the parameters of the article."""

from __future__ import annotations

import pytest

from labs.planner import article_band, published_points, published_question, tradeoff


def test_the_text_of_the_article():
    """At 35, 40, 50 and 100 % of the cost; by the article's own way of counting it the model stays somewhat below."""
    for _, effectiveness, as_article, as_here in published_points():
        assert as_here.effectiveness == pytest.approx(effectiveness, abs=0.02)
        assert effectiveness - 0.08 < as_article.effectiveness < effectiveness


def test_the_points_of_a_tradeoff():
    points = tradeoff(published_question(), 1000, 400, permutations=(100, 200, 400), windows=(200, 1000))
    assert [(point.search.window, point.search.permutations) for point in points] == [
        (200, 100), (200, 200), (200, 400), (1000, 100), (1000, 200), (1000, 400)
    ]  # fmt: skip
    for few, many in ((0, 1), (1, 2), (3, 4), (4, 5), (0, 3)):
        assert points[few].prediction.recall < points[many].prediction.recall < points[0].bound
        assert points[few].article_cost < points[many].article_cost
    low, high = article_band(published_question(), points[-1].search)
    assert low < points[-1].prediction.recall < high + 0.1
