"""File of signatures → pairs of documents within a Hamming distance, verified on request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa

from nearkin.errors import FingerprintError, ParameterError, is_among, is_int
from nearkin.formats.delimited import check_suffix, table_writer
from nearkin.nouns import counted
from nearkin.paths import on_disk
from nearkin.planning.neighbour_recall import FEATURES, MINHASH, SIMILARITY, expected_recall, usual_distance
from nearkin.records import U32, BitSignatures
from nearkin.reports.quantities import share_percent_text
from nearkin.runs.files import published
from nearkin.runs.progress import Meter, Progress, Silent
from nearkin.runs.result_file import refuse_input
from nearkin.runs.tables import for_pandas
from nearkin.stages.search.hamming.neighbours import MAX_PAIRS as MAX_NEAREST
from nearkin.stages.search.hamming.neighbours import Nearest, nearest, neighbour_pairs
from nearkin.stages.search.hamming.pairs import U16, HammingPairs, Neighbours
from nearkin.stages.verification.measures import MEASURE_COLUMNS, measured
from nearkin.tabular import as_json
from nearkin.wording import distance_text
from nearkin.workflows.resources import Resources
from nearkin.workflows.signing.sampling import SampledDistance, sampled_distance
from nearkin.workflows.signing.signature_file import SignatureFile
from nearkin.workflows.signing.verifying import SignatureVerifier, Verification

MAX_PAIRS = 100_000_000
_BLOCK_PAIRS = 1 << 20
Equal = Literal["all", "first"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NeighboursFound:
    """Result of a search for neighbours.

    Parameters
    ----------
    n_documents, n_signed, n_distinct
        Documents in the file; those with features; distinct signatures of these.
    """

    distance: int
    n_documents: int
    n_signed: int
    n_distinct: int
    n_pairs: int
    n_written: int
    plan: str
    elapsed_s: float
    expected: Expected | None
    sample: SampledDistance | None = None
    verification: Verification | None = None

    def summary(self) -> dict[str, object]:
        """Return the fields as JSON types."""
        verified = None if self.verification is None else self.verification.parameters
        return {"command": "neighbours", **as_json(replace(self, verification=None)), "verification": verified}


def check_place(out: Path, signed: Iterable[SignatureFile], *, is_verified: bool) -> None:
    """Refuse a file for pairs that has no known format, or whose documents are read again to verify them."""
    check_suffix(out, "out", may_have_none=True)
    for signatures in signed if is_verified else ():
        refuse_input(out, (on_disk(entry.path) for entry in signatures.about.inputs))


def find_neighbours(
    file: SignatureFile,
    against: SignatureFile | None,
    out: Path,
    distance: int | None = None,
    *,
    verification: Verification | None = None,
    equal: Equal = "all",
    resources: Resources,
    progress: Progress | None = None,
) -> NeighboursFound:
    """Write all pairs within a Hamming distance: of two documents of ``file``, or of one and one of ``against``.

    Columns: ``id_a``, ``id_b``, ``row_a``, ``row_b`` (rows of the files of signatures, from 0), ``distance``; with
    ``verification`` also those of every measure, and only pairs at its threshold.

    Parameters
    ----------
    equal : {"all", "first"}
        For documents of ``file`` with the same signature: every pair of them, or each with only the first of them;
        different signatures are then also paired by their first documents.
    """
    check_place(out, (file,) if against is None else (file, against), is_verified=verification is not None)
    _check_sets(file, against, equal)
    meter = Meter(progress or Silent())
    distance, sample = chosen_distance(distance, file, against, verification, resources, meter)
    expected = expected_of(file, distance)
    if sample is None:
        say_expected(file, expected, meter.progress)
    if verification is not None:
        verification.say(file, meter.progress)
    verifier = None
    if against is None:
        pairs = neighbour_pairs(file.signatures, distance, threads=resources.n_threads, progress=meter.progress)
        if equal == "all":
            _check_n_pairs(pairs, distance, file.name)
        if verification is not None:
            rows = np.unique(np.concatenate([np.zeros(0, np.uint32), *_rows(pairs, equal)]))
            verifier = SignatureVerifier.read(file, rows, verification, resources, meter)
        blocks, n_pairs, plan = _blocks(pairs, equal), pairs.n_document_pairs, pairs.plan
    else:
        neighbours = nearest(
            file.signatures, against.signatures, distance, threads=resources.n_threads, progress=meter.progress,
            max_pairs=MAX_NEAREST,
        )  # fmt: skip
        if verification is not None:
            verifier = SignatureVerifier.joined(
                SignatureVerifier.read(file, np.unique(neighbours.query), verification, resources, meter),
                SignatureVerifier.read(against, np.unique(neighbours.row), verification, resources, meter),
            )
        blocks, n_pairs, plan = _blocks_across(neighbours, len(file.documents)), len(neighbours), neighbours.plan
    with meter.stage("write", 0, "steps"), published(out) as aside:
        ids = file.documents["id"].combine_chunks()
        other_ids = ids if against is None else against.documents["id"].combine_chunks()
        n_written = write_pairs(aside, blocks, (ids, other_ids), verifier, suffix=out.suffix)
    signed = file.signatures.packed[file.signatures.has_features]
    return NeighboursFound(
        distance=distance,
        n_documents=len(file.signatures),
        n_signed=len(signed),
        n_distinct=len(np.unique(signed, axis=0)) if len(signed) else 0,
        n_pairs=n_pairs,
        n_written=n_written,
        plan=plan.describe(),
        elapsed_s=meter.elapsed_s,
        expected=expected,
        sample=sample,
        verification=verification,
    )


def _check_sets(file: SignatureFile, against: SignatureFile | None, equal: Equal) -> None:
    if not is_among(equal, ("all", "first")):
        raise ParameterError.of("equal", "all or first", equal)
    if against is not None:
        if equal != "all":
            raise ParameterError(
                "is about the pairs of one set of signatures: omit it with 'against'.", parameter="equal"
            )
        if file.about.fingerprint != against.about.fingerprint:
            both = (file.name, file.about.fingerprint), (against.name, against.about.fingerprint)
            raise FingerprintError.of("Signatures", "be compared", *both)


def _check_n_pairs(pairs: HammingPairs, distance: int, name: str) -> None:
    if pairs.n_document_pairs > MAX_PAIRS:
        raise ParameterError(
            f"{name}: {counted(pairs.n_document_pairs, 'pair')} within distance {distance}, "
            f"{_n_equal(pairs):,} of them with equal signatures; the limit is {MAX_PAIRS:,}. Add "
            "equal='first', which pairs each document only with the first of its signature, or use a "
            "shorter distance or longer signatures."
        )


def nearest_documents(file: SignatureFile, doc_id: str, distance: int | None, resources: Resources) -> pa.Table:
    """Return the documents within a Hamming distance of a document; see `nearkin.jobs.signing`."""
    try:
        wanted = pa.scalar(doc_id, pa.large_string())
    except UnicodeEncodeError:  # no column holds an unpaired surrogate
        wanted = pa.scalar(None, pa.large_string())
    row = file.documents["name"].index(wanted).as_py() if wanted.is_valid else -1
    if row < 0:
        raise ParameterError(f"{file.name} has no document with the id {doc_id!r}.")
    if not file.signatures.has_features[row]:
        raise ParameterError(f"{file.name}: the document {doc_id!r} has no text, so it has no neighbours.")
    distance, _ = chosen_distance(distance, file, None, None, resources, Meter(Silent()))
    found = nearest(_one(file.signatures, row), file.signatures, distance, threads=resources.n_threads)
    return _without_itself(found, row, file)


def chosen_distance(
    distance: int | None,
    file: SignatureFile,
    against: SignatureFile | None,
    verification: Verification | None,
    resources: Resources,
    meter: Meter,
) -> tuple[int, SampledDistance | None]:
    """Return the given distance; else that with the best F1 in a sample, which is returned, too; else the usual one."""
    n_bits = file.signatures.n_bits
    if distance is not None:
        if not is_int(distance):
            raise ParameterError.of("distance", f"an int from 0 to {n_bits - 1}", distance)
        return distance, None
    sample = sampled_distance(file, against, verification, resources, meter)
    if sample is None:
        method = str(file.about.parameters["method"])
        chosen = usual_distance(method, n_bits)
        meter.progress.say(f"distance {chosen} of {n_bits} bits, the usual one for {method}")
        return chosen, None
    best = sample.best
    meter.progress.say(
        f"distance {best.threshold:.0f} of {n_bits} bits, the best F1 in a sample of {sample.n_sampled:,}: recall "
        f"{share_percent_text(best.recall, 1)}, precision {share_percent_text(best.precision, 1)}; {sample.criterion}"
    )
    return int(best.threshold), sample


def _one(signatures: BitSignatures, row: int) -> BitSignatures:
    return BitSignatures(
        signatures.packed[row : row + 1], signatures.has_features[row : row + 1], signatures.fingerprint
    )


def _without_itself(neighbours: Nearest, row: int, file: SignatureFile) -> pa.Table:
    other = neighbours.row != row
    documents = file.documents.take(pa.array(neighbours.row[other])).select(["id", "name", "source", "line"])
    return documents.add_column(2, "distance", pa.array(neighbours.distance[other]))


def _n_equal(pairs: HammingPairs) -> int:
    sizes = pairs.classes.sizes
    return int((sizes * (sizes - 1) // 2).sum())


def _blocks(pairs: HammingPairs, equal: Equal) -> Iterator[Neighbours]:
    if equal == "all":
        yield from pairs.blocks()
        return
    classes = pairs.classes
    firsts = classes.firsts
    first_of = np.repeat(firsts, classes.sizes)
    other = classes.members != first_of
    one, two = firsts[pairs.left], firsts[pairs.right]
    left = np.concatenate([first_of[other], np.minimum(one, two)])
    right = np.concatenate([classes.members[other], np.maximum(one, two)])
    distance: U16 = np.concatenate([np.zeros(int(other.sum()), np.uint16), pairs.distance])
    order = np.lexsort((right, left))
    for start in range(0, len(order), _BLOCK_PAIRS):
        block = order[start : start + _BLOCK_PAIRS]
        yield Neighbours(left[block], right[block], distance[block])


def _blocks_across(neighbours: Nearest, first_of_theirs: int) -> Iterator[Neighbours]:
    for start in range(0, len(neighbours), _BLOCK_PAIRS):
        block = slice(start, start + _BLOCK_PAIRS)
        right: U32 = neighbours.row[block] + np.uint32(first_of_theirs)
        yield Neighbours(neighbours.query[block], right, neighbours.distance[block])


def _rows(pairs: HammingPairs, equal: Equal) -> Iterator[U32]:
    for block in _blocks(pairs, equal):
        yield np.unique(np.concatenate([block.left, block.right]))


def write_pairs(
    out: Path,
    blocks: Iterable[Neighbours],
    ids: tuple[pa.Array, pa.Array],
    verifier: SignatureVerifier | None,
    *,
    suffix: str,
) -> int:
    """Write the pairs that pass verification, if it is requested.

    Parameters
    ----------
    blocks
        With two files of signatures, the rows of the second follow those of the first.
    suffix
        Suffix of the final name, which determines the format; see `formats.by_suffix`.
    """
    n_written = 0
    schema = _schema(ids[0].type, ids[1].type, is_verified=verifier is not None)
    with table_writer(out, schema, suffix) as write:
        for block in blocks:
            table = _table(block, ids, verifier, schema)
            n_written += len(table)
            for batch in table.combine_chunks().to_batches():
                write(batch)
    return n_written


def _schema(left: pa.DataType, right: pa.DataType, *, is_verified: bool) -> pa.Schema:
    numbers = [("row_a", pa.int64()), ("row_b", pa.int64()), ("distance", pa.uint16())]
    if is_verified:
        numbers += [(name, pa.float64()) for name in MEASURE_COLUMNS]
    fields = [pa.field("id_a", left), pa.field("id_b", right)]
    return for_pandas(pa.schema(fields + [pa.field(name, kind, nullable=False) for name, kind in numbers]))


def _table(
    block: Neighbours, ids: tuple[pa.Array, pa.Array], verifier: SignatureVerifier | None, schema: pa.Schema
) -> pa.Table:
    left, right, distance = block.left, block.right, block.distance
    measures: list[pa.Array] = []
    if verifier is not None:
        matches, good = verifier.verify(left, right)
        left, right, distance = left[good], right[good], distance[good]
        measures = [pa.array(values) for values in measured(matches)]
    if ids[0] is not ids[1]:
        right = right - np.uint32(len(ids[0]))
    rows = [pa.array(column.astype(np.int64)) for column in (left, right)]
    columns = [ids[0].take(rows[0]), ids[1].take(rows[1]), *rows, pa.array(distance), *measures]
    return pa.Table.from_arrays(columns, schema=schema)


@dataclass(frozen=True, slots=True)
class Expected:
    """Expected recall of a search for neighbours.

    Parameters
    ----------
    similarity
        Jaccard similarity of the feature sets of these pairs; more of the more similar pairs are found.
    low, high
        Share of these pairs whose signatures are within the distance: theoretical, or the range over measured corpora.
    """

    similarity: float
    low: float
    high: float
    is_measured: bool

    def in_words(self, features: str) -> str:
        """Return the sentence shown before the search."""
        low, high = (_share(bound) for bound in (self.low, self.high))
        share = low if low == high else f"{low} to {high}"
        if low != high and low.startswith("under"):
            share = f"at most {distance_text(100 * self.high, 1)}%"
        range_told = "; the range is that of four measured corpora; other documents can lie outside it"
        return (
            f"expected recall: {share} of pairs with a Jaccard similarity of {self.similarity:g} ({features}), more "
            f"above it{range_told if self.is_measured else ''}"
        )


def expected_of(file: SignatureFile, distance: int) -> Expected | None:
    """Return the expected recall of a search; None if unknown."""
    method, n_bits = str(file.about.parameters["method"]), file.signatures.n_bits
    if not _is_known(file):
        return None
    low, high = expected_recall(method, n_bits, distance)
    return Expected(SIMILARITY, round(low, 6), round(high, 6), method != MINHASH)


def say_expected(file: SignatureFile, expected: Expected | None, progress: Progress) -> None:
    """Report the expected recall before the search."""
    parameters = file.about.parameters
    if expected is not None:
        progress.say(expected.in_words(str(parameters["features"])))
        return
    what = f"{parameters['method']} with features {parameters['features']}, normalise {parameters['normalise']}"
    progress.say(f"expected recall: not known for {what}" + ", and this density" * ("density" in parameters))


def _share(value: float) -> str:
    if value < 0.001:
        return "under 0.1%"
    return "over 99.9%" if value > 0.9995 else share_percent_text(value, 1)


def _is_known(file: SignatureFile) -> bool:
    """Whether recall is known: theory covers all features, measurements only those measured."""
    parameters = file.about.parameters
    if parameters["method"] == MINHASH:
        return True
    return parameters["features"] == FEATURES and parameters["normalise"] == "none" and "density" not in parameters
