"""Which column is the text, and which the ids, where nobody said: what cannot be told is asked."""

from __future__ import annotations

import pyarrow as pa
import pytest

from nearkin.errors import SourceError
from nearkin.stages.documents.columns import choose_columns, sample_of_records, sample_of_table

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
REFUSED = {
    "only an id": {"id": LONG},
    "only ids": {"id": "doc 1", "url": "https://host/an/article"},
    "an id and numbers": {"id": "doc 1", "n": 5},
    "an id and a list": {"id": "doc 1", "wording": [LONG]},
    "an id without values": {"id": None, "n": 5},
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


@pytest.mark.parametrize("name", REFUSED)
def test_an_id_is_never_the_text(name):
    for sample in samples([REFUSED[name]] * 3):
        with pytest.raises(SourceError, match=r"no column holds text.* Name the text column\."):
            choose_columns(sample, "in.jsonl", text=None, doc_id=None)
