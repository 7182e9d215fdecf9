"""Every page template is well formed, whether or not a test renders all of its branches."""

from __future__ import annotations

from pathlib import Path

import jinja2
import pytest

PACKAGE = Path(__file__).parents[3] / "src/nearkin"
TEMPLATES = sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.j2"))


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_is_well_formed(name: str) -> None:
    text = (PACKAGE / name).read_text(encoding="utf-8")
    jinja2.Environment(autoescape=True).parse(text)
