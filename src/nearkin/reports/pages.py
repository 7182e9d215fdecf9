"""The one way in which every page is made: Jinja with everything escaped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nearkin.hidden_characters import reveal

if TYPE_CHECKING:
    import jinja2


def page_environment(*packages: str) -> jinja2.Environment:
    """Jinja over the templates of some packages, those of the reports last.

    Raises
    ------
    ImportError
        The ``report`` extra is not installed.
    """
    import jinja2
    from markupsafe import Markup

    from nearkin.reports.theme import stylesheet

    loaders = [jinja2.PackageLoader(package) for package in (*packages, "nearkin.reports")]
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader(loaders),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "reveal": reveal,
        "svg": Markup,  # our own drawing, never text of a document
        "thousands": lambda n: f"{n:,}",
    }
    environment.globals["palette"] = Markup(stylesheet())
    return environment
