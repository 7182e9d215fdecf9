"""What a user may choose, in words and as values."""

from __future__ import annotations

import inspect
from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

import nearkin
from nearkin import spark
from nearkin.errors import ParameterError
from nearkin.reports.dedup.options import OPTIONS
from nearkin.stages.documents.normalisation import Normalisation
from nearkin.stages.features.shingles import Characters, Words
from nearkin.stages.grouping import Keep
from nearkin.stages.verification.measures import MEASURES
from nearkin.workflows.dedup.options import FOR_ANOTHER_SET, PRESETS, DedupOptions

options = st.builds(
    DedupOptions,
    threshold=st.floats(0.01, 1.0),
    recall=st.floats(0.01, 0.999),
    measure=st.sampled_from([*MEASURES.values()]),
    group=st.sampled_from(["principal", "component"]),
    shingle=st.one_of(st.builds(Words, st.integers(1, 64)), st.builds(Characters, st.integers(1, 64))),
    keep=st.sampled_from([Keep("longest"), Keep("first"), Keep("max", "a:b"), Keep("min", " ")]),
    normalise=st.builds(Normalisation, st.booleans(), st.booleans(), st.booleans()),
    seed=st.integers(0, 2**64 - 1),
)


@given(options, options)
def test_fingerprints_are_equal_where_options_are(a, b):
    assert (a.fingerprint == b.fingerprint) == (a == b)


def test_python_has_a_parameter_for_each():
    names = {one.name for one in fields(DedupOptions)}
    assert not names - set(inspect.signature(nearkin.dedup).parameters)
    # a data frame is not compared with another set
    assert names - set(inspect.signature(spark.dedup_result).parameters) == set(FOR_ANOTHER_SET)
    assert {"drop", "min_shared"} <= set(FOR_ANOTHER_SET) <= names


def test_the_help_shows_the_defaults():
    shown = {name: option.default for name, option in OPTIONS.items() if option.default}
    assert shown == {name: str(value) for name, value in DedupOptions().in_words().items()}


@pytest.mark.parametrize("function", [nearkin.dedup, spark.dedup_result])
def test_a_function_refuses_what_is_no_parameter_as_python_does(function):
    with pytest.raises(TypeError, match=rf"^{function.__name__}\(\) got an unexpected keyword argument 'treshold'$"):
        function(["a"], treshold=0.8)
    assert "given" not in inspect.signature(function).parameters


def test_none_is_not_given():
    assert DedupOptions.of(threshold=None, shingle=None) == DedupOptions()


@pytest.mark.parametrize("name", PRESETS)
def test_presets_keep_to_the_rules(name):
    chosen = DedupOptions.of(preset=name)
    assert all(chosen.in_words()[key] == value for key, value in PRESETS[name].items())
    assert DedupOptions.of(preset=name, keep="shortest").keep == Keep("shortest")


def test_what_is_no_parameter_is_refused_with_those_there_are():
    with pytest.raises(ParameterError, match=r"no parameter 'treshold'.*threshold, measure"):
        DedupOptions.of(treshold=0.8)


@pytest.mark.parametrize(
    "wrong",
    [
        {"threshold": None}, {"threshold": True}, {"threshold": "0.8"}, {"threshold": float("nan")}, {"recall": 1},
        {"shingle": 5}, {"shingle": "words:5"}, {"keep": "longest"}, {"normalise": None}, {"seed": 1.0},
        {"measure": ""}, {"group": None},
    ],
)  # fmt: skip
def test_values_that_break_their_rule(wrong):
    with pytest.raises(ParameterError, match="must be"):
        DedupOptions(**wrong)
