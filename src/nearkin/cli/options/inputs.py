"""Input, as an argument and options of every command that reads documents; their help lists the formats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from nearkin.cli.options.definitions import Encoding, Id, StoredId, Text
from nearkin.cli.options.groups import OptionGroup
from nearkin.cli.options.reading import RulesOptions
from nearkin.stages.documents.formats import FORMATS, TABLES, names_with_hints

if TYPE_CHECKING:
    from nearkin.workflows.reading.request import ReadingRequest

_input = partial(typer.Option, rich_help_panel="Input")

Inputs = Annotated[
    list[str],
    typer.Argument(
        metavar="INPUT...",
        help=f"{', '.join(one.listed for one in FORMATS.values() if one.listed)}, folders of text files, documents or "
        "tables, globs, - for standard input; a collection, or results of nearkin dedup. All but "
        f"{' and '.join(table.listed for table in TABLES.values())} may be compressed (.gz, .bz2, .xz, .zst).",
        show_default=False,
    ),
]
_DEFAULT_OF_FORMAT = "[dim]default: from the name and the first bytes[/]"
Format = Annotated[
    str | None,
    _input("--format", help=f"{names_with_hints()}. {_DEFAULT_OF_FORMAT}", show_default=False),
]
FormatOfBothSets = Annotated[
    str | None,
    _input(
        "--format",
        help=f"{names_with_hints()}. It applies to every file, also to those of --against. {_DEFAULT_OF_FORMAT}",
        show_default=False,
    ),
]


@dataclass(frozen=True)
class ReadingOptions(OptionGroup):
    """Columns, format and encoding, and the rules."""

    text: Text = None
    id: Id = None
    file_format: Format = None
    encoding: Encoding = "utf-8"
    rules: RulesOptions = field(default_factory=RulesOptions)

    def request(self, inputs: Sequence[str]) -> ReadingRequest:
        """Request that these inputs be read."""
        from nearkin.workflows.reading.request import ReadingRequest

        return ReadingRequest(
            inputs=inputs, file_format=self.file_format, text=self.text, doc_id=self.id, encoding=self.encoding,
            rules=self.rules.rules(),
        )  # fmt: skip


@dataclass(frozen=True)
class ReadingOptionsOfBothSets(ReadingOptions):
    """Reading options of a command with ``--against``."""

    file_format: FormatOfBothSets = None


@dataclass(frozen=True)
class ReadingOptionsOfCollection(ReadingOptions):
    """Reading options of a command that stores documents."""

    id: StoredId = None
