from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from nearkin.stages.documents.encodings import looks_like_utf16
from nearkin.stages.documents.reader import read_batches
from nearkin.stages.documents.sources import Source

shared_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
Read = Callable[..., list[tuple[object, bytes | None, int, str | None]]]

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
records = st.lists(st.fixed_dictionaries({"id": texts, "text": texts, "other": st.none() | st.integers()}), max_size=12)


@shared_folder
@example([{"id": "a\u00a0name of 15 b.", "text": ""}], "\n", False, False, 60)  # its 16 bytes are no UUID
@given(records, st.sampled_from(["\n", "\r\n", "\n\n", " \n"]), st.booleans(), st.booleans(), st.integers(1, 60))
def test_what_json_writes_comes_back_the_same(
    read: Read, written: list[dict[str, str]], line_end: str, is_ascii: bool, ends: bool, batch_bytes: int
) -> None:
    data = line_end.join(json.dumps(record, ensure_ascii=is_ascii) for record in written)
    data += line_end if ends and written else ""
    step = line_end.count("\n")
    expected = [(r["id"] or None, r["text"].encode(), 1 + step * i, None) for i, r in enumerate(written)]
    assert read(data.encode(), "jsonl", batch_bytes=batch_bytes) == expected
    assert read(data.encode(), "jsonl") == expected


fragments = st.sampled_from(
    [
        b'{"id": 1, "text": "a"}', b'{"text": "b", "id": "x"}', b'{"text": null}', b"{}", b"null", b"[1]", b"", b"  ",
        b'{"text": "\\ud800"}', b'{"text": "\\ud83d\\ude00"}', b'{"text": "\xff"}', b'{"text": "a\x00b"}', b"\x00",
        b'{"text": {"text": "c"}}', b'{"text": 5}', b'{"text": "d"', b'{"text": "e"}}', b'{"text": "f"} {"text": "g"}',
        b'{"text": "h"} null {"text": "i"}', b'{"text": "j", "id": 9223372036854775808}', b'{"text": "k", "x": NaN}',
        b'{"text": "l", "text": "m"}', b'{"text": "n", "id": true}', b'{"text": "o", "id": 1.5}', b'{"a": {}', b"}",
        b'{"te\\u0078t": "p"}', b'{"text": "q",}', b"\xef\xbb\xbf{}", b'{"text": "r", "id": -0}',
        b'{"text": "s", "x": Inf}',
        b'{"text": "t", "id": null}', b'{"text": "u", "id": {"$oid": "5f"}}', b'{"text":',
    ]
)  # fmt: skip


@shared_folder
@given(st.lists(fragments, max_size=25), st.integers(1, 80))
@example([b"null", b'{"text": "a"}'], 1)
@example([b'{"text": "a"}', b'{"a":', b"{}}"], 80)
def test_a_bad_line_is_a_row_of_its_own_and_blocks_do_not_matter(read: Read, lines: list[bytes], size: int) -> None:
    data = b"\n".join(lines)
    assume(looks_like_utf16(data) is None)  # zeros and line ends in turns: the file is refused
    rows = read(data, "jsonl")

    def as_strings(row: tuple[object, ...]) -> tuple[object, ...]:
        return (None if row[0] is None else str(row[0]), *row[1:])

    assert [as_strings(row) for row in rows] == [as_strings(row) for row in read(data, "jsonl", batch_bytes=size)]
    first = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    assert [row[2] for row in rows] == [i for i, line in enumerate(first, start=1) if line.strip(b" \t\r\n")]
    for _, text, line, problem in rows:
        assert (text is None) == (problem is not None)
        assert text == _text_by_json(first[line - 1])


def _text_by_json(line: bytes) -> bytes | None:
    try:
        record = json.loads(line.decode("utf-8", "surrogateescape"))
    except ValueError:
        # Arrow knows one more name of infinity.
        return b"s" if b"Inf}" in line else None
    text = record.get("text") if isinstance(record, dict) else None
    if not isinstance(text, str):
        return None
    try:
        return text.encode()
    except UnicodeEncodeError:
        return None


def test_a_long_line_and_deep_nesting_pass(read: Read) -> None:
    long = b'{"id": "long", "text": "' + b"x" * 60_000_000 + b'"}\n'
    deep = b'{"id": "deep", "text": "y", "other": ' + b"[" * 200_000 + b"]" * 200_000 + b"}\n"
    rows = read(long + deep + b'{"id": "z", "text": ""}', "jsonl", batch_bytes=1 << 20)
    assert [(row[0], len(row[1] or b""), row[2]) for row in rows] == [
        ("long", 60_000_000, 1),
        ("deep", 1, 2),
        ("z", 0, 3),
    ]


@pytest.mark.parametrize("mark", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_is_believed(read: Read, mark: str) -> None:
    assert read('{"id": "ü", "text": "née 😀"}\n'.encode(mark), "jsonl")[0][:2] == ("ü", "née 😀".encode())


def ids_of(path: Path, data: bytes, batch_bytes: int) -> list[tuple[pa.DataType, list[object]]]:
    path.write_bytes(data)
    source = Source(path=str(path), name="input", format="jsonl", text="text", id="id", size_bytes=len(data))
    return [(b["doc_id"].type, b["doc_id"].to_pylist()) for b in read_batches(source, batch_bytes=batch_bytes)]


def test_ids_are_integers_until_one_is_not_and_none_is_lost(tmp_path: Path) -> None:
    lines = [f'{{"id": {i}, "text": "t"}}\n' for i in (1, 2, '"three"', 4, 2**63, 6)]
    found = ids_of(tmp_path / "input", "".join(lines).encode(), batch_bytes=24)
    types = [type_ for type_, _ in found]
    assert [i for _, ids in found for i in ids] == [1, 2, "three", "4", str(2**63), "6"]
    assert types == sorted(types, key=lambda type_: type_ != pa.int64())
    whole = ids_of(tmp_path / "input", "".join(lines).encode(), batch_bytes=1 << 20)
    assert whole == [(pa.large_string(), ["1", "2", "three", "4", str(2**63), "6"])]


def test_keep_values_are_numbers_true_and_false(keep_values: Callable[..., list[float | None]]) -> None:
    numbers = b'{"text":"a","n":1}\n{"text":"b","n":2.5}\n{"text":"c"}\n{"text":"d","n":"x"}\n{"text":"e","n":1e999}\n'
    assert keep_values(numbers, "jsonl", "n") == [1.0, 2.5, None, None, float("inf")]
    assert keep_values(b'{"text":"a","n":true}\n{"text":"b","n":false}\n', "jsonl", "n") == [1.0, 0.0]
