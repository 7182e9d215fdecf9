"""The formats that documents are read in, by the names that users give them."""

from __future__ import annotations

from typing import Literal

Format = Literal["jsonl", "parquet", "arrow", "csv", "tsv", "lines", "text-lines", "file", "wikipedia"]
WITHOUT_COLUMNS = ("lines", "text-lines", "file", "wikipedia")
"""Formats whose texts and ids have their places."""
