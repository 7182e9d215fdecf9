"""What the tables say of NFKC, case, Arabic letters and accents is what Python says."""

from __future__ import annotations

import re
import unicodedata
from functools import partial
from itertools import combinations

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
from oracles.brute_force import ARABIC, folded
from unit.kernels.agreeing import agreed

ODD = (
    "aB \t\u00a0é\u0301\u0323\u0327İẞŒΣς½ﬁ…™Ⱥ가"
    "\u1100\u1161\u11a8かがガ\u3099ไท\u0e38\u0e48\u0e33\u093c\u0915\u094dА́Й\u064b\u0651語"
)


TABLES = [steps for n in range(5) for steps in combinations(("nfkc", "case", "arabic", "accents"), n)]


def by_definition(text: str, steps: tuple[str, ...]) -> str:
    """The steps one after the other, with Python's Unicode."""
    nfkc = partial(unicodedata.normalize, "NFKC") if "nfkc" in steps else str
    text = nfkc(text.replace("\u00ad", "") if "nfkc" in steps else text)
    if "case" in steps:
        text = "".join(map(folded, text))
    if "arabic" in steps:
        text = text.translate(ARABIC)
    if "accents" in steps:
        parts = unicodedata.normalize("NFD", text)
        text = "".join(c for c in parts if not 0x300 <= ord(c) < 0x370).translate(STROKES)
    return nfkc(text)


STROKES = str.maketrans("ØøŁłĐđĦħŦŧ", "OoLlDdHhTt")
SAMPLES = ODD + "ßẞſςΰΐıⱥȺŻøØłĐآأإٱىیکڪ٠٩۰۹ـَُِّْٰؤئ\u0654\u00ad"


@pytest.mark.parametrize("steps", TABLES)
@given(st.lists(st.text(st.sampled_from(SAMPLES), max_size=12), min_size=1, max_size=8))
def test_any_steps(steps: tuple[str, ...], values: list[str]) -> None:
    texts = pa.array(values, pa.large_string())
    data, offsets = text_buffers(texts)
    agreed(text.fold, data, offsets, steps, collapse=False)
    applied = Normalisation.parse(",".join(steps)).apply(texts).to_pylist()
    expected = [by_definition(one, steps) for one in values]
    if "nfkc" not in steps:  # then accents can leave decomposed what nothing composes again
        applied, expected = ([unicodedata.normalize("NFC", one) for one in some] for some in (applied, expected))
    assert applied == expected


@pytest.mark.parametrize(
    "steps",
    [
        ("nfkc", "case"),
        ("nfkc", "case", "accents"),
        *(pytest.param(steps, marks=pytest.mark.soak) for steps in (("nfkc",), ("nfkc", "accents"))),
    ],
)
def test_every_character(steps: tuple[str, ...]) -> None:
    """Between letters, so that a character that composes with its neighbours would show."""
    form = character_forms(*steps).form
    told = [c for c in range(128, 0x110000) if form[c] != NEEDS_LIBRARY and not 0xD800 <= c < 0xE000]
    assert len(told) > 130_000
    texts = pa.array([f"e{chr(c)}a{chr(c)}" for c in told], pa.large_string())
    data, offsets = text_buffers(texts)
    *result, is_left = agreed(text.fold, data, offsets, steps, collapse=False)
    assert not is_left.any()
    assert large_strings(*result).to_pylist() == [by_definition(one, steps) for one in texts.to_pylist()]


@given(st.text(max_size=60))
def test_against_python(value: str) -> None:
    """Another library's NFKC, and another way to collapse."""
    ours = Normalisation.parse("nfkc,space").apply(pa.array([value], pa.large_string()))[0].as_py()
    classes_of_space = "\x1c\x1d\x1e\x1f"  # Python calls these white space, Unicode does not
    if not set(value) & set(classes_of_space) and all(unicodedata.category(c) != "Cn" for c in value):
        value = re.sub("([\u00b2\u00b3\u00b9\u2070\u2074-\u2079\u2080-\u2089])", "\u2063\\1", value)
        assert ours == " ".join(unicodedata.normalize("NFKC", value.replace("\u00ad", "")).split())


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
    *_, is_left = agreed(text.fold, data, offsets, ("nfkc", "case"), collapse=True)
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
