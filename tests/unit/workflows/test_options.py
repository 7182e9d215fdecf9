"""What a user may choose, in words and as values."""

from __future__ import annotations

import inspect

import pytest
from hypothesis import given
from hypothesis import strategies as st

import nearkin
from nearkin import spark
from nearkin.errors import ParameterError
from nearkin.options.dedup import PRESETS, DedupOptions, Delivery
from nearkin.stages.documents.normalisation import STEPS, Normalisation
from nearkin.stages.features.shingles import Characters, Words
from nearkin.stages.grouping import Keep
from nearkin.stages.verification.measures import MEASURES

options = st.builds(
    DedupOptions,
    threshold=st.floats(0.01, 1.0),
    recall=st.floats(0.01, 0.999),
    measure=st.sampled_from([*MEASURES.values()]),
    group=st.sampled_from(["principal", "component"]),
    shingle=st.one_of(st.builds(Words, st.integers(1, 64)), st.builds(Characters, st.integers(1, 64))),
    keep=st.sampled_from([Keep("longest"), Keep("first"), Keep("max", "a:b"), Keep("min", " ")]),
    normalise=st.builds(Normalisation, **dict.fromkeys(STEPS, st.booleans())),
    seed=st.integers(0, 2**64 - 1),
)


@given(options, options)
def test_fingerprints_are_equal_where_options_are(a, b):
    assert (a.fingerprint == b.fingerprint) == (a == b)


@pytest.mark.parametrize("function", [nearkin.dedup, spark.dedup_result])
def test_a_function_refuses_what_is_no_parameter_as_python_does(function):
    with pytest.raises(TypeError, match=rf"^{function.__name__}\(\) got an unexpected keyword argument 'treshold'$"):
        function(["a"], treshold=0.8)
    assert "given" not in inspect.signature(function).parameters


@pytest.mark.parametrize("name", PRESETS)
def test_presets_keep_to_the_rules(name):
    chosen = DedupOptions(preset=name)
    assert all(chosen.in_words()[key] == value for key, value in PRESETS[name].items())
    assert DedupOptions(preset=name, keep="shortest").keep == Keep("shortest")


def test_what_is_no_parameter_is_refused_with_those_there_are():
    with pytest.raises(ParameterError):
        DedupOptions.of({"treshold": 0.8})


@pytest.mark.parametrize(
    "wrong",
    [
        {"threshold": True}, {"threshold": "0.8"}, {"threshold": float("nan")}, {"recall": 1}, {"shingle": 5},
        {"keep": ""}, {"normalise": 1}, {"seed": 1.0}, {"seed": 2**64}, {"measure": ""}, {"group": []}, {"preset": ""},
        {"min_shared": 0}, {"min_shared": 1, "threshold": 0.5}, {"min_shared": 1, "measure": "jaccard"},
        {"drop": "either", "measure": "jaccard"}, {"ignore_numbers": 1},
    ],
)  # fmt: skip
def test_values_that_break_their_rule(wrong):
    with pytest.raises(ParameterError) as error:
        DedupOptions(**wrong)
    assert error.value.parameter == next(iter(wrong))


def test_options_that_need_or_exclude_others():
    for wrong in ({"drop": "either"}, {"against_id": "a"}, {"write_kept": True}, {"overwrite": True}):
        with pytest.raises(ParameterError) as error:
            nearkin.dedup(["a"], **wrong)
        assert error.value.parameter == next(iter(wrong))
    with pytest.raises(ParameterError, match=r"^resume: "):
        Delivery(resume=True, overwrite=True)
    assert DedupOptions(min_shared=2).measure.name == DedupOptions(drop="either").measure.name == "containment"


def test_values_are_read_only_and_may_be_given_as_words():
    options = DedupOptions(shingle="words:3", keep=Keep("first"))
    assert (options.shingle, options.keep, options.threshold) == (Words(3), Keep("first"), 0.7)
    with pytest.raises(AttributeError):
        options.threshold = 0.8
    changed = options.part(DedupOptions, threshold=0.8, shingle="chars:8")
    assert (changed.threshold, changed.shingle, changed.keep) == (0.8, Characters(8), Keep("first"))
