"""Every engine finds the same pairs of two collections, down to the bytes of the tables."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_counts import examples
from in_process import Frame, InProcess
from nearkin.engines.local import LOCAL, Engine
from nearkin.engines.spark.session import Cluster
from nearkin.errors import ParameterError
from nearkin.kernels.buffers import strings
from nearkin.manifests.pairs import SideFacts
from nearkin.options.pairs import PairOptions
from nearkin.planning.pairs.search import PairSearch
from nearkin.records import WeightedVectors
from nearkin.runs.progress import Meter, Silent
from nearkin.runs.spool import GrowingArray
from nearkin.stages.features.vocabulary import hashes_of
from nearkin.workflows.pairing import collecting
from nearkin.workflows.pairing import searching as searching_here
from nearkin.workflows.pairing.inputs import PairInput
from nearkin.workflows.pairing.job import pair_files
from nearkin.workflows.pairing.on_spark import job, searching
from nearkin.workflows.pairing.on_spark.job import FrameSide, pair_frames
from nearkin.workflows.pairing.on_spark.searching import search_all
from nearkin.workflows.pairing.searching import FoundPairs, search
from nearkin.workflows.pairing.vectors import PairVectors, vector_place
from nearkin.workflows.reading.request import ReadingRequest
from nearkin.workflows.resources import Resources
from translated_corpus import translated_corpus

N_TERMS = 30
VECTORS = PairSearch("vectors")
SIGNATURES = PairSearch("signatures", bits=64, distance=26)
WINDOW = PairSearch("window", bits=64, distance=28, permutations=4, window=9)


@dataclass(frozen=True)
class Cut:
    """How small the work is cut."""

    part: int = 7
    rows_a_meeting: int = 5
    tiles_a_round: int = 4
    chunk_size: int = 6
    orders_a_round: int = 5
    weighed_at_once: int = 8


@contextlib.contextmanager
def cut_small(cut: Cut, way: PairSearch, vectors: PairVectors) -> Iterator[None]:
    """Many parts, chunks, tiles and rounds: what large collections have."""
    n_documents = int((vectors.left.sizes > 0).sum() + (vectors.right.sizes > 0).sum())
    with cut_into(cut, n_documents, way.bits):
        yield


@contextlib.contextmanager
def cut_into(cut: Cut, n_documents: int, bits: int) -> Iterator[None]:
    row_bytes = 4 + 8 * -(-bits // 64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(searching, "PART", cut.part)
        patch.setattr(searching, "_ROWS_A_MEETING", cut.rows_a_meeting)
        patch.setattr(searching, "_TILES_A_ROUND", cut.tiles_a_round)
        patch.setattr(searching, "chunk_size", lambda window, row_bytes: cut.chunk_size)
        patch.setattr(searching, "_ROUND_BYTES", cut.orders_a_round * n_documents * row_bytes)
        patch.setattr(searching, "_SENT_AT_ONCE", 10)
        for module in (collecting, job):
            patch.setattr(module, "PART", cut.weighed_at_once)
        patch.setattr(job, "_DOCUMENTS_A_TASK", 4 * cut.weighed_at_once)
        yield


def documents(seed: int, n: int, *, n_kinds: int, empty: float = 0.1) -> WeightedVectors:
    """Vectors of some kinds, those of a kind equal or alike, and some documents without one."""
    draw = np.random.default_rng(seed)
    kinds = [np.random.default_rng([7, kind]).permutation(N_TERMS)[:8] for kind in range(n_kinds)]
    terms, weights, sizes = [], [], [0]
    for _ in range(n):
        own = np.zeros(0, np.int64)
        if draw.random() >= empty:
            own = np.sort(kinds[draw.integers(n_kinds)][: draw.integers(5, 9)])
        weight = np.sqrt(1.0 + own % 3)
        terms.append(own)
        weights.append(weight / max(float(np.sqrt((weight**2).sum())), 1e-9))
        sizes.append(len(own))
    offsets = np.cumsum(sizes).astype(np.int64)
    return WeightedVectors(np.concatenate(terms).astype(np.int32), np.concatenate(weights).astype(np.float32), offsets)


def pair_vectors(folder: Path, left: WeightedVectors, right: WeightedVectors) -> PairVectors:
    """As `vectors_of` makes them: the arrays stand in a folder."""
    sides = []
    for side, own in (("left", left), ("right", right)):
        arrays = []
        for name, array in (("terms", own.terms), ("weights", own.weights)):
            growing = GrowingArray(vector_place(folder, side, name), array.dtype)
            growing.add(array)
            arrays.append(growing.mapped())
        sides.append(WeightedVectors(*arrays, own.offsets))
    words = strings([f"word{i}" for i in range(N_TERMS)])
    facts = SideFacts(
        n_documents=1,
        n_unreadable=0,
        n_few_terms=0,
        n_vectors=1,
        n_words=N_TERMS,
        n_rare_words=0,
        mean_terms=1.0,
        ways={},
    )
    return PairVectors(
        left=sides[0], right=sides[1], words=words, hashes=hashes_of(words), fingerprint="test", left_facts=facts,
        right_facts=facts,
    )  # fmt: skip


def by_local(vectors: PairVectors, way: PairSearch, *, top: int | None = None) -> FoundPairs:
    return search(vectors, way, 0.5, top=top, seed=3, threads=2, meter=Meter(Silent()))


def by_tasks(vectors: PairVectors, way: PairSearch, folder: Path, stages: InProcess, *, top: int | None = None):
    (folder / "work").mkdir(exist_ok=True)
    return search_all(stages, vectors, way, 0.5, top=top, seed=3, arrays=folder, work=folder / "work")


def assert_same(found: FoundPairs, expected: FoundPairs) -> None:
    np.testing.assert_array_equal(found.keys, expected.keys)
    np.testing.assert_array_equal(found.cosine, expected.cosine)
    assert (found.n_comparisons, found.n_candidates) == (expected.n_comparisons, expected.n_candidates)


@settings(max_examples=examples(150))
@given(
    st.integers(0, 2**32),
    st.tuples(st.integers(1, 40), st.integers(1, 40)),
    st.sampled_from([1, 3, 20]),
    st.sampled_from([0.0, 0.4]),
    st.builds(
        PairSearch,
        st.just("window"),
        st.sampled_from([8, 40, 64, 136]),
        st.integers(0, 8),
        st.integers(1, 4),
        st.sampled_from([1, 2, 5, 30, 1000]),
    ),
    st.builds(Cut, part=st.integers(1, 30), chunk_size=st.integers(1, 90)),
    st.sampled_from([None, 1, 2]),
)
def test_any_window(tmp_path_factory, seed, sizes, n_kinds, empty, way, cut, top):
    """A chunk may be empty, smaller than the window, or all there is; equal signatures fill several of them."""
    folder = tmp_path_factory.mktemp("any")
    sides = [documents(seed + i, n, n_kinds=n_kinds, empty=empty) for i, n in enumerate(sizes)]
    if not all(len(side.terms) for side in sides):
        return
    vectors = pair_vectors(folder, *sides)
    way = replace(way, distance=way.distance * way.bits // 16)
    with cut_small(cut, way, vectors):
        assert_same(by_tasks(vectors, way, folder, InProcess(), top=top), by_local(vectors, way, top=top))


@settings(max_examples=examples(60))
@given(
    st.integers(0, 2**32),
    st.tuples(st.integers(1, 40), st.integers(1, 40)),
    st.sampled_from([VECTORS, SIGNATURES]),
    st.builds(Cut, part=st.integers(1, 30), tiles_a_round=st.integers(1, 5)),
    st.sampled_from([None, 1, 2]),
)
def test_any_tiles(tmp_path_factory, seed, sizes, way, cut, top):
    folder = tmp_path_factory.mktemp("any")
    sides = [documents(seed + i, n, n_kinds=4, empty=0.3) for i, n in enumerate(sizes)]
    if not all(len(side.terms) for side in sides):
        return
    vectors = pair_vectors(folder, *sides)
    with cut_small(cut, way, vectors):
        assert_same(by_tasks(vectors, way, folder, InProcess(), top=top), by_local(vectors, way, top=top))


@pytest.mark.parametrize("orders_a_round", [1, 3])
def test_rounds_find_the_same(orders_a_round, tmp_path):
    """Candidates of an earlier round are forgotten, as one machine forgets them when it holds many."""
    vectors = pair_vectors(tmp_path, documents(5, 60, n_kinds=9), documents(6, 50, n_kinds=9))
    for top in (None, 2):
        expected = by_local(vectors, WINDOW, top=top)
        with cut_small(Cut(orders_a_round=orders_a_round), WINDOW, vectors):
            stages = InProcess()
            found = by_tasks(vectors, WINDOW, tmp_path, stages, top=top)
        assert sum(name.startswith("pairs-") for name in stages.stages) == -(-4 // orders_a_round)
        assert_same(replace(found, n_candidates=0), replace(expected, n_candidates=0))
        assert found.n_candidates >= expected.n_candidates


@pytest.mark.parametrize("way", [SIGNATURES, WINDOW], ids=lambda way: way.method)
def test_a_search_goes_on_where_it_stood(way, tmp_path):
    vectors = pair_vectors(tmp_path, documents(5, 60, n_kinds=9), documents(6, 50, n_kinds=9))
    stages = InProcess()
    with cut_small(Cut(orders_a_round=1), way, vectors):
        expected = by_tasks(vectors, way, tmp_path, stages)
        last = max(name for name in stages.stages if name.startswith("pairs-"))
        del stages.stages[last]
        stages.stages.pop(last.replace("pairs", "sort"), None)
        assert_same(by_tasks(vectors, way, tmp_path, stages), expected)
    assert not list(tmp_path.glob("work/chunks/*"))


def test_too_many_pairs_are_refused(tmp_path, monkeypatch):
    vectors = pair_vectors(tmp_path, documents(1, 40, n_kinds=2), documents(2, 40, n_kinds=2))
    monkeypatch.setattr(searching_here, "MAX_PAIRS", 100)
    with cut_small(Cut(), SIGNATURES, vectors), pytest.raises(ParameterError, match="More than 100 pairs"):
        by_tasks(vectors, SIGNATURES, tmp_path, InProcess())


BY_WINDOW = {"method": "window", "bits": 64, "distance": 26, "permutations": 5, "window": 12}
BY_SIGNATURES = {"method": "signatures", "bits": 64, "distance": 24}
BY_VECTORS = {"method": "vectors"}
TABLES = ("pairs.parquet", "pairs.tsv", "known.tsv", "documents.parquet", "exceptions.csv")


@dataclass(frozen=True)
class Case:
    """Two collections, by default those of two languages that `translated_corpus` makes, and how they are searched.

    Texts are in some files of JSON Lines; what is no text is a record of its own. The left side has further files,
    whose texts are extracted.
    """

    options: Mapping[str, object] = field(default_factory=dict)
    texts: tuple[Sequence[object], Sequence[object]] | None = None
    known: str | None = None
    has_table: bool = True
    is_swapped: bool = False
    cut: Cut = Cut(part=50, chunk_size=20)
    n_files: int = 1
    files: Mapping[str, bytes] = field(default_factory=dict)

    def given(self, folder: Path) -> PairInput:
        corpus = translated_corpus(folder, n=60)
        sides = self.texts or (corpus.left_texts, corpus.right_texts)
        left, right = (written(folder / name, own, self.n_files) for name, own in zip(("left", "right"), sides))
        if self.files:
            (folder / "mails").mkdir()
            for name, content in self.files.items():
                (folder / "mails" / name).write_bytes(content)
            left = replace(left, inputs=[*left.inputs, str(folder / "mails")])
        if self.is_swapped:
            return PairInput(right, left, corpus.table, "aa")
        return PairInput(left, right, corpus.table if self.has_table else None)


def written(folder: Path, texts: Sequence[object], n_files: int) -> ReadingRequest:
    folder.mkdir()
    records = [one if isinstance(one, dict) else {"id": f"document {i}", "text": one} for i, one in enumerate(texts)]
    size = max(1, -(-len(records) // n_files))
    for i in range(n_files):
        lines = [json.dumps(one) for one in records[i * size : (i + 1) * size]]
        (folder / f"{i}.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return ReadingRequest(inputs=[str(folder)], doc_id="id", text="text")


PROSE = [f"{' '.join(f'w{(i * k) % 97}' for k in range(1, 20))} end" for i in range(40)]
ONE = {"texts": (PROSE, PROSE[10:]), "has_table": False}
EQUAL = {"texts": ([PROSE[3]] * 30, [PROSE[3]] * 25), "has_table": False}
EMPTY = {"texts": (["", *PROSE[:9], " ", ""], ["!?", *PROSE[:8], ""]), "has_table": False}
MIXED = {
    "texts": (
        [{"id": i % 7, "text": PROSE[i % 9]} for i in range(30)],
        [{"id": "a"}, *PROSE[:20], {"id": "b", "text": 7}, *PROSE[5:9]],
    ),
    "has_table": False,
    "n_files": 4,
}

DAMAGED = {
    "a.eml": b"Subject: A\nFrom: a@b.org\n\nSome words of a mail.\n",
    "b.pdf": b"%PDF-1.4 damaged",
    "c.txt": b" \n",
    "d.zip": b"PK\x03\x04 damaged",
}


def cases() -> dict[str, Case]:
    known = "same-ids"
    tiny = Cut(part=1, chunk_size=1, rows_a_meeting=1)
    return {
        "two languages, a window": Case(BY_WINDOW, known=known, n_files=3, files=DAMAGED),
        "two languages, signatures": Case(BY_SIGNATURES, known=known),
        "two languages, vectors": Case(BY_VECTORS, known=known),
        "the left side translated, a window": Case(BY_WINDOW | {"translate": "left"}, known=known, n_files=3),
        "sides swapped, signatures": Case(BY_SIGNATURES, known=known, is_swapped=True),
        "as the plan has it": Case(known=known),
        "one language, a window": Case(BY_WINDOW, **ONE),
        "one language, signatures": Case(BY_SIGNATURES, **ONE),
        "one language, vectors": Case(BY_VECTORS, **ONE, n_files=2),
        "the best, by a window": Case(BY_WINDOW | {"top": 2}, **ONE),
        "the best, by signatures": Case(BY_SIGNATURES | {"top": 1}, known=known),
        "the best, by vectors": Case(BY_VECTORS | {"top": 1}, **ONE, n_files=5),
        "all equal, a window": Case(BY_WINDOW, **EQUAL),
        "all equal, the best": Case(BY_WINDOW | {"top": 3}, **EQUAL),
        "all equal, vectors": Case(BY_VECTORS, **EQUAL),
        "some empty, a window": Case(BY_WINDOW, **EMPTY),
        "some empty, files too": Case(BY_VECTORS, **EMPTY, n_files=40),
        "numbers as ids, ids that come again, broken records": Case(BY_VECTORS, **MIXED),
        "a wide window": Case(BY_WINDOW | {"window": 5000}, **ONE),
        "a wide window, many chunks": Case(BY_WINDOW | {"window": 5000}, **ONE, cut=Cut(part=4, chunk_size=3)),
        "more chunks than documents": Case(BY_WINDOW, **ONE, cut=tiny),
        "more chunks than equal documents": Case(BY_WINDOW, **EQUAL, cut=tiny),
        "rounds": Case(BY_WINDOW, known=known, cut=Cut(part=50, chunk_size=20, orders_a_round=2)),
        "nothing alike": Case(BY_VECTORS | {"threshold": 1.0}),
    }  # fmt: skip


@dataclass
class ToldOf(InProcess):
    """With what the manifest is to say."""

    about: Mapping[str, object] = field(default_factory=lambda: {"name": "in process"})


def tables_of(case: Case, given: PairInput, out: Path, engine: Engine, **how: bool) -> dict[str, bytes]:
    """The tables of an engine, and what it counted."""
    options = PairOptions(**{"threshold": 0.4} | dict(case.options))
    with cut_into(case.cut, 120, options.bits or 64):
        about = pair_files(
            given, out, options, case.known, report=False, resources=Resources(2), engine=engine, **how
        ).as_stored()  # fmt: skip
    assert (about["engine"] is not None) == (engine is not LOCAL)
    tables = {name: (out / name).read_bytes() for name in TABLES if (out / name).exists()}
    counts = dict(about["counts"])
    if case.cut.orders_a_round < 5:
        del counts["candidates"]  # see `test_rounds_find_the_same`
    return tables | {"counts": json.dumps([counts, about["histogram"], about.get("known")]).encode()}


def assert_same_tables(found: Mapping[str, bytes], expected: Mapping[str, bytes]) -> None:
    assert found.keys() == expected.keys()
    for name, content in expected.items():
        assert found[name] == content, name


@pytest.fixture
def in_this_process(monkeypatch) -> Cluster:
    """A cluster that is none: its tasks are done here, one after another."""
    monkeypatch.setattr(job, "stages_on", lambda *_: contextlib.nullcontext(ToldOf()))
    return Cluster("local[1]")


@pytest.mark.parametrize("name", cases())
def test_tasks_write_what_one_machine_writes(name, in_this_process, tmp_path):
    case = cases()[name]
    given = case.given(tmp_path)
    expected = tables_of(case, given, tmp_path / "local", LOCAL)
    assert ("exceptions.csv" in expected) == bool(case.files)
    n_pairs = pq.read_metadata(tmp_path / "local" / "pairs.parquet").num_rows
    assert n_pairs > 5 or name == "nothing alike"  # else equal tables would say little
    assert_same_tables(tables_of(case, given, tmp_path / "tasks", in_this_process), expected)


FEW_TASKS = Cut(part=60, rows_a_meeting=40, chunk_size=50, weighed_at_once=11)


@pytest.mark.parametrize("has_ids", [True, False])
def test_tasks_find_the_pairs_of_data_frames(has_ids, tmp_path):
    prose = [f"{' '.join(f'w{(i * k) % 97}' for k in range(1, 20))} end" for i in range(24)]
    tables = [
        pa.table({"id": range(first, first + len(some)), "text": some})
        for first, some in ((5, prose), (90, prose[10:]))
    ]
    sides, frames = [], []
    for name, table in zip(("left", "right"), tables):
        frame = Frame([part.to_batches()[0] for part in (table[:9], table[9:11], table[11:])])
        frames.append(FrameSide(frame, "text", "id" if has_ids else None))
        if not has_ids:
            table = table.set_column(0, "id", pa.array([f"{name}:{i + 1}" for i in range(len(table))]))
        pq.write_table(table, tmp_path / f"{name}.parquet")
        sides.append(ReadingRequest(inputs=[str(tmp_path / f"{name}.parquet")], text="text", doc_id="id"))
    options, pairs = PairOptions(threshold=0.5), tmp_path / "pairs.parquet"
    pair_frames(tuple(frames), None, options, pairs, tmp_path / "work", InProcess(), Meter(Silent()))
    pair_files(PairInput(*sides, None), tmp_path / "local", options, report=False, resources=Resources(2))
    columns = ["left_id", "right_id", "cosine", "rank", "terms"]
    expected = pq.read_table(tmp_path / "local/pairs.parquet").select(columns)
    assert len(expected) > 10
    assert pq.read_table(pairs).select(columns) == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["two languages, a window", pytest.param("the best, by vectors", marks=pytest.mark.soak)]
)
def test_a_cluster_writes_what_one_machine_writes(name, spark, tmp_path, monkeypatch):
    case = replace(cases()[name], cut=FEW_TASKS)
    given = case.given(tmp_path)
    expected = tables_of(case, given, tmp_path / "local", LOCAL)
    monkeypatch.chdir(tmp_path)  # workers are somewhere else
    assert_same_tables(tables_of(case, given, Path("spark"), Cluster()), expected)
