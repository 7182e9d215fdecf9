"""SubRip subtitles: what is spoken, without the numbers and times of the cues."""

from __future__ import annotations

import re

from nearkin.errors import DocumentError
from nearkin.stages.documents.readers.whole_file import WholeFile


class SubRip(WholeFile):
    r"""A file of cues: a number, a time, and lines that are spoken.

    Examples
    --------
    >>> SubRip().text_of("1\n00:00:01,000 --> 00:00:02,000\nGood\nmorning.\n\n2\n00:00:03,000 --> 00:00:04,000\nIt is")
    'Good morning.\nIt is'
    """

    def text_of(self, content: str) -> str:
        """Return a line for each cue that is not empty."""
        spoken: list[str] = []
        for cue in re.split(r"\n\s*\n", content.replace("\r\n", "\n")):
            lines = [line.strip() for line in cue.split("\n")]
            time = next((number for number, line in enumerate(lines) if "-->" in line), None)
            if time is not None:
                spoken.append(" ".join(filter(None, lines[time + 1 :])))
        if not spoken:
            raise DocumentError("no cue has a time.")
        return "\n".join(filter(None, spoken))
