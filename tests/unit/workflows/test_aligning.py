"""What learning a translation table promises beside its table."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearkin.errors import FingerprintError, ParameterError
from nearkin.kernels.buffers import strings
from nearkin.runs.progress import Meter, Silent
from nearkin.stages.translation.model_1 import Model1, SentencePairs
from nearkin.stages.translation.rows import Pruning
from nearkin.stages.translation.table import TableOrigin
from nearkin.workflows.aligning.parallel import _InStep, guessed_column
from nearkin.workflows.aligning.training import _by_model_1
from nearkin.workflows.resources import Resources
from nearkin.workflows.table_words import TableWords


def test_learning_stays_under_its_memory_or_says_so() -> None:
    n = 14_000_000  # of 20 bytes and more each
    side = np.zeros(n, np.int32), np.arange(n + 1)
    pairs = SentencePairs(
        source=side,
        target=side,
        source_words=strings(["a"]),
        target_words=strings(["b"]),
        n_read=n,
        n_empty=0,
        n_too_long=0,
    )
    with pytest.raises(ParameterError, match="needs about 1,068 MiB, and --memory allows 256 MiB"):
        _by_model_1(Model1(), pairs, Pruning(), Resources(1, 256 << 20), Meter(Silent()))


def test_words_are_found_as_the_table_found_them() -> None:
    words = TableWords("de", "en")
    assert words.one(" HAUS! ", is_target=False) == "haus"
    assert words.one("zwei Wörter", is_target=False) is None
    assert TableWords.of_table(TableOrigin("de", "en", words.fingerprint, "x", 1)) == words
    with pytest.raises(FingerprintError, match="made with other rules for words"):
        TableWords.of_table(TableOrigin("de", "en", "words of tomorrow", "x", 1))


def test_stems_are_of_each_language_and_the_same_in_both_directions() -> None:
    pytest.importorskip("snowballstemmer")
    one, other = TableWords("de-AT", "en", stem=True), TableWords("en", "de", stem=True)
    assert one.fingerprint == other.fingerprint
    assert "stem=english+german" in one.fingerprint
    assert (one.one("Häuser", is_target=False), one.one("houses", is_target=True)) == ("haus", "hous")
    with pytest.raises(ParameterError, match="must be one of ar"):
        TableWords("tlh", "en", stem=True)


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["id", "de", "text_de"], "de"),
        (["id", "text-DE", "text_en"], "text-DE"),
        (["src", "trg"], "src"),
        (["source", "en"], None),
        (["de_1", "de_2"], None),
        (["made", "index"], None),
    ],
)
def test_columns_are_guessed_from_their_names(names, found) -> None:
    assert guessed_column(names, "de", "source") == found


@given(st.lists(st.integers(0, 5), max_size=6), st.lists(st.integers(0, 5), max_size=6))
def test_two_streams_go_in_step_however_they_are_cut(one, other) -> None:
    def batches(sizes):
        ends = np.cumsum([0, *sizes])
        for start, size in zip(ends, sizes):
            yield pa.RecordBatch.from_arrays([pa.array(range(start, start + size), pa.int64())], ["row"])

    streams = _InStep(batches(one), batches(other))
    rows = [batch["row"].to_pylist() for pair in streams.pairs() for batch in pair]
    assert rows[::2] == rows[1::2]
    n = min(sum(one), sum(other))
    assert [row for batch in rows[::2] for row in batch] == list(range(n))
    assert (streams.n_rows, streams.n_left) == (n, [sum(one) - n, sum(other) - n])
