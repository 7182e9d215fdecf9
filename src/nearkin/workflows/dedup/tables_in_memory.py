"""Deduplication of data in memory: Arrow tables, pandas and polars frames, lists."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from nearkin.errors import ParameterError
from nearkin.formats import parquet
from nearkin.manifests.inputs import InputFile
from nearkin.records import Bool
from nearkin.runs.meter import Meter
from nearkin.runs.progress import Progress, Silent
from nearkin.stages.documents.columns import Columns
from nearkin.stages.documents.normalisation import Normalisation, Steps
from nearkin.stages.documents.rules import OnError, ReadingRules
from nearkin.stages.documents.tables import guess_columns, read_table
from nearkin.stages.features.shingles import Shingling
from nearkin.stages.grouping.principals import Rule
from nearkin.stages.grouping.survivors import Keep
from nearkin.stages.verification.measures import MeasureName
from nearkin.workflows.dedup import job, manifest
from nearkin.workflows.dedup.options import DedupOptions, Drop, Preset
from nearkin.workflows.reading.inputs import TableInput
from nearkin.workflows.resources import Resources

_ACCEPTED = "a pyarrow Table, a pandas or polars DataFrame, or an iterable of texts, (id, text) pairs or dicts"
Documents = Any
"""A pyarrow Table, a pandas or polars DataFrame, a list of texts, of (id, text) pairs or of dicts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DedupResult:
    """Result of `dedup`; the tables have the type of the documents (pyarrow for lists).

    Parameters
    ----------
    documents : table
        One row per document: id, name, row, group, is_principal, similarity_to_principal, copy_of, keep, reason, …
    pairs : table
        Every verified pair at or above the threshold: id_a, id_b, row_a, row_b, jaccard, containment_a_in_b,
        containment_b_in_a.
    groups : table
        One row per group of at least two documents; empty for a run against another collection.
    against : table or None
        One row per document of the other collection, if there is one: whether documents were dropped for it.
    kept : same type as the documents
        The documents that remain.
    manifest : mapping
        Parameters, counts, the plan, and the resources used by each stage.
    """

    documents: Any
    pairs: Any
    groups: Any
    kept: Any
    against: Any
    manifest: Mapping[str, object]

    def __repr__(self) -> str:
        counts: Any = self.manifest["counts"]
        return f"DedupResult({manifest.counts_in_words(counts)})"


def dedup(
    documents: Documents,
    *,
    text: str | None = None,
    id: str | None = None,
    against: Documents | None = None,
    preset: Preset | None = None,
    threshold: float | None = None,
    measure: MeasureName | None = None,
    recall: float | None = None,
    shingle: Shingling | str | None = None,
    group: Rule | None = None,
    keep: Keep | str | None = None,
    normalise: Normalisation | Steps | None = None,
    seed: int | None = None,
    drop: Drop | None = None,
    min_shared: int | None = None,
    threads: int = 0,
    memory: str | int = "2GiB",
    on_error: OnError = "skip-documents",
    max_unreadable: float | str = 0.5,
    progress: Progress | None = None,
) -> DedupResult:
    """Find near-duplicates among documents in memory; the exact similarity of every reported pair is verified.

    Parameters
    ----------
    documents : pyarrow Table, pandas or polars DataFrame, list of str, of (id, text) or of dict
        Not modified.
    text, id : str, optional
        Column names; guessed if not given. Documents without ids are named ``table:1``, ``table:2``, …
    against : like ``documents``, optional
        Drop the documents whose text occurs in these, instead of those repeated among ``documents``.
    preset, threshold, measure, recall, shingle, group, keep, normalise, seed, drop, min_shared
        As on the command line; see `DedupOptions`.
    threads : int
        Worker threads; 0 means one per CPU core.
    memory : str or int
        Memory limit, for example "2GiB".
    on_error : {"skip-documents", "skip", "stop"}
        "stop": raise an error at the first unreadable document; otherwise, omit and list unreadable documents.
    max_unreadable : float or str
        Maximum share of unreadable documents, such as 0.01 or "1%".
    progress : Progress, optional
        Receives progress messages.

    Returns
    -------
    DedupResult

    Raises
    ------
    ParameterError
        A parameter is invalid.
    DocumentError, SourceError
        Too many or all documents are unreadable; or one is, and ``on_error`` is "stop".

    Examples
    --------
    >>> import nearkin
    >>> said = ["to be or not to be that is the question", "To be, or not to be: that is the question!"]
    >>> result = nearkin.dedup([*said, "something else"])
    >>> result.kept
    ['To be, or not to be: that is the question!', 'something else']
    >>> result.documents["reason"].to_pylist()
    ['near-duplicate', 'unique', 'too short']
    """
    documents, against = _held(documents), None if against is None else _held(against)
    options = DedupOptions.of(
        preset=preset, threshold=threshold, measure=measure, recall=recall, shingle=shingle, group=group, keep=keep,
        normalise=normalise, seed=seed, drop=drop, min_shared=min_shared,
    )  # fmt: skip
    options.check_fits(is_against=against is not None)
    resources = Resources.of(threads, memory)
    rules = ReadingRules.of(on_error, max_unreadable)
    meter = Meter(progress or Silent())
    mine, theirs = (None if one is None else guess_columns(one, text=text, doc_id=id) for one in (documents, against))
    for guess in dict.fromkeys(guess for columns in (mine, theirs) if columns is not None for guess in columns.guesses):
        meter.progress.say(guess)
    said, keep_column = meter.progress.say, options.keep.column
    inputs = [TableInput(tuple(read_table(documents, text=text, doc_id=id, keep_column=keep_column, note=said)))]
    others = None if against is None else [TableInput(tuple(read_table(against, text=text, doc_id=id)), "against")]
    with tempfile.TemporaryDirectory(prefix="nearkin-") as folder:
        out = Path(folder)
        result = job.find(inputs, others, options, out, rules=rules, resources=resources, meter=meter)
        job.write(result, out, meter)
        described = [_described(one, mine) for one in inputs], [_described(one, theirs) for one in others or ()]
        written = manifest.build(result, options, *described, meter.costs, preset=preset)
        names = ("documents", "pairs", "groups", *(("against",) if others is not None else ()))
        tables = {name: _in_kind_of(documents, _read(out / f"{name}.parquet")) for name in names}
    return DedupResult(
        **{"against": None, **tables},
        kept=_only(documents, result.judged.outcome.keep),
        manifest=written.as_stored(),
    )


