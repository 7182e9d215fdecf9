"""SubRip subtitles, a format of files that are one document each."""

from __future__ import annotations

import gzip
from pathlib import Path

from nearkin.runs.progress import Silent
from nearkin.stages.documents.sources import resolve_sources
from nearkin.workflows.reading.inputs import Input

SPOKEN = "1\n00:00:01,000 --> 00:00:02,000\nGood\nmorning.\n\n2\n00:00:03,000 --> 00:00:04,000\nIt is raining: ö.\n"
TEXT = "Good morning.\nIt is raining: ö."
FILES = {
    "a.srt": (SPOKEN.encode(), TEXT),
    "b.srt": (b"\xef\xbb\xbf" + SPOKEN.replace("\n", "\r\n").encode(), TEXT),
    "c.srt": (SPOKEN.encode("utf-16"), TEXT),
    "d.srt.gz": (gzip.compress(SPOKEN.encode()), TEXT),
    "f.srt": (b"good morning\nwithout a time\n", "damaged"),
    "g.srt": (gzip.compress(SPOKEN.encode())[:-12], "damaged"),
    "h.srt": (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n", "not text"),
    "i.srt": (SPOKEN.encode("latin-1"), "wrong encoding"),
}


def test_texts_are_what_is_spoken_and_all_else_is_a_problem(tmp_path: Path) -> None:
    for name, (data, _) in FILES.items():
        (tmp_path / name).write_bytes(data)
    rows = {
        row["doc_id"]: row["text"].decode() if row["problem"] is None else row["problem"].partition(": ")[0]
        for batch, _ in Input(sources=resolve_sources([str(tmp_path)]).sources).batches(Silent())
        for row in batch.to_pylist()
    }
    assert rows == {name: result for name, (_, result) in FILES.items()}
