"""Jinja environment of all pages, which escapes everything, and the inputs of a run in words."""

from __future__ import annotations

import base64
import functools
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from nearkin.errors import MissingExtraError
from nearkin.nouns import counted, wave_text
from nearkin.reports.facts.fact import Table
from nearkin.reports.quantities import percent_text, size_text
from nearkin.wording import reveal, share_text

if TYPE_CHECKING:
    from types import CodeType

    import jinja2
    from jinja2.bccache import Bucket


_NO_FILTERS: Mapping[str, Any] = MappingProxyType({})
_LONGEST_TEXT = 180  # characters of a text that are shown beside its id
_LONGEST_NAME = 96  # characters of an id or a path that are shown before it is shortened in the middle


@dataclass(frozen=True, slots=True)
class PageScript:
    """Script of a page, and the digest by which the page's policy allows it."""

    text: str
    digest: str

    @classmethod
    def named(cls, name: str) -> PageScript:
        """Read a script from the templates."""
        text = files("nearkin.reports").joinpath("templates", name).read_text(encoding="utf-8")
        return cls(text, base64.b64encode(hashlib.sha256(text.encode()).digest()).decode())


def page_environment(*packages: str) -> jinja2.Environment:
    """Make a Jinja environment for the templates of some packages, those of the reports last.

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
        bytecode_cache=_compiled_templates(),
    )
    environment.filters |= {
        "reveal": reveal,
        "svg": Markup,  # our own drawing, never text of a document
        "thousands": lambda n: f"{n:,}",
    }
    environment.globals["palette"] = Markup(stylesheet())
    return environment


@functools.cache
def _compiled_templates() -> jinja2.BytecodeCache:
    """Make this process's memory of compiled templates: an environment is made for each page."""
    import jinja2

    class CompiledTemplates(jinja2.BytecodeCache):
        def __init__(self) -> None:
            self._codes: dict[tuple[str, str], CodeType] = {}

        def load_bytecode(self, bucket: Bucket) -> None:
            if (code := self._codes.get((bucket.key, bucket.checksum))) is not None:
                bucket.code = code

        def dump_bytecode(self, bucket: Bucket) -> None:
            if bucket.code is not None:
                self._codes[bucket.key, bucket.checksum] = bucket.code

    return CompiledTemplates()


def report_environment(*packages: str) -> jinja2.Environment:
    """Make the environment with the filters that the templates of runs use, for those of some packages too."""
    environment = page_environment(*packages)
    environment.filters |= {
        "name": short_name, "beginning": _beginning, "share": share_text, "percent": percent_text, "size": size_text,
        "counted": counted, "wave_text": wave_text,
    }  # fmt: skip
    return environment


def _beginning(text: str) -> str:
    words = " ".join(text[: 4 * _LONGEST_TEXT].split())
    if len(words) <= _LONGEST_TEXT and len(text) <= 4 * _LONGEST_TEXT:
        return reveal(words)
    cut = words[:_LONGEST_TEXT]
    return f"{reveal(cut[: cut.rfind(' ')] if ' ' in cut else cut)} …"


def render_page(
    template: str, *, script: str | None = None, filters: Mapping[str, Any] = _NO_FILTERS, **values: object
) -> str:
    """Render the page of a run, with a script of the templates; equal arguments give equal bytes."""
    try:
        environment = report_environment()
        environment.filters |= filters
        page_script = None if script is None else PageScript.named(script)
        return environment.get_template(template).render({"run": None, "script": page_script} | values)
    except ImportError as error:
        raise MissingExtraError.of("report.html", "report") from error


def problems_table(rows: Sequence[tuple[object, object, str]], n: int) -> Table:
    """Tabulate the first of ``n`` remarks about documents: where each stands, its id or None, and the remark."""
    caption = f"Remarks: {n:,}" + f"; the first {len(rows):,} are listed, all are in the tables" * (len(rows) < n)
    cells = [
        (short_name(where), "–" if doc_id is None else short_name(doc_id), problem) for where, doc_id, problem in rows
    ]
    return Table(("Where", "Id", "Remark"), cells, caption=caption)


def short_name(value: object) -> str:
    """Make an id or a path safe and short."""
    text = str(value)
    if len(text) <= _LONGEST_NAME:
        return reveal(text)
    end = _LONGEST_NAME // 4
    return f"{reveal(text[: _LONGEST_NAME - end])} … {reveal(text[-end:])} ({counted(len(text), 'character')})"
