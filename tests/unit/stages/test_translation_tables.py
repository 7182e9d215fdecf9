"""Tables: made, pruned, merged, turned, written and read."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearkin.errors import FingerprintError, ParameterError, SourceError
from nearkin.kernels.buffers import strings
from nearkin.stages.features.words import WordSplitter
from nearkin.stages.translation.model_1 import MAX_WORDS, GrowingPairs, SentencePairs
from nearkin.stages.translation.rows import Pruning, TranslationRows
from nearkin.stages.translation.table import TableOrigin, TranslationTable

ORIGIN = TableOrigin("de", "en", "words", "by hand", 7)


def rows_of(*rows: tuple[str, str, float]) -> TranslationRows:
    sides = [pa.array([row[i] for row in rows], pa.large_string()).dictionary_encode() for i in (0, 1)]
    numbers = [side.indices.to_numpy() for side in sides]
    counts = np.array([row[2] for row in rows], np.float64)
    return TranslationRows.of_counts((sides[0].dictionary, sides[1].dictionary), *numbers, counts)


def table_of(*rows: tuple[str, str, float], origin: TableOrigin = ORIGIN) -> TranslationTable:
    return TranslationTable.of_rows(rows_of(*rows), origin)


HAUS = table_of(("haus", "house", 6), ("haus", "home", 3), ("haus", "the", 1), ("heim", "home", 1), ("das", "the", 9))


def found(table: TranslationTable, word: str, *, is_reverse: bool = False) -> dict[str, float]:
    return {one.word: round(one.probability, 4) for one in table.lookup(word, is_reverse=is_reverse)}


def test_translations_come_best_first_in_both_directions():
    assert list(found(HAUS, "haus").items()) == [("house", 0.6), ("home", 0.3), ("the", 0.1)]
    assert list(found(HAUS, "home", is_reverse=True).items()) == [("haus", 0.75), ("heim", 0.25)]
    assert HAUS.lookup("haus")[1].back_probability == 0.75
    assert HAUS.lookup("haus")[0].count == 6
    assert HAUS.lookup("baum") == ()


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(1, 30)), unique_by=lambda row: row[:2]),
    st.sampled_from([0.0, 0.1, 0.3]),
    st.integers(1, 4),
)
def test_pruning_is_its_definition(rows, least, most):
    table = table_of(*((f"s{s}", f"t{t}", n) for s, t, n in rows)) if rows else None
    if table is None:
        return
    pruned = table.pruned(Pruning(least, most))
    for is_reverse in (False, True):
        side = pruned.target_words if is_reverse else pruned.source_words
        for word in side.to_pylist():
            kept = [one for one in table.lookup(word, is_reverse=is_reverse) if one.probability >= least][:most]
            total = sum(one.probability for one in kept)
            ours = pruned.lookup(word, is_reverse=is_reverse)
            assert {one.word: one.probability for one in ours} == pytest.approx(
                {one.word: one.probability / total for one in kept}, rel=1e-5
            )


def test_a_table_may_be_empty(tmp_path):
    path = tmp_path / "a.table"
    empty = table_of(("haus", "house", 1), ("haus", "home", 1), ("heim", "house", 1), ("heim", "home", 1))
    empty = empty.pruned(Pruning(0.9, 1))
    assert (len(empty), len(empty.source_words), empty.lookup("haus")) == (0, 0, ())
    empty.write(path)
    read = TranslationTable.read(path)
    assert read.fingerprint == empty.fingerprint
    assert read.forward.offsets.tolist() == [0]
    assert TranslationTable.merged([read, HAUS]).lookup("haus") == HAUS.lookup("haus")


def test_merged_tables_are_weighed_by_counts():
    one, other = table_of(("haus", "house", 3)), table_of(("haus", "home", 1), ("baum", "tree", 2))
    merged = TranslationTable.merged([one, other])
    assert found(merged, "haus") == {"house": 0.75, "home": 0.25}
    assert found(merged, "baum") == {"tree": 1.0}
    assert merged.origin.n_pairs == 14
    assert merged.fingerprint == TranslationTable.merged([other, one]).fingerprint
    with pytest.raises(ParameterError, match="two tables or more"):
        TranslationTable.merged([one])


def test_a_table_of_the_other_direction_is_turned_before_it_is_merged():
    one, other = table_of(("haus", "house", 9)), table_of(("haus", "home", 3), ("baum", "tree", 2))
    assert (
        TranslationTable.merged([one, other.turned()]).fingerprint == TranslationTable.merged([one, other]).fingerprint
    )
    merged = TranslationTable.merged([one.turned(), other])
    assert (merged.origin.source, merged.origin.target) == ("en", "de")
    assert merged.turned().fingerprint == TranslationTable.merged([one, other]).fingerprint


@given(st.lists(st.tuples(st.text(min_size=1, max_size=3), st.text(min_size=1, max_size=3)), min_size=1))
def test_a_file_gives_back_the_table(tmp_path_factory, pairs):
    pairs = [(a.encode("utf-8", "replace").decode(), b.encode("utf-8", "replace").decode()) for a, b in pairs]
    table = TranslationTable.of_pairs(pairs, source="de", target="en", words="as given")
    path = tmp_path_factory.mktemp("tables") / "a.table"
    table.write(path)
    read = TranslationTable.read(path, source="de", target="en")
    assert read.fingerprint == table.fingerprint
    assert read.origin == table.origin
    for ours, theirs in ((read.forward, table.forward), (read.backward, table.backward)):
        np.testing.assert_array_equal(ours.words, theirs.words)
        np.testing.assert_array_equal(ours.probabilities, theirs.probabilities)


def test_damaged_files_say_so(tmp_path):
    path = tmp_path / "a.table"
    with pytest.raises(SourceError, match="there is no such file"):
        TranslationTable.read(path)
    path.write_bytes(b"PAR1 and no more")
    with pytest.raises(SourceError, match="not a Parquet file"):
        TranslationTable.read(path)
    pq.write_table(pa.table({"a": [1]}), path)
    with pytest.raises(SourceError, match="is not a translation table"):
        TranslationTable.read(path)
    HAUS.write(path)
    whole = pq.read_table(path)
    pq.write_table(whole.slice(0, 2), path)
    with pytest.raises(SourceError, match="is damaged: its content is"):
        TranslationTable.read(path)
    about = json.loads(whole.schema.metadata[b"nearkin.translation_table"])
    for change, message in (({"version": 9}, "of format 9"), ({"n_pairs": "many"}, "cannot be read")):
        told = {b"nearkin.translation_table": json.dumps(about | change)}
        pq.write_table(whole.replace_schema_metadata(told), path)
        with pytest.raises(SourceError, match=message):
            TranslationTable.read(path)


def test_sentences_that_are_empty_or_long_are_left_out_and_counted():
    pairs = GrowingPairs()
    split = WordSplitter().split
    long = " ".join(["wort"] * (MAX_WORDS + 1))
    pairs.add(split(strings(["ein haus", "", long, "!!"])), split(strings(["a house", "a", "word", "b"])))
    pairs.add(split(strings(["haus"])), split(strings(["house"])))
    frozen = pairs.frozen()
    assert (frozen.n_read, frozen.n_empty, frozen.n_too_long, len(frozen)) == (5, 2, 1, 2)
    assert frozen.source_words.to_pylist() == ["ein", "haus"]
    assert frozen.source[0].tolist() == [0, 1, 1]


def test_words_of_any_script_are_stemmed_where_that_is_wanted():
    texts = strings(["häuser 家は2", "häusern", "1990"])
    assert WordSplitter().split(texts).words.to_pylist() == ["häuser", "家", "は", "2", "häusern", "1990"]
    pytest.importorskip("snowballstemmer")
    stemmed = WordSplitter("de").split(texts)
    assert stemmed.words.to_pylist() == ["haus", "家", "は", "2", "1990"]
    assert stemmed.ids.tolist() == [0, 1, 2, 3, 0, 4]
    assert stemmed.fingerprint.startswith("words;unicode=14.0;stem=german;snowball=")


PAIRS = SentencePairs(
    source=(np.array([0, 1, 0], np.int32), np.array([0, 2, 3])),
    target=(np.array([0, 1, 0], np.int32), np.array([0, 2, 3])),
    source_words=strings(["das", "haus"]),
    target_words=strings(["the", "house"]),
    n_read=2,
    n_empty=0,
    n_too_long=0,
)


def test_tables_of_other_languages_or_words_are_not_merged():
    with pytest.raises(FingerprintError, match="from de to fr, not from de to en"):
        TranslationTable.merged(
            [HAUS, table_of(("haus", "maison", 1), origin=TableOrigin("de", "fr", "words", "x", 1))]
        )
    with pytest.raises(FingerprintError, match="'words' and 'stems'"):
        TranslationTable.merged([HAUS, table_of(("haus", "hous", 1), origin=TableOrigin("de", "en", "stems", "x", 1))])


def test_a_file_of_another_direction_is_refused(tmp_path):
    HAUS.write(tmp_path / "a.table")
    with pytest.raises(FingerprintError, match=r"from de to en, not from en to de\. Read it without"):
        TranslationTable.read(tmp_path / "a.table", source="en", target="de")
    with pytest.raises(FingerprintError, match="from de to en, not from de to fr"):
        TranslationTable.read(tmp_path / "a.table", target="fr")
