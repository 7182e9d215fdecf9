"""A stream that is saved and opened, or that forgets, finds what its definition says."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_counts import examples
from nearkin import StreamDeduplicator
from nearkin.errors import OutputError, OutputExistsError, ParameterError
from nearkin.workflows.stream import deduplicator
from oracles.brute_force import Collection
from oracles.test_stream import CERTAIN, truth
from oracles.texts import families, named


def told(answers) -> list[list[tuple[object, float]]]:
    return [[(match.doc_id, match.jaccard) for match in matches] for matches in answers]


@given(texts=families(most=14), max_age=st.integers(1, 12), batch_size=st.sampled_from([1, 2, 5, 1000]))
@settings(max_examples=examples(40))
def test_only_the_last_documents_are_compared_with(texts, max_age, batch_size):
    collection = Collection(named(texts), unit="words", length=2)
    ids = [doc_id for doc_id, _ in collection.documents]
    by_id = dict(collection.documents)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(deduplicator, "_FIRST_CAPACITY", 2)
        stream = StreamDeduplicator(
            threshold=0.5, shingle="words:2", recall=CERTAIN, fetch=by_id.__getitem__, max_age=max_age
        )
        found = told(stream.add_many(collection.documents, batch_size=batch_size))
    expected = [
        [(doc_id, similarity) for doc_id, similarity, _ in matches if row - ids.index(doc_id) <= max_age]
        for row, matches in enumerate(truth(collection, 0.5))
    ]
    assert found == expected
    assert len(stream) == min(len(ids), max_age)
    assert [doc_id in stream for doc_id in ids] == [len(ids) - row <= max_age for row in range(len(ids))]


def test_a_forgotten_id_can_be_added_again_and_memory_is_limited(monkeypatch):
    monkeypatch.setattr(deduplicator, "_FIRST_CAPACITY", 16)
    stream = StreamDeduplicator(shingle="words:1", max_age=10)
    for i in range(500):
        name = i % 11
        assert name not in stream
        assert stream.add(name, "" if i % 3 == 0 else f"one{i} two{i}") == ()
        with pytest.raises(ParameterError):
            stream.add(name, "again")
    assert len(stream._ids) <= 40
    assert len(stream._places) <= 11
    assert len(stream._keys) <= 64


@pytest.mark.parametrize("max_age", [None, 7])
def test_a_stream_that_is_saved_goes_on_as_if_it_had_not_been(tmp_path, max_age, monkeypatch):
    monkeypatch.setattr(deduplicator, "_FIRST_CAPACITY", 8)
    chance = random.Random(2)
    texts = [" ".join(chance.choices(["to", "be", "or", "not", "that"], k=chance.randrange(9))) for _ in range(80)]
    options = {"threshold": 0.6, "shingle": "words:2", "normalise": "case,space", "seed": 5, "size": 64}
    whole = StreamDeduplicator(**options, max_age=max_age)
    expected = [whole.add(i, text) for i, text in enumerate(texts)]
    stream = StreamDeduplicator(**options, max_age=max_age)
    for i, text in enumerate(texts):
        assert stream.add(i, text) == expected[i]
        stream.save(tmp_path / "stream")
        stream = StreamDeduplicator.open(str(tmp_path / "stream"))
    assert repr(stream) == repr(whole)
    assert vars(stream).keys() == vars(whole).keys()


_SAVING = """
import sys
from nearkin import StreamDeduplicator
stream = StreamDeduplicator()
for i in range(10**9):
    stream.add(i, f"text number {i} of some words")
    stream.save(sys.argv[1])
    print(i, flush=True)
"""


def test_a_process_that_is_killed_while_it_saves_leaves_a_whole_stream(tmp_path):
    path, chance = tmp_path / "stream", random.Random(8)
    source = Path(__file__).parents[2] / "src"
    environment = os.environ | {"PYTHONPATH": str(source)}
    for _ in range(3):
        command = [sys.executable, "-c", _SAVING, str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
            last = [int(process.stdout.readline()) for _ in range(20)][-1]
            time.sleep(chance.random() / 20)
            process.send_signal(signal.SIGKILL)
            last = max([last, *map(int, process.stdout.read().split("\n")[:-1])])
        stream = StreamDeduplicator.open(path)
        assert len(stream) in (last + 1, last + 2)  # what was reported, or what was saved and not reported yet
        assert all(i in stream for i in range(len(stream)))


def test_no_other_file_is_replaced(tmp_path):
    stream = StreamDeduplicator()
    stream.add("a", "the rent is due on the first day of each month")
    corpus, empty, place = tmp_path / "corpus.jsonl", tmp_path / "empty", tmp_path / "stream"
    corpus.write_text('{"text": "the only copy"}\n', "utf-8")
    with pytest.raises(OutputExistsError, match=r"corpus.jsonl already exists, and is not a saved stream. Choose"):
        stream.save(corpus)
    assert corpus.read_text("utf-8") == '{"text": "the only copy"}\n'
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OutputExistsError, match="not a saved stream"):
        stream.save(tmp_path / "pipe")
    empty.touch()
    for one in (place, place, empty):
        stream.save(one)
        assert len(StreamDeduplicator.open(one)) == 1
    (tmp_path / "nearkin.sqlite").touch()
    with pytest.raises(OutputError, match="is a collection"):
        stream.save(tmp_path / "new")
