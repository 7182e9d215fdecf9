"""Every engine finds the same pairs, groups, principals and order, down to the bytes of the tables."""

from __future__ import annotations

import functools
import gzip
import json
import pickle
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nearkin
import wikipedia_dumps
from example_counts import every, examples
from functional.conftest import some_records
from in_process import Frame, InProcess
from made_up_prose import Prose
from nearkin.engines.spark.layout import Block
from nearkin.errors import DocumentError, EngineError, SourceError, TruncatedInputError
from nearkin.manifests.stored import DamagedFile
from nearkin.options.dedup import DedupOptions
from nearkin.runs.progress import Meter, Silent
from nearkin.runs.spool import Spool
from nearkin.stages.documents.rules import ReadingRules
from nearkin.stages.documents.sources import resolve_sources
from nearkin.stages.verification.measures import MEASURES
from nearkin.workflows.dedup import job, searching
from nearkin.workflows.dedup.on_spark import job as on_cluster
from nearkin.workflows.dedup.on_spark import keying, partitions, verifying
from nearkin.workflows.dedup.on_spark import skewed as skewed_pairs
from nearkin.workflows.dedup.on_spark.data_frames import FrameColumns, dedup_frame
from nearkin.workflows.dedup.on_spark.job import find, read_input
from nearkin.workflows.dedup.on_spark.partitions import PAIRS
from nearkin.workflows.reading import inputs as dedup_inputs
from nearkin.workflows.reading.on_spark.tasks import TaskInput
from nearkin.workflows.reading.texts import damaged_files
from nearkin.workflows.resources import Resources

Records = Sequence[Mapping[str, object]]


@dataclass(frozen=True)
class Case:
    """Documents, in some files, and how they are deduplicated."""

    files: Sequence[Records]
    against: Sequence[Records] = ()
    options: Mapping[str, object] = field(default_factory=dict)

    def chosen(self) -> DedupOptions:
        return DedupOptions(**{"shingle": "words:3", "threshold": 0.8} | dict(self.options))

    def written(self, folder: Path) -> tuple[list[str], list[str]]:
        """The paths of both collections."""
        sides = []
        for name, files in (("mine", self.files), ("theirs", self.against)):
            paths = [folder / f"{name}-{i}.jsonl" for i in range(len(files))]
            for path, records in zip(paths, files, strict=True):
                path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
            sides.append([str(path) for path in paths])
        return sides[0], sides[1]


def named(some: Sequence[str], prefix: str = "d") -> Records:
    return [{"id": f"{prefix}{i}", "text": text} for i, text in enumerate(some)]


