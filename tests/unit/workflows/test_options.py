"""What a user may choose, in words and as values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import nearkin
from nearkin.errors import ParameterError
from nearkin.stages.documents.normalisation import Normalisation
from nearkin.stages.features.shingles import Characters, Words
from nearkin.stages.grouping.survivors import Keep
from nearkin.stages.verification.measures import MEASURES
from nearkin.workflows.dedup.options import PRESETS, DedupOptions
from nearkin.workflows.signing.options import SigningOptions

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


@given(options)
def test_words_say_all_there_is(chosen):
    assert DedupOptions.of(**chosen.in_words()) == chosen


@given(options, options)
def test_fingerprints_are_equal_where_options_are(a, b):
    assert (a.fingerprint == b.fingerprint) == (a == b)


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


def test_from_python_messages_name_parameters():
    with pytest.raises(ParameterError, match=r"^The 'threshold' parameter of dedup must be a number > 0"):
        nearkin.dedup(["a"], threshold=80)
    with pytest.raises(ParameterError, match=r"^'seed' has no effect with simhash"):
        SigningOptions(method="simhash", seed=3)
