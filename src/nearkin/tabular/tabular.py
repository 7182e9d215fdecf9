"""Tables of a result as data frames and in notebooks, and the histograms shown there."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from nearkin.errors import MissingExtraError, ParameterError
from nearkin.tabular.page import Histogram, shown_in_notebook


class Tabular:
    """Tables of a result as data frames.

    The fields named in `tables` are Arrow tables; the first of them is the default of the methods.
    """

    __slots__ = ()
    tables: ClassVar[tuple[str, ...]]

    def to_pandas(self, table: str | None = None) -> Any:
        """Return a table as a pandas DataFrame; integers that may be missing are ``Int64``.

        Parameters
        ----------
        table : str, optional
            Name of a table of this result; by default its first table.

        Raises
        ------
        ParameterError
            There is no such table.
        MissingExtraError
            pandas is not installed.
        """
        chosen = self._chosen(table)
        try:
            import pandas  # noqa: F401  # Arrow needs it
        except ImportError as error:
            raise _not_installed("pandas") from error
        return chosen.to_pandas()

    def to_polars(self, table: str | None = None) -> Any:
        """Return a table as a polars DataFrame.

        Parameters
        ----------
        table : str, optional
            Name of a table of this result; by default its first table.

        Raises
        ------
        ParameterError
            There is no such table.
        MissingExtraError
            polars is not installed.
        """
        chosen = self._chosen(table)
        try:
            import polars
        except ImportError as error:
            raise _not_installed("polars") from error
        return polars.from_arrow(chosen)

    def _chosen(self, table: str | None) -> pa.Table:
        names = [name for name in self.tables if getattr(self, name) is not None]
        name = names[0] if table is None else table
        if name not in names:
            raise ParameterError.of("table", f"one of {', '.join(names)}", table)
        return getattr(self, name)

    def _bars(self) -> Histogram:
        """Return the numbers of the histogram by their labels, under a title."""
        return Histogram("", {})

    def _repr_html_(self) -> str:
        """Return the first rows of the first table and a histogram, for notebooks."""
        return shown_in_notebook(repr(self), self._bars(), self._chosen(None))


def histogram(values: pa.ChunkedArray, title: str, n_bins: int = 10) -> Histogram:
    """Return how many values from 0 to 1 are in each of some intervals; nulls are omitted.

    Examples
    --------
    >>> histogram(pa.chunked_array([[0.72, 0.78, 1.0]]), "similarity").counts
    {'0.7–0.8': 2, '0.8–0.9': 0, '0.9–1.0': 1}
    >>> histogram(pa.chunked_array([[0.3, 0.6, 0.7]]), "similarity").counts.keys() >= {"0.3–0.4", "0.6–0.7"}
    True
    """
    numbers = values.drop_null().to_numpy().astype(np.float64)
    in_range = np.clip(numbers[~np.isnan(numbers)], 0.0, 1.0)  # a cosine may be 1 and the last bit more
    edges = np.arange(n_bins + 1) / n_bins  # as decimals are written: 0.7, not 7 steps of 0.1
    counts, _ = np.histogram(in_range, edges)
    named = [f"{low:.1f}–{high:.1f}" for low, high in itertools.pairwise(edges)]
    first = int(np.flatnonzero(counts)[0]) if counts.any() else n_bins
    return Histogram(title, {name: int(n) for name, n in zip(named[first:], counts[first:])} if first < n_bins else {})


def histogram_of_bits(distances: pa.ChunkedArray, most: int, title: str, n_bins: int = 10) -> Histogram:
    """Return how many distances from 0 to ``most`` are in each of some intervals of equal width.

    Examples
    --------
    >>> histogram_of_bits(pa.chunked_array([[0, 3, 24]]), 24, "bits", n_bins=5).counts
    {'0–4': 2, '5–9': 0, '10–14': 0, '15–19': 0, '20–24': 1}
    """
    width = most // n_bins + 1
    found = np.bincount(distances.to_numpy() // width, minlength=most // width + 1).tolist()
    bounds = [(i * width, min((i + 1) * width - 1, most)) for i in range(len(found))]
    named = [f"{low:,}" if low == high else f"{low:,}–{high:,}" for low, high in bounds]
    return Histogram(title, dict(zip(named, found)))


def counts_of(values: pa.ChunkedArray, title: str) -> Histogram:
    """Return how often each value occurs, the most frequent first; nulls are omitted."""
    found: list[Mapping[str, Any]] = values.drop_null().value_counts().to_pylist()
    ordered = sorted(found, key=lambda one: (-one["counts"], str(one["values"])))
    return Histogram(title, {str(one["values"]): one["counts"] for one in ordered})


def _not_installed(package: str) -> MissingExtraError:
    return MissingExtraError(f"to_{package} needs {package}: pip install {package}")
