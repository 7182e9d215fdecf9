"""JSON Lines: one object per line.

Arrow reads a block of lines at a time without a Python object for each. If it refuses a block, the block is halved
until the refused lines are nearly alone; those are parsed by Python's own ``json``, which names the fault.
A line is bad only if both refuse it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.json
from numpy.typing import NDArray

from nearkin.records import I64
from nearkin.stages.documents.blocks import LineBlock, read_blocks
from nearkin.stages.documents.keeping import KeepColumn
from nearkin.stages.documents.rows import (
    IdType,
    RowList,
    RowPiece,
    ids_from_characters,
    null_positions,
    one_batch,
    problem_piece,
)
from nearkin.stages.documents.streams import ByteStream
from nearkin.stages.documents.text_path import TextPath, has_text, text_in
from nearkin.stages.documents.values import WrittenNumber, id_of, in_words, text_of

_SLOW_LINES = 8
_FEW_LINES = 64
_WHITE = b" \t\r\n"


@dataclass(slots=True)
class _Wanted:
    """The columns to read, with their types as learnt from earlier blocks."""

    text: str
    doc_id: str | None
    keeper: KeepColumn | None
    carry: Sequence[str]
    id_types: list[pa.DataType] = field(default_factory=lambda: [pa.int64(), pa.binary()])
    keep_types: list[pa.DataType] = field(default_factory=lambda: [pa.float64(), pa.bool_(), pa.binary()])
    is_settled: bool = False

    @property
    def is_inside(self) -> bool:
        """Whether the text may be inside a list or an object."""
        return TextPath.of(self.text) is not None

    @property
    def keep(self) -> str | None:
        """The column to keep by."""
        return None if self.keeper is None else self.keeper.name

    def types_to_try(self, n_lines: int) -> list[tuple[pa.DataType, pa.DataType]]:
        """Return types of the id and the column to keep by: those that fitted before; all if none did or it is cheap.

        A block with one bad line is refused for any types, so trying all of them would be in vain.
        """
        id_types = self.id_types if self.doc_id is not None else self.id_types[:1]
        keep_types = self.keep_types if self.keep is not None else self.keep_types[:1]
        pairs = [(id_type, keep_type) for id_type in id_types for keep_type in keep_types]
        return pairs[:1] if self.is_settled and n_lines > _FEW_LINES else pairs

    def settle(self, id_type: pa.DataType, keep_type: pa.DataType) -> None:
        """Remember types that fitted, to try them first."""
        self.is_settled = True
        self.id_types.sort(key=lambda type_: bool(type_ != id_type))
        self.keep_types.sort(key=lambda type_: bool(type_ != keep_type))


@dataclass(frozen=True, slots=True)
class _JsonLines:
    """The lines of a block that are not blank: bounds and number of each."""

    data: memoryview
    starts: I64
    ends: I64
    numbers: I64
    looks_whole: bool

    def __len__(self) -> int:
        return len(self.starts)

    def part(self, first: int, stop: int) -> _JsonLines:
        """Return some of the lines."""
        within = slice(first, stop)
        data, starts, ends = self.data, self.starts[within], self.ends[within]
        return _JsonLines(data, starts, ends, self.numbers[within], _looks_whole(_as_bytes(data), starts, ends))

    def line(self, index: int) -> bytes:
        """Return the bytes of one line."""
        return bytes(self.data[self.starts[index] : self.ends[index]])


def read_jsonl(
    stream: ByteStream,
    *,
    text: str,
    doc_id: str | None,
    keep: KeepColumn | None,
    batch_bytes: int,
    max_document_bytes: int,
    carry: Sequence[str] = (),
) -> Iterator[pa.RecordBatch]:
    """Yield batches of documents, one for each block that is not entirely blank."""
    wanted = _Wanted(text, doc_id, keep, carry)
    ids = IdType()
    for block in read_blocks(stream, batch_bytes, max_document_bytes):
        if block.problem is not None:
            yield one_batch([problem_piece(block.first_line, block.problem)], ids)
            continue
        lines = _find_lines(block)
        if len(lines):
            yield one_batch(list(_read_lines(lines, wanted)), ids)


def _as_bytes(data: memoryview) -> NDArray[np.uint8]:
    return np.frombuffer(data, np.uint8)


def _find_lines(block: LineBlock) -> _JsonLines:
    """Return the lines of a block without surrounding white space; blank lines are omitted but counted."""
    data, ends = block.data, block.newlines
    view = _as_bytes(data)
    if data[-1] != ord("\n"):
        ends = np.append(ends, len(data))
    starts = np.concatenate([[0], ends[:-1] + 1])
    numbers = np.arange(block.first_line, block.first_line + len(ends), dtype=np.int64)
    ends = ends - ((ends > starts) & (view[np.maximum(ends - 1, 0)] == ord("\r")))
    looks_whole = _looks_whole(view, starts, ends)
    if not looks_whole:
        starts, ends = _stripped(data, view, starts, ends)
        is_there = ends > starts
        starts, ends, numbers = starts[is_there], ends[is_there], numbers[is_there]
        looks_whole = _looks_whole(view, starts, ends)
    return _JsonLines(data, starts, ends, numbers, looks_whole)


def _looks_whole(view: NDArray[np.uint8], starts: I64, ends: I64) -> bool:
    """Whether each line runs from ``{`` to ``}``.

    Then no object extends over the end of a line: a ``}`` inside an object is never followed by ``{``. So Arrow, which
    ignores line ends, finds as many objects as lines only if each line has one. It also keeps a bare ``null`` from the
    beginning of Arrow's input, which would crash the process.
    """
    if not len(starts) or not bool((ends > starts).all()):
        return False
    return bool((view[starts] == ord("{")).all() and (view[ends - 1] == ord("}")).all())


def _stripped(data: memoryview, view: NDArray[np.uint8], starts: I64, ends: I64) -> tuple[I64, I64]:
    """Return the bounds of the lines without surrounding white space."""
    starts, ends = starts.copy(), ends.copy()
    odd = (ends <= starts) | (view[np.minimum(starts, len(view) - 1)] != ord("{")) | (view[ends - 1] != ord("}"))
    for index in np.flatnonzero(odd):
        line = bytes(data[starts[index] : ends[index]])
        starts[index] += len(line) - len(line.lstrip(_WHITE))
        ends[index] = starts[index] + len(line.strip(_WHITE))
    return starts, ends


def _read_lines(lines: _JsonLines, wanted: _Wanted) -> Iterator[RowPiece]:
    """Yield the lines as pieces in order: one if all are good, more around the lines that Arrow refuses."""
    piece = _read_fast(lines, wanted) if lines.looks_whole else None
    if piece is not None:
        yield piece
    elif len(lines) <= _SLOW_LINES or wanted.is_inside:
        yield _read_slow(lines, wanted)
    else:
        for first, stop in pairwise((0, len(lines) // 2, len(lines))):
            yield from _read_lines(lines.part(first, stop), wanted)


def _read_fast(lines: _JsonLines, wanted: _Wanted) -> RowPiece | None:
    """Read lines with Arrow; return None if it refuses them."""
    if wanted.is_inside:
        return None
    start, end = int(lines.starts[0]), int(lines.ends[-1])
    buffer = pa.py_buffer(lines.data)[start:end]
    table = _arrow_table(buffer, len(lines), wanted, _types_to_carry(lines, wanted.carry))
    if table is None or len(table) != len(lines):
        return None
    texts = _only_chunk(table.column("text")).cast(pa.large_binary())
    problems = pa.nulls(len(lines), pa.large_string())
    if texts.null_count:
        problems = _why_null(lines, texts, wanted.text)
    doc_ids = pa.nulls(len(lines))
    if wanted.doc_id is not None:
        doc_ids = _only_chunk(table.column("doc_id"))
        if not pa.types.is_int64(doc_ids.type):
            doc_ids = ids_from_characters(doc_ids)
    keep_values = pa.nulls(len(lines), pa.float64())
    if wanted.keeper is not None:
        keep_values = wanted.keeper.of_json(_only_chunk(table.column("keep_value")))
    carried = [_only_chunk(table.column(f"carried {name}")) for name in wanted.carry]
    return RowPiece(
        doc_id=doc_ids, text=texts, line=lines.numbers, problem=problems, keep_value=keep_values,
        carried=[one if pa.types.is_int64(one.type) else ids_from_characters(one) for one in carried],
    )  # fmt: skip


def _types_to_carry(lines: _JsonLines, names: Sequence[str]) -> Mapping[str, pa.DataType]:
    """Return the types of carried columns: that of the first value of each in the first lines."""
    types = dict[str, pa.DataType]()
    for index in range(min(len(lines), _FEW_LINES) if names else 0):
        record = _load(lines.line(index)).value
        for name, value in record.items() if isinstance(record, dict) else ():
            if name in names and value is not None:
                types.setdefault(name, pa.int64() if isinstance(value, int) else pa.binary())
        if len(types) == len(names):
            break
    return {name: types.get(name, pa.binary()) for name in names}


def _only_chunk(column: pa.ChunkedArray) -> pa.Array:
    """Return the column as a single chunk."""
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)


def _arrow_table(
    buffer: pa.Buffer, n_lines: int, wanted: _Wanted, carried: Mapping[str, pa.DataType]
) -> pa.Table | None:
    """Return the wanted columns under our names; None if the types do not fit."""
    read_options = pa.json.ReadOptions(use_threads=False, block_size=buffer.size + 64)
    for id_type, keep_type in wanted.types_to_try(n_lines):
        # binary instead of string: Arrow does not check UTF-8 in either
        types = {**carried, wanted.text: pa.binary()}
        if wanted.keep is not None:
            types[wanted.keep] = keep_type
        if wanted.doc_id is not None:
            types[wanted.doc_id] = id_type
        parse_options = pa.json.ParseOptions(
            explicit_schema=pa.schema(list(types.items())), unexpected_field_behavior="ignore"
        )
        try:
            table = pa.json.read_json(pa.BufferReader(buffer), read_options=read_options, parse_options=parse_options)
        except (pa.ArrowInvalid, UnicodeDecodeError):  # the latter if the message quotes invalid UTF-8
            continue
        wanted.settle(id_type, keep_type)
        return _renamed(table, wanted)
    return None


def _renamed(table: pa.Table, wanted: _Wanted) -> pa.Table:
    """Return the columns under our names; one column of the file may be used twice."""
    columns = {"text": table.column(wanted.text)}
    if wanted.doc_id is not None:
        columns["doc_id"] = table.column(wanted.doc_id)
    if wanted.keep is not None:
        columns["keep_value"] = table.column(wanted.keep)
    columns |= {f"carried {name}": table.column(name) for name in wanted.carry}
    return pa.table(columns)


def _why_null(lines: _JsonLines, texts: pa.Array, text: str) -> pa.Array:
    """Return, for each null text, whether the key is missing or null."""
    problems: list[str | None] = [None] * len(lines)
    for index in null_positions(texts):
        record = _load(lines.line(index)).value
        problems[index] = no_key(text) if isinstance(record, dict) and text not in record else "empty: the text is null"
    return pa.array(problems, pa.large_string())


def no_key(text: str) -> str:
    """Return the problem of an object without the key of the text."""
    return f"no such column: the object has no key {text!r}"


def _read_slow(lines: _JsonLines, wanted: _Wanted) -> RowPiece:
    """Read lines one by one; each bad one becomes a row with its problem."""
    rows = RowList()
    for index in range(len(lines)):
        number, loaded = int(lines.numbers[index]), _load(lines.line(index))
        if loaded.problem is not None:
            part = lines.part(index, index + 1)
            alone = _read_fast(part, wanted) if part.looks_whole else None
            if alone is None:
                rows.add(number, problem=loaded.problem)
            else:
                rows.extend(alone)
            continue
        record = loaded.value
        if not isinstance(record, dict):
            rows.add(number, problem=f"damaged: not a JSON object but {in_words(record)}")
            continue
        if has_text(record, wanted.text):
            text, problem = text_of(text_in(record, wanted.text), is_utf8=loaded.is_utf8)
        else:
            text, problem = None, no_key(wanted.text)
        doc_id = None if wanted.doc_id is None else _id_of(record.get(wanted.doc_id), is_utf8=loaded.is_utf8)
        carried = [_id_of(record.get(name), is_utf8=loaded.is_utf8) for name in wanted.carry]
        keep_value = None if wanted.keeper is None else wanted.keeper.of_value(record.get(wanted.keeper.name))
        rows.add(number, doc_id, text, problem, keep_value, carried=carried)
    return rows.piece()


def _id_of(value: object, *, is_utf8: bool) -> int | str | bytes | None:
    """Return an id or a carried value; in a line that is not UTF-8 its bytes, as Arrow does."""
    doc_id = id_of(value)
    return doc_id if is_utf8 or not isinstance(doc_id, str) else _with_bytes(doc_id)


def _with_bytes(characters: str) -> bytes:
    """Return an id with the bytes for which its surrogates stand; other surrogates are escaped."""
    escaped = re.sub("[\ud800-\udc7f\udd00-\udfff]", lambda found: f"\\u{ord(found[0]):04x}", characters)
    return escaped.encode("utf-8", "surrogateescape")


@dataclass(frozen=True, slots=True)
class _Loaded:
    """The content of one line, or the reason why it has none."""

    value: object
    problem: str | None
    is_utf8: bool


def _load(line: bytes) -> _Loaded:
    """Parse one line with Python's ``json``; bytes that are not UTF-8 become surrogates."""
    try:
        characters, is_utf8 = line.decode(), True
    except UnicodeDecodeError:
        characters, is_utf8 = line.decode("utf-8", "surrogateescape"), False
    try:
        return _Loaded(_parsed(characters), None, is_utf8)
    except json.JSONDecodeError as error:
        if characters.startswith("\ufeff"):
            return _Loaded(None, "damaged: not valid JSON: a byte order mark, as where two files were joined", is_utf8)
        # some of the messages already end in "at"
        return _Loaded(
            None, f"damaged: not valid JSON: {error.msg.removesuffix(' at')} at column {error.colno}", is_utf8
        )
    except RecursionError:
        return _Loaded(None, "damaged: not valid JSON: nested too deeply", is_utf8)


def _parsed(characters: str) -> object:
    """Parse a line, including numbers of any length and size."""
    try:
        return json.loads(characters, parse_float=_float)
    except json.JSONDecodeError:
        raise
    except ValueError:  # Python's limit on the digits of an integer
        return json.loads(characters, parse_int=WrittenNumber, parse_float=_float)


def _float(characters: str) -> float | WrittenNumber:
    """Return a number with a fraction or an exponent; one that is larger than every float stays as it is written."""
    number = float(characters)
    return WrittenNumber(characters) if math.isinf(number) else number
