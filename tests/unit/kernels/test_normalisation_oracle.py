"""What the tables say of NFKC and lower case is what Arrow and Python say."""

from __future__ import annotations

import unicodedata
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearkin.kernels import text
from nearkin.kernels.buffers import large_strings, text_buffers
from nearkin.kernels.characters import NEEDS_LIBRARY, character_forms
from nearkin.stages.documents import normalisation
from nearkin.stages.documents.normalisation import Normalisation
from unit.kernels.agreeing import agreed

ODD = (
    "aB \t\u00a0é\u0301\u0323\u0327İẞŒΣς½ﬁ…™Ⱥ가"
    "\u1100\u1161\u11a8かがガ\u3099ไท\u0e38\u0e48\u0e33\u093c\u0915\u094dА́Й\u064b\u0651語"
)


def by_library(texts: pa.Array, *, nfkc: bool, lower: bool) -> list[str]:
    if nfkc:
        texts = normalisation._nfkc(texts)
    return (pc.utf8_lower(texts) if lower else texts).to_pylist()


@pytest.mark.parametrize(("nfkc", "lower"), [(True, True), (True, False), (False, True)])
def test_every_character(nfkc: bool, lower: bool) -> None:
    """Between letters, so that a character that composes with its neighbours would show."""
    form = character_forms(nfkc=nfkc, lower=lower).form
    told = [c for c in range(128, 0x110000) if form[c] != NEEDS_LIBRARY and not 0xD800 <= c < 0xE000]
    assert len(told) > 130_000
    texts = pa.array([f"e{chr(c)}a{chr(c)}" for c in told], pa.large_string())
    data, offsets = text_buffers(texts)
    *folded, is_left = agreed(text.fold, data, offsets, nfkc=nfkc, lower=lower, collapse=False)
    assert not is_left.any()
    assert large_strings(*folded).to_pylist() == by_library(texts, nfkc=nfkc, lower=lower)


@given(st.lists(st.one_of(st.text(st.sampled_from(ODD), max_size=12), st.text(max_size=20)), min_size=1, max_size=8))
def test_any_text(values: list[str]) -> None:
    texts = pa.array(values, pa.large_string())
    data, offsets = text_buffers(texts)
    *folded, is_left = agreed(text.fold, data, offsets, nfkc=True, lower=True, collapse=False)
    expected = by_library(texts, nfkc=True, lower=True)
    for ours, theirs, left in zip(large_strings(*folded).to_pylist(), expected, is_left.tolist(), strict=True):
        assert left or ours == theirs


@pytest.mark.parametrize("nfkc", [True, False])
@given(st.lists(st.text("Iiıİ\u0307\u0323ŞşsT ", max_size=8), min_size=1, max_size=5))
def test_a_dotted_capital_i_becomes_an_i(nfkc: bool, values: list[str]) -> None:
    """In both loops and in Arrow; Python adds a combining dot, so that upper and lower case would differ."""
    texts = pa.array(values, pa.large_string())
    data, offsets = text_buffers(texts)
    *folded, is_left = agreed(text.fold, data, offsets, nfkc=nfkc, lower=True, collapse=False)
    expected = [(unicodedata.normalize("NFKC", one) if nfkc else one).replace("İ", "i").lower() for one in values]
    assert by_library(texts, nfkc=nfkc, lower=True) == expected
    for ours, plain, left in zip(large_strings(*folded).to_pylist(), expected, is_left.tolist(), strict=True):
        assert left or ours == plain
    if nfkc:
        assert Normalisation(space=False).apply(texts).to_pylist() == expected


@given(st.text(max_size=60))
def test_against_python(value: str) -> None:
    """Another library's NFKC, and another way to collapse."""
    ours = Normalisation(case=False).apply(pa.array([value], pa.large_string()))[0].as_py()
    classes_of_space = "\x1c\x1d\x1e\x1f"  # Python calls these white space, Unicode does not
    if not set(value) & set(classes_of_space) and all(unicodedata.category(c) != "Cn" for c in value):
        assert ours == " ".join(unicodedata.normalize("NFKC", value).split())


def test_most_languages_need_no_library() -> None:
    samples = [
        "Grüße aus Köln",
        "Съешь же ещё этих булок",
        "Ξεσκεπάζω",
        "日本語のテキスト",
        "한국어 문장",
        "ภาษาไทย",
        "हिन्दी",
        "‘quotes’ — and…",
    ]
    data, offsets = text_buffers(pa.array(samples, pa.large_string()))
    *_, is_left = agreed(text.fold, data, offsets, nfkc=True, lower=True, collapse=True)
    assert np.flatnonzero(is_left).tolist() == []


def test_an_arrow_that_composes_nothing_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """As before version 26: a text for the library would differ from an equal one that the kernel normalised."""
    decomposing = partial(pc.call_function, "utf8_normalize")
    monkeypatch.setattr(
        normalisation.pc,
        "utf8_normalize",
        lambda texts, form: decomposing([texts], pc.Utf8NormalizeOptions(form.replace("C", "D"))),
    )
    normalisation._composes.cache_clear()
    assert not normalisation._composes()
    assert Normalisation().apply(pa.array(["a\u0300"], pa.large_string())).to_pylist() == ["\u00e0"]
    monkeypatch.undo()
    normalisation._composes.cache_clear()
    assert Normalisation().apply(pa.array(["a\u0300"], pa.large_string())).to_pylist() == ["\u00e0"]
