"""Which column is the text, and which the ids, where nobody said: what cannot be told is asked."""

from __future__ import annotations

import json

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nearkin
from nearkin.errors import SourceError
from nearkin.stages.documents.column_samples import sample_of_records, sample_of_table
from nearkin.stages.documents.columns import choose_columns
from nearkin.stages.documents.reader import read_batches
from nearkin.stages.documents.sources import resolve_sources

LONG = "a sentence of some words, which is a text of its own"
TOLD = {
    "the likely name": ({"title": LONG, "text": "short"}, "text", None),
    "a likely name in another case": ({"Title": LONG, " Body ": "short", "other": LONG}, " Body ", None),
    "the only column": ({"wording": "short"}, "wording", None),
    "an id beside it": ({"id": LONG, "wording": "short"}, "wording", "id"),
    "an address beside it": (
        {"url": "https://host/a/very/long/path/of/an/article", "wording": "short"},
        "wording",
        "url",
    ),
    "labels beside it": ({"abstract": LONG, "lang": "en", "kind": "a b"}, "abstract", None),
    "numbers and dates in characters beside it": (
        {"abstract": "three little words", "year": "2004-02-03"},
        "abstract",
        None,
    ),
    "numbers beside a word": ({"word": "lease", "n": "1.5", "m": "-"}, "word", None),
    "a script without spaces": ({"标题": "第一", "正文": "这是一个很长的文件内容。"}, "正文", None),
    "no title as an id": ({"title": "a title", "body": LONG}, "body", None),
    "nothing in any": ({"first": "", "second": ""}, "first", None),
    "null in the likely name": ({"id": "doc 1", "text": None}, "text", "id"),
    "null in the likely name, beside a title": ({"id": "doc 1", "title": LONG, "text": None}, "text", "id"),
    "a likely name that holds a list, and one that fits": ({"text": [LONG], "body": "short"}, "body", None),
    "null in the only column beside the id": ({"id": LONG, "wording": None}, "wording", "id"),
    "null in a column beside a text": ({"id": "doc 1", "wording": LONG, "note": None}, "wording", "id"),
    "null in the id": ({"id": None, "text": LONG}, "text", "id"),
    "null in the id, beside an address": ({"id": None, "url": "https://host/a", "text": LONG}, "text", "url"),
    "a name beside the id": ({"id": "doc 1", "name": LONG}, "name", "id"),
}
ASKED = {
    "instructions": ("instruction", "input", "output"),
    "prompts": ("prompt", "completion"),
    "questions": ("question", "answer"),
    "pairs of sentences": ("sentence1", "sentence2"),
    "a title": ("title", "abstract"),
    "two texts": ("left", "right"),
}
UNFIT = {"a list": [LONG], "an object": {"part": LONG}, "a number": 5, "true or false": True}
REFUSED = {
    "only an id": {"id": LONG},
    "only ids": {"id": "doc 1", "url": "https://host/an/article"},
    "an id and numbers": {"id": "doc 1", "n": 5},
    "an id and a list": {"id": "doc 1", "wording": [LONG]},
    "an id without values": {"id": None, "n": 5},
}
UNDECIDED = {
    "a label beside a column without values": {"id": "doc 1", "lang": "en", "wording": None},
    "a name beside a column without values": {"id": "doc 1", "name": LONG, "wording": None},
    "two columns without values": {"id": "doc 1", "wording": None, "note": None},
    "one part of two without values": {"id": "doc 1", "prompt": LONG, "completion": None},
}


def samples(records: list[dict[str, str]]):
    yield sample_of_records(records)
    yield sample_of_table(pa.Table.from_pylist(records))


@pytest.mark.parametrize("name", TOLD)
def test_what_is_guessed(name):
    record, text, doc_id = TOLD[name]
    for sample in samples([record] * 3):
        columns = choose_columns(sample, "in", text=None, doc_id=None)
        assert (columns.text, columns.id) == (text, doc_id)


@pytest.mark.parametrize("name", ASKED)
def test_what_is_asked(name):
    """Also where one is far longer than the others: an answer may be a word."""
    fields = ASKED[name]
    for value in (LONG, "yes") if name not in ("a title", "two texts") else (LONG,):
        record = {"id": "a", **{field: LONG * 9 if i == 0 else value for i, field in enumerate(fields)}}
        for sample in samples([record] * 3):
            with pytest.raises(SourceError) as caught:
                choose_columns(sample, "in.jsonl", text=None, doc_id=None)
            every = ", ".join(fields)
            assert str(caught.value) == (
                f"text: in.jsonl: several columns hold text, and none has a likely name: {every}. Name "
                f"the one to compare (the columns are: id, {every})."
            )
            assert choose_columns(sample, "in", text=fields[-1], doc_id=None).text == fields[-1]


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "tsv"])
def test_files_ask_before_anything_is_read(tmp_path, suffix):
    path = tmp_path / f"in.{suffix}"
    comma = "\t" if suffix == "tsv" else ","
    if suffix == "jsonl":
        path.write_text(json.dumps({"instruction": LONG.replace(",", ""), "output": "yes"}) + "\n")
    else:
        path.write_text(f"id{comma}instruction{comma}output\n1{comma}{LONG.replace(',', '')}{comma}yes\n")
    with pytest.raises(SourceError, match=r"instruction, output\. Name the one to compare"):
        resolve_sources([str(path)])
    (source,) = resolve_sources([str(path)], text="output").sources
    assert source.text == "output"


