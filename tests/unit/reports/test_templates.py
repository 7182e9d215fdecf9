"""Every page template is well formed, whether or not a test renders all of its branches."""

from __future__ import annotations

from pathlib import Path

import jinja2
import pytest

from nearkin.reports.pages import report_environment

PACKAGE = Path(__file__).parents[3] / "src/nearkin"
TEMPLATES = sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.j2"))


def test_there_are_templates() -> None:
    assert len(TEMPLATES) > 10


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_is_well_formed(name: str) -> None:
    text = (PACKAGE / name).read_text(encoding="utf-8")
    jinja2.Environment(autoescape=True).parse(text)


def test_a_template_is_compiled_once_for_all_environments() -> None:
    one, other = (report_environment().get_template("dedup.html.j2").root_render_func for _ in range(2))
    assert one is not other
    assert one.__code__ is other.__code__
