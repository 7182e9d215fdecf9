"""Every link inside the repository leads somewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs.pages import LINK, anchors, blocks, name_of, pages, prose


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_links_lead_to_files_and_headings_that_exist(page: Path) -> None:
    for target in LINK.findall(prose(page)):
        if target.startswith(("http://", "https://", "mailto:")):
            continue
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        assert there.exists(), f"{name_of(page)} links to {target}: there is no such file"
        if anchor:
            assert anchor in anchors(there), f"{name_of(page)} links to {target}: there is no such heading"


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_fences_are_closed_and_say_what_is_in_them(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    n_fences = sum(line.startswith("```") for line in text.splitlines())
    assert n_fences == 2 * len(blocks(page))