def in_files(records: Records, n: int) -> list[Records]:
    size = -(-len(records) // n)
    return [records[i : i + size] for i in range(0, len(records), size)]


def skewed(n: int, seed: int = 1) -> list[str]:
    """Texts of one long beginning, which share most bands, and an end of their own."""
    prose = Prose(seed)
    head = prose.text(300)
    return [f"{head} {prose.text(8)}" for _ in range(n)]


def chain(n: int) -> list[str]:
    """Each text is like the next, the first nothing like the last."""
    words = [f"w{i}" for i in range(n + 60)]
    return [" ".join(words[i : i + 60]) for i in range(0, n, 2)]


@functools.cache
def cases() -> dict[str, Case]:
    records = some_records()
    third = in_files(records, 3)
    families = named([text for _, text in Prose(3).families(150)])
    prose, one_text = Prose(6), Prose(5).text(80)
    short = ["the same few words once more", "the same few words once again"]
    return {
        "of every kind": Case(third),
        "components": Case(third, options={"group": "component", "threshold": 0.6}),
        "containment": Case(third, options={"measure": "containment", "threshold": 0.5}),
        "by a column": Case(third, options={"keep": "max:score"}),
        "the shortest": Case(in_files(families, 4), options={"keep": "shortest", "threshold": 0.5}),
        "the first": Case(in_files(families, 2), options={"keep": "first", "shingle": "chars:6"}),
        "against another collection": Case(third[:2], against=third[1:]),
        "against, by containment": Case(third[:1], against=third, options={"measure": "containment"}),
        "a short text in very many": Case(
            in_files(named([f"{prose.text(25)} {one_text[:60]}" for _ in range(150)] + [one_text[:60]] + short), 3),
            options={"measure": "containment"},
        ),
        "skewed short texts, contained": Case(
            in_files(named([f"{prose.text(i % 40)} {' '.join(short)} {i // 7}" for i in range(400)]), 3),
            against=in_files(named([f"{short[i % 2]} {i // 7}" for i in range(300)], "t"), 2),
            options={"measure": "containment", "threshold": 0.6},
        ),
        "against, what contains": Case(
            third[:2], against=third[1:], options={"drop": "containing", "threshold": 0.5}
        ),
        "against, either way": Case(third[:2], against=third[1:], options={"drop": "either", "threshold": 0.6}),
        "against, shared shingles": Case(third[:2], against=third[1:], options={"min_shared": 2, "threshold": None}),
        "kept apart by numbers and names": Case(
            in_files(named([f"{one_text} {i % 3} {'for' * (i % 2)} Mr. {'XYZ'[i % 5 // 2]}ett" for i in range(30)]), 3),
            options={"threshold": 0.6, "keep_apart": "numbers,names"},
        ),
        "against, kept apart by numbers": Case(
            in_files(named([f"{one_text} {i}" for i in range(9)]), 2),
            against=[named([f"{one_text} {i} more" for i in range(4, 20)], "t")],
            options={"threshold": 0.6, "keep_apart": "numbers"},
        ),
        "against none": Case(third[:1], against=[[]]),
        "all equal": Case(in_files(named([one_text] * 500), 5)),
        "all empty": Case(in_files(named([""] * 20), 2)),
        "one document": Case([named([one_text])]),
        "no document": Case([[]]),
        "files without documents": Case([[], named([one_text, one_text + " more"]), [], []]),
        "one giant group": Case(in_files(named(chain(900)), 3), options={"group": "component"}),
        "principals of a giant group": Case(in_files(named(chain(900)), 3)),
        "a skewed key": Case(in_files(named(skewed(400)), 4), options={"threshold": 0.9}),
        "skewed against another collection": Case(
            in_files(named(skewed(200)), 2), against=in_files(named(skewed(300), "t"), 2), options={"threshold": 0.9}
        ),
        "skewed on both sides": Case(
            in_files(named(skewed(250)), 2),
            against=in_files(named(skewed(250)[60:] + skewed(90, 2), "t"), 2),
            options={"threshold": 0.9},
        ),
        "skewed short texts": Case(
            [named([f"{short[i % 2]} {i // 7}" for i in range(700)])], options={"threshold": 0.6}
        ),
        "ids that come again": Case([[*named([one_text, "other words here"]), *named(short)], named(short)]),
        "numbers as ids": Case([[{"id": i, "text": f"{one_text} {i % 3}"} for i in range(30)]]),
        "numbers as ids, one again": Case([[{"id": i % 29, "text": f"{one_text} {i % 3}"} for i in range(30)]]),
        "numbers as ids, some of none, a file without": Case(
            [[{"id": i, "text": f"{one_text} {i % 3}"} if i % 4 else {"text": one_text} for i in range(30)],
             [{"text": f"{one_text} {i}"} for i in range(3)]]
        ),
        "numbers as ids against names": Case(
            [[{"id": i, "text": f"{one_text} {i % 3}"} for i in range(30)], [{"text": one_text}]],
            against=[named(short)],
        ),
        "no ids": Case([[{"text": f"{one_text} {i % 3}"} for i in range(30)], [{"text": one_text}]]),
        "broken records": Case(
            [[{"id": "a", "text": one_text}, {"id": "b"}, {"id": "c", "text": 7}, {"id": "a"}], named(short)]
        ),
    }  # fmt: skip


CROWDED_CASES = (
    "a skewed key", "skewed short texts", "skewed against another collection", "skewed on both sides",
)  # fmt: skip


def by_local(case: Case, folder: Path) -> dict[str, bytes]:
    return found_by(case, folder, "local", lambda *asked, **how: job.find(*asked, **how))


def found_by(case: Case, folder: Path, name: str, finder) -> dict[str, bytes]:
    """The tables of an engine, and what it counted."""
    mine, theirs = case.written(folder)
    out = folder / name
    (out / "work").mkdir(parents=True)
    options, meter = case.chosen(), Meter(Silent())
    inputs = dedup_inputs.inputs_of(resolve_sources(mine).sources, keep_column=options.keep.column)
    others = None
    if theirs:
        others = dedup_inputs.inputs_of(resolve_sources(theirs, optional=("text", "doc_id")).sources)
    found = finder(inputs, others, options, out / "work", rules=ReadingRules(), resources=Resources(2), meter=meter)
    job.write(found, out, meter)
    tables = {path.name: path.read_bytes() for path in sorted(out.glob("*.parquet"))}
    counted = found.verified.n_candidates, found.n_not_compared, found.estimated_missed, str(found.plan)
    return tables | {"counted": repr(counted).encode(), "repeated": repr(sorted(found.corpus.repeated_ids)).encode()}


def in_this_process(inputs, others, options, work, **how):
    return find(inputs, others, options, work, InProcess(), **how)


def assert_same(found: dict[str, bytes], expected: dict[str, bytes]) -> None:
    assert found.keys() == expected.keys()
    for name, content in expected.items():
        if found[name] != content and name.endswith(".parquet"):
            one, other = (pq.read_table(pa.BufferReader(some[name])).to_pylist() for some in (found, expected))
            assert one == other
        assert found[name] == content, name


@pytest.fixture
def small(monkeypatch):
    """Many partitions, many places to meet, and few texts at a time: what a large corpus does."""
    monkeypatch.setattr(partitions, "MAX_PARTITION_BYTES", 20_000)
    monkeypatch.setattr(keying, "MEETING_BYTES", 4_000)
    monkeypatch.setattr(dedup_inputs, "BATCH_BYTES", 10_000)


SOAKED = {
    "the shortest", "the first", "against, by containment", "against, either way", "skewed short texts, contained",
    "skewed against another collection", "principals of a giant group", "numbers as ids", "all empty", "one document",
    "components", "a short text in very many",
}  # fmt: skip
"""What `test_any_documents` and the other cases try as well."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.soak] if name in SOAKED else []) for name in cases()]
)
def test_tasks_find_what_one_machine_finds(name, tmp_path, small):
    case = cases()[name]
    try:
        expected = by_local(case, tmp_path)
    except SourceError as error:
        with pytest.raises(SourceError, match=str(error)[:40]):
            found_by(case, tmp_path, "tasks", in_this_process)
        return
    assert_same(found_by(case, tmp_path, "tasks", in_this_process), expected)


@pytest.mark.parametrize("has_ids", [True, False])
def test_rows_of_data_frames_that_differ_in_ignored_numbers(has_ids, tmp_path, small):
    """Only equal numbers make an exact copy, in whichever partitions the rows are."""
    prose = [text for _, text in Prose(3).families(12)]
    numbers = [n for n in (1, 2, 1) for _ in prose]
    table = pa.table({"text": [f"{text} Paid: {n}." for n, text in zip(numbers, prose * 3)]})
    if has_ids:
        table = table.append_column("id", pa.array(range(1000, 1000 + len(numbers))))
    columns, options = FrameColumns("text", "id" if has_ids else None, None), DedupOptions(ignore_numbers=True)
    frame = Frame([some.to_batches()[0] for some in (table[:20], table[20:50], table[50:])])
    found = dedup_frame(
        frame, columns, options, tmp_path, InProcess(), prefix="", rules=ReadingRules(), meter=Meter(Silent())
    )
    assert len(list((tmp_path / "texts").iterdir())) > 1
    expected = nearkin.dedup(table, text="text", id=columns.doc_id, ignore_numbers=True)
    for came, said in ((found.documents, expected.documents), (found.pairs, expected.pairs)):
        names = [name for name in came.column_names if name != "text"]
        assert sorted(map(repr, came.select(names).to_pylist())) == sorted(map(repr, said.select(names).to_pylist()))
    assert {"exact copy", "near-duplicate"} <= set(found.documents["reason"].to_pylist())
    copies = [row for row in found.documents.to_pylist() if row["reason"] == "exact copy"]
    assert all(row["text"].endswith("Paid: 1.") for row in copies)
    assert "numbers" in found.pairs["differs"].to_pylist()


@pytest.mark.parametrize("name", every(2, CROWDED_CASES))
@pytest.mark.parametrize(
    ("is_in_many_homes", "hot_length"),
    [
        (True, 65),
        pytest.param(False, 1 << 20, marks=pytest.mark.soak),
        pytest.param(True, 1 << 20, marks=pytest.mark.soak),
        pytest.param(False, 65, marks=pytest.mark.soak),
    ],
)
def test_crowded_keys_that_are_not_compared_in_full(name, is_in_many_homes, hot_length, tmp_path, monkeypatch, request):
    """What is left out is counted, and is the same whichever task the texts meet in."""
    if is_in_many_homes:
        request.getfixturevalue("small")
    monkeypatch.setattr(searching, "_PAIRS_OF_A_BAND", 6_000)
    monkeypatch.setattr(searching, "_PAIRS_OF_LOOSE_ENTRIES", 6_000)
    monkeypatch.setattr(on_cluster, "HOT_LENGTH", hot_length)
    stages = InProcess()
    expected = by_local(cases()[name], tmp_path)
    found = found_by(cases()[name], tmp_path, "tasks", lambda *asked, **how: find(*asked, stages, **how))
    assert_same(found, expected)
    assert stages.is_kept("crowds")
    assert stages.is_kept("foremost") == (hot_length == 65)
    assert any((tmp_path / "tasks/work/keys").glob("crowded-*")) == (not is_in_many_homes)
    n_candidates, n_not_compared = (int(n) for n in expected["counted"].strip(b"(").split(b", ")[:2])
    n_mine, n_theirs = (sum(map(len, files)) for files in (cases()[name].files, cases()[name].against))
    n_pairs = n_mine * n_theirs if n_theirs else n_mine * (n_mine - 1) // 2
    assert 0 < n_not_compared <= n_pairs - n_candidates


words = st.sampled_from([f"w{i}" for i in range(12)])
some_texts = st.lists(st.lists(words, max_size=14).map(" ".join), max_size=25)


@settings(max_examples=examples(60))
@given(
    some_texts,
    st.sampled_from([0.3, 0.5, 0.8, 1.0]),
    st.sampled_from(["words:1", "words:2", "chars:3"]),
    st.sampled_from(["principal", "component"]),
    st.sampled_from(["longest", "first", "shortest"]),
    st.sampled_from(sorted(MEASURES)),
)
def test_any_documents(tmp_path_factory, found, threshold, shingle, group, keep, measure):
    options = {"threshold": threshold, "shingle": shingle, "group": group, "keep": keep, "measure": measure}
    case = Case(in_files(named(found), 3) if found else [[]], options=options)
    folder = tmp_path_factory.mktemp("any")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(partitions, "MAX_PARTITION_BYTES", 500)
        patch.setattr(keying, "MEETING_BYTES", 100)
        assert_same(found_by(case, folder, "tasks", in_this_process), by_local(case, folder))


FINDERS = {"local": lambda *asked, **how: job.find(*asked, **how), "tasks": in_this_process}
FINE = named([Prose(9).text(40) for _ in range(30)])


def written_as(folder: Path, name: str, data: bytes) -> list[str]:
    (folder / name).write_bytes(data)
    return [str(folder / name)]


def found_in(folder: Path, mine: list[str], theirs: list[str], engine: str, rules: ReadingRules):
    """What an engine finds in files that it reads by some rules."""
    work = folder / engine
    work.mkdir()
    sides = [dedup_inputs.inputs_of(resolve_sources(paths, rules=rules).sources) for paths in (mine, theirs) if paths]
    others = sides[1] if theirs else None
    how = {"rules": rules, "resources": Resources(2), "meter": Meter(Silent())}
    return FINDERS[engine](sides[0], others, DedupOptions(), work, **how)


@pytest.mark.parametrize("engine", FINDERS)
def test_a_file_that_is_cut_is_refused_or_taken_by_both(engine, tmp_path):
    data = gzip.compress("".join(json.dumps(one) + "\n" for one in FINE).encode())
    paths = written_as(tmp_path, "a.jsonl.gz", data[: len(data) * 3 // 4])
    with pytest.raises(TruncatedInputError, match=r"a\.jsonl\.gz: the gzip stream is truncated, after \d+ documents\."):
        found_in(tmp_path, paths, [], engine, ReadingRules())
    shutil.rmtree(tmp_path / engine)
    found = found_in(tmp_path, paths, [], engine, ReadingRules(on_error="skip"))
    (damaged,) = damaged_files([found.places.unreadable()])
    assert damaged == DamagedFile(path=paths[0], line=len(found.corpus), problem="the gzip stream is truncated")
    assert found.places.ids.to_pylist()[:-1] == [f"d{i}" for i in range(len(found.corpus) - 1)]
    assert 5 < len(found.corpus) < 31


@pytest.mark.parametrize("engine", FINDERS)
@pytest.mark.parametrize("is_against", [False, True])
def test_too_much_that_is_unreadable_is_refused_by_both(engine, is_against, tmp_path):
    fine = "".join(json.dumps(one) + "\n" for one in FINE[:2]).encode()
    bad = written_as(tmp_path, "bad.jsonl", fine + b"{broken\n" * 3)
    good = written_as(tmp_path, "good.jsonl", fine)
    mine, theirs = (good, bad) if is_against else (bad, [])
    side = "--against: " if is_against else ""
    message = rf"^{side}Unreadable: 3 of 5 documents, 60%, more than the 50% of --max-unreadable\. .*bad\.jsonl:3: "
    with pytest.raises(DocumentError, match=message):
        found_in(tmp_path, mine, theirs, engine, ReadingRules())
    shutil.rmtree(tmp_path / engine)
    assert len(found_in(tmp_path, mine, theirs, engine, ReadingRules(max_unreadable=0.6)).corpus) == 5 + 2 * is_against
    none = written_as(tmp_path, "none.jsonl", b"{broken\n" * 3)
    shutil.rmtree(tmp_path / engine)
    with pytest.raises(SourceError, match=rf"^{side}No document of 3 is readable"):
        found_in(
            tmp_path,
            good if is_against else none,
            none if is_against else [],
            engine,
            ReadingRules(on_error="skip", max_unreadable=1.0),
        )


def test_what_is_read_twice(tmp_path):
    """A task whose executor is lost is made again: the second time it says the same, though all of it is read."""
    page = wikipedia_dumps.page("a", wikipedia_dumps.PROSE, number=1)
    away = wikipedia_dumps.page("b", "#REDIRECT [[a]]", number=2, redirect="a")
    path = tmp_path / "dewiki-pages-articles.xml"
    path.write_bytes(wikipedia_dumps.dump(page, away))
    [one] = dedup_inputs.inputs_of(resolve_sources([str(path)]).sources)
    spool = Spool(tmp_path / "spool")
    spool.path.mkdir()
    reading = functools.partial(read_input, spool, DedupOptions(), ReadingRules())
    given = [Block("input", 0, pickle.dumps((0, TaskInput.of(one))))]
    first, again = ([(made.stream, bytes(made.data)) for made in reading(0, given)] for _ in range(2))
    assert "notes" in dict(first)
    assert again == first
    next(spool.path.glob("*.arrow")).unlink()
    with pytest.raises(EngineError, match="shows 0 documents, and 1 were written"):
        list(reading(0, given))


@pytest.mark.parametrize(
    ("name", "keep"), every(2, [("skewed against another collection", "longest"), ("a skewed key", "first")])
)
def test_texts_that_are_compared_with_very_many(name, keep, tmp_path, small, monkeypatch):
    """Their pairs are not all at their own partition."""
    monkeypatch.setattr(skewed_pairs, "MANY", 300)
    monkeypatch.setattr(skewed_pairs, "_SOME", 1)
    case = cases()[name]
    case = replace(case, options={**case.options, "keep": keep})
    n_of_homes: Counter[int] = Counter()
    spread = []

    asking = verifying.ask_profiles

    def watched(partitions, target, blocks):
        left, right = PAIRS.joined(blocks)
        assert (partitions.at(left) == target).all()
        n_of_homes[target] += len(np.unique(np.stack([left, right]), axis=1).T)
        spread.append((left > right).any())
        return asking(partitions, target, blocks)

    monkeypatch.setattr(verifying, "ask_profiles", watched)
    expected = by_local(case, tmp_path)
    assert_same(found_by(case, tmp_path, "tasks", in_this_process), expected)
    assert any(spread)
    assert max(n_of_homes.values()) < sum(n_of_homes.values()) / 3
