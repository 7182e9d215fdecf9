"""Files of others are what was recorded, and have their licences beside them."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

STATIC = Path(__file__).parents[3] / "src/nearkin/web/static"
TEMPLATES = STATIC.parent / "templates"


def test_vendored_files_are_those_recorded() -> None:
    recorded = json.loads((STATIC / "vendored.json").read_text("utf-8"))
    assert {path.name for path in STATIC.glob("*.min.js")} == set(recorded)
    for name, facts in recorded.items():
        assert hashlib.sha256((STATIC / name).read_bytes()).hexdigest() == facts["sha256"]
        assert f'version="{facts["version"]}"' in (STATIC / name).read_text("utf-8")
        assert (STATIC / f"{name.partition('.')[0]}.LICENSE.txt").read_text("utf-8").startswith("Zero-Clause BSD")


def test_templates_have_no_inline_script_style_or_handler() -> None:
    """The policy of the pages would refuse them."""
    for path in TEMPLATES.glob("*.j2"):
        if path.name.endswith(".css.j2"):
            continue
        text = path.read_text("utf-8")
        assert not re.search(r"<style|\bstyle=|\bon\w+=|hx-on|javascript:|<script(?! defer src=)", text), path.name
        assert "|safe" not in text, path.name


def test_own_scripts_make_no_html_and_no_code() -> None:
    for name in ("review.js", "keys.js"):
        text = (STATIC / name).read_text("utf-8")
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|Function\(|fetch\(", text
        )
