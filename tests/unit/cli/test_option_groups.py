"""Options that are written once and belong to several commands."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, fields

import pytest

from nearkin.cli.options.dedup import DedupChoices
from nearkin.cli.options.groups import OptionGroup, taking_options
from nearkin.cli.options.pairs import PairChoices
from nearkin.workflows.dedup.options import DedupOptions
from nearkin.workflows.pairing.options import PairOptions
from unit.cli.test_command_line import registered


@dataclass(frozen=True)
class Inner(OptionGroup):
    size: int = 3


@dataclass(frozen=True)
class Outer(OptionGroup):
    name: str
    inner: Inner


def test_groups_within_groups():
    def work(first: int, *, outer: Outer, last: str = "z") -> tuple[object, ...]:
        return first, outer, last

    taking = taking_options(work)
    assert list(inspect.signature(taking).parameters) == ["first", "name", "size", "last"]
    assert taking(first=1, name="n", size=2) == (1, Outer("n", Inner(2)), "z")
    with pytest.raises(KeyError):
        taking(first=1, name="n")


def test_a_function_without_groups_stays_as_it_is():
    def work(first: int) -> int:
        return first

    assert taking_options(work) is work


def test_every_command_has_plain_options():
    for _, work in registered():
        for one in inspect.signature(work, eval_str=True).parameters.values():
            assert not (isinstance(one.annotation, type) and issubclass(one.annotation, OptionGroup)), one


@pytest.mark.parametrize(
    ("choices", "options", "beside"),
    [
        (DedupChoices, DedupOptions, {"ignore", "ignore_numbers"}),
        (PairChoices, PairOptions, {"n_terms", "bm25", "ignore", "ignore_numbers", "ignored"}),
    ],
)
def test_whatever_a_job_lets_choose_is_an_option(choices, options, beside):
    """But for what is said otherwise, or cannot be said on a command line."""
    own = {name for name, _, _ in choices.listed()}
    assert own ^ {one.name for one in fields(options)} == beside