@pytest.mark.parametrize("name", UNFIT)
@pytest.mark.parametrize("other", ["id", "title"])
def test_a_likely_name_that_cannot_hold_text_is_refused(name, other):
    """Also where another column has text: it is not taken in its place."""
    for sample in samples([{other: LONG, "text": UNFIT[name]}] * 3):
        kind = sample.unfit["text"]
        assert kind in (name, "list<item: string>", "struct<part: string>", "int64", "bool")
        with pytest.raises(SourceError) as caught:
            choose_columns(sample, "in.jsonl", text=None, doc_id=None)
        assert str(caught.value) == (
            f"text: in.jsonl: the column 'text' has the name of a text but holds {kind}, not strings. Name the "
            f"text column (the columns are: {other}, text)."
        )


def test_what_stands_beside_a_conversation_is_not_the_text():
    sample = sample_of_records([{"system": LONG, "conversations": [{"from": "human", "value": LONG}]}] * 3)
    with pytest.raises(SourceError, match=r"conversations\[\]") as caught:
        choose_columns(sample, "in.jsonl", text=None, doc_id=None)
    assert caught.value.parameter == "text"


def test_one_string_among_the_first_values_is_enough():
    sample = sample_of_records([{"id": "a", "text": [LONG]}] * 9 + [{"id": "a", "text": LONG}])
    assert choose_columns(sample, "in", text=None, doc_id=None).text == "text"


@pytest.mark.parametrize("name", REFUSED)
def test_an_id_is_never_the_text(name):
    for sample in samples([REFUSED[name]] * 3):
        with pytest.raises(SourceError, match=r"no column holds text.* Name the text column\."):
            choose_columns(sample, "in.jsonl", text=None, doc_id=None)


@pytest.mark.parametrize("name", UNDECIDED)
def test_a_column_without_values_may_be_the_text(name):
    for sample in samples([UNDECIDED[name]] * 3):
        with pytest.raises(SourceError, match=r"several columns hold text, and none has a likely name"):
            choose_columns(sample, "in.jsonl", text=None, doc_id=None)


@pytest.mark.parametrize("type_", [pa.null(), pa.string(), pa.large_string(), pa.binary(), pa.string_view()])
@pytest.mark.parametrize("suffix", ["parquet", "arrow", "feather"])
def test_texts_that_begin_with_nulls_in_tables(tmp_path, type_, suffix):
    texts = pa.nulls(30, type_) if pa.types.is_null(type_) else pa.array([None] * 25 + [LONG] * 5, type_)
    table = pa.table({"id": [f"doc {i}" for i in range(30)], "text": texts})
    path = tmp_path / f"in.{suffix}"
    if suffix == "parquet":
        pq.write_table(table, path)
    else:
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table)
    (source,) = resolve_sources([str(path)]).sources
    assert (source.text, source.id) == ("text", "id")
    batches = list(read_batches(source))
    assert sum(batch["problem"].null_count for batch in batches) == (0 if pa.types.is_null(type_) else 5)


@pytest.mark.parametrize("values", [[["a"]], [{"a": "b"}], [5]])
@pytest.mark.parametrize("suffix", ["parquet", "arrow", "jsonl"])
def test_texts_of_another_type_in_files(tmp_path, values, suffix):
    path = tmp_path / f"in.{suffix}"
    table = pa.table({"id": ["doc 1"], "text": values})
    if suffix == "parquet":
        pq.write_table(table, path)
    elif suffix == "arrow":
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table)
    else:
        path.write_text(json.dumps(table.to_pylist()[0]) + "\n")
    with pytest.raises(SourceError, match=r"^text: .*the column 'text' has the name of a text but holds"):
        resolve_sources([str(path)])


@pytest.mark.parametrize("made", [list, pd.DataFrame, pa.Table.from_pylist, iter])
def test_texts_that_begin_with_nulls_in_memory(made):
    records = [{"id": f"doc {i}", "text": None if i < 20 else f"{LONG} {i % 3}"} for i in range(60)]
    found = nearkin.dedup(made(records), max_unreadable=1.0)
    assert found.documents["reason"].to_pylist().count("unreadable") == 20
    assert found.documents["id"].to_pylist()[0] == "doc 0"


@pytest.mark.parametrize("made", [list, pa.Table.from_pylist])
def test_ids_that_begin_with_nulls(made):
    """The others are kept; a document whose id is null has none, as always."""
    records = [{"id": None if i < 20 else f"doc {i}", "text": f"{LONG} {i}"} for i in range(30)]
    found = nearkin.dedup(made(records))
    assert found.documents["id"].to_pylist() == [None] * 20 + [f"doc {i}" for i in range(20, 30)]
