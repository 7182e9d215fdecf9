"""Options of a deduplication, made from their table in the report's words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from nearkin.cli.parameters import OptionGroup, option
from nearkin.reports.dedup.options import OPTIONS

if TYPE_CHECKING:
    from nearkin.workflows.dedup.options import DedupOptions


def dedup_option(name: str, *, has_results: bool = True) -> Any:
    """Declare an option: its name on the command line, its help, also of results if any, and its panel."""
    one = OPTIONS[name]
    words = f"{one.help} {one.help_of_results if has_results else ''}".rstrip()
    return option(
        f"--{name.replace('_', '-')}",
        metavar=one.metavar,
        help=words + (f" [default: {one.default}]" if one.default else ""),
        panel=one.panel,
    )


IgnoreFile = Annotated[Path | None, dedup_option("ignore", has_results=False)]
IgnoreNumbers = Annotated[bool, dedup_option("ignore_numbers")]
IgnoreNumbersOfPairs = Annotated[bool, dedup_option("ignore_numbers", has_results=False)]
"""The option of a command whose results have no reasons."""


@dataclass(frozen=True)
class DedupChoices(OptionGroup):
    """Values of the options of a deduplication by name; None if not given."""

    names: ClassVar[tuple[str, ...]] = tuple(OPTIONS)
    given: Mapping[str, object]

    @classmethod
    def of(cls, **given: object) -> DedupChoices:
        """Gather the values."""
        return cls(given)

    @classmethod
    def listed(cls) -> Iterator[tuple[str, Any, object]]:
        """Yield name, type and default of each option."""
        for name in cls.names:
            yield name, Annotated[OPTIONS[name].takes | None, dedup_option(name)], None

    def options(self, preset: str | None = None) -> DedupOptions:
        """Return the options of a job."""
        from nearkin.workflows.dedup.options import DedupOptions

        return DedupOptions.of(preset=preset, **self.given)


@dataclass(frozen=True)
class PlannedDedupChoices(DedupChoices):
    """Those options that decide how a corpus is searched."""

    names = ("threshold", "measure", "recall", "shingle")
