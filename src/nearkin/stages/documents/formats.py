"""The formats that documents are read in, by the names that users give them."""

from __future__ import annotations

from typing import Literal

Format = Literal["jsonl", "parquet", "arrow", "csv", "tsv", "lines", "text-lines", "file", "wikipedia"]
StoredFormat = Literal["collection", "results"]
"""What Nearkin itself stores documents in: a collection, or the directory of a finished run."""
WITHOUT_COLUMNS = ("lines", "text-lines", "file", "wikipedia")
"""Formats whose texts and ids have their places."""
