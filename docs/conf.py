"""How Sphinx builds the site from these pages: ``make site``."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "src"))

import nearkin  # noqa: E402
from nearkin import results, signatures  # noqa: E402
from nearkin._version import __version__  # noqa: E402

PUBLIC = (nearkin, results, signatures)

project = "Nearkin"
author = "the Nearkin authors"
copyright = author  # Sphinx's name
version = release = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
exclude_patterns = ["_build", "decisions/template.md"]
source_suffix = {".md": "markdown"}
html_theme = "furo"
html_title = f"Nearkin {__version__}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_theme_options = {"source_view_link": "", "source_edit_link": ""}
html_show_sphinx = False
html_copy_source = False

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
smartquotes = False  # readers copy 'quoted patterns' and --options out of sentences
suppress_warnings = ["misc.highlighting_failure"]  # transcripts that leave output out

autodoc_member_order = "bysource"
autodoc_typehints = "none"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_param = False  # "text, id : str" has one description; as parameters each would get a copy of it
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


LEADS_OUT = re.compile(
    r"\[([^\]]+)\]\((?:(?:\.\./)+(?:benchmarks|examples|labs|tests|README|CONTRIBUTING)[^)]*|template\.md)\)"
)
"""Links to files that are in the repository and not on the site: their text stays."""


def _for_the_site(app: object, name: str, source: list[str]) -> None:
    text = LEADS_OUT.sub(lambda link: link[1], source[0])
    source[0] = f"---\norphan: true\n---\n\n{text}" if name.startswith("decisions/0") else text


def _pages_beside(app: object, error: Exception | None) -> None:
    """Put the Markdown of each page beside it, and a list of all pages for programs that read them."""
    if error is None:
        out, pages = Path(app.outdir), _in_order(app.env)  # type: ignore[attr-defined]
        lines = [
            "# Nearkin",
            "",
            "> Finds documents that say nearly the same thing: verified pairs, measured recall.",
            "",
        ]
        for page in pages:
            source = Path(app.env.doc2path(page))  # type: ignore[attr-defined]
            if source.suffix == ".md" and source.exists():
                shutil.copyfile(source, out / f"{page}.md")
                title = app.env.titles[page].astext()  # type: ignore[attr-defined]
                lines.append(f"- [{title}]({page}.md)")
        (out / "llms.txt").write_text("\n".join(lines) + "\n", "utf-8")


def _in_order(env: Any) -> list[str]:
    """List the pages as the navigation does: tutorials, guides, reference, background; then those it lacks."""
    listed = [env.config.root_doc]
    for page in listed:  # the list grows while it is read
        listed += [one for one in env.toctree_includes.get(page, ()) if one not in listed]
    return [*listed, *sorted(env.found_docs - set(listed))]


TYPE = re.compile(r"(?<!\*)\*([^*`]+)\*(?!\*)")
"""A type of a parameter or result, as napoleon writes it: in italics."""


def _link_types(app: object, what: str, name: str, documented: object, options: object, lines: list[str]) -> None:
    """Link the public classes that types name: napoleon links them only if it describes each parameter alone."""
    lines[:] = [TYPE.sub(lambda italics: _linked(italics[1]), line) for line in lines]


def _linked(words: str) -> str:
    def link(word: re.Match[str]) -> str:
        room = next((room for room in PUBLIC if word[1] in room.__all__), None)
        return word[0] if room is None else f":class:`~{room.__name__}.{word[1]}`"

    linked = re.sub(r"\b(?:nearkin\.(?:\w+\.)?)?([A-Z]\w+)\b", link, words)
    return f"*{words}*" if linked == words else linked


def setup(app: object) -> None:
    """Register the steps before and after."""
    app.connect("autodoc-process-docstring", _link_types, priority=600)  # type: ignore[attr-defined]  # after napoleon's
    app.connect("source-read", _for_the_site)  # type: ignore[attr-defined]
    app.connect("build-finished", _pages_beside)  # type: ignore[attr-defined]