def _held(documents: Documents) -> Documents:
    """Return the documents, or a list of them if they are an iterable, because they are read twice."""
    is_table = hasattr(documents, "__arrow_c_stream__") or isinstance(documents, pa.Table | pa.RecordBatch)
    if is_table or isinstance(documents, list | tuple):
        return documents
    if isinstance(documents, Iterable) and not isinstance(documents, str | bytes | Mapping):
        return list(documents)
    raise ParameterError.of("documents", "dedup", _ACCEPTED, type(documents).__name__)


def _described(one: TableInput, columns: Columns | None) -> InputFile:
    """Return the manifest entry of the input; strings and pairs have no columns."""
    text, doc_id = (None, None) if columns is None else (columns.text, columns.id)
    return InputFile(path=one.name, size_bytes=one.size_bytes, format="table", text=text, id=doc_id)


def _read(path: Path) -> pa.Table:
    return parquet.read_table(path)


def _in_kind_of(documents: Documents, table: pa.Table) -> Any:
    """Return the table as a pandas or polars frame if the documents are one.

    The module's name decides, so that neither package is imported.
    """
    module = type(documents).__module__.partition(".")[0]
    if module == "pandas":
        return table.to_pandas()
    if module == "polars":
        import polars

        return polars.from_arrow(table)
    return table


def _only(documents: Documents, keep: Bool) -> Any:
    """Return the documents to keep, in their original type."""
    module = type(documents).__module__.partition(".")[0]
    if isinstance(documents, pa.Table | pa.RecordBatch):
        return _filterable(documents).filter(pa.array(keep)).cast(documents.schema)
    if module == "pandas":
        return documents[keep]
    if module == "polars":
        import polars

        return documents.filter(polars.Series(keep))
    if isinstance(documents, list | tuple):
        return type(documents)(one for one, is_kept in zip(documents, keep.tolist(), strict=True) if is_kept)
    raise ParameterError.of("documents", "dedup", _ACCEPTED, type(documents).__name__)


def _filterable(table: pa.Table | pa.RecordBatch) -> pa.Table | pa.RecordBatch:
    """Return the table without string views, which Arrow cannot filter."""
    plain = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}
    fields = [field.with_type(plain.get(field.type, field.type)) for field in table.schema]
    schema = pa.schema(fields, table.schema.metadata)
    return table if schema == table.schema else table.cast(schema)
