"""SubRip subtitles: what is spoken, without the numbers and times of the cues."""

from __future__ import annotations

from nearkin.errors import DocumentError
from nearkin.stages.documents.formats.whole_file import WholeFile


class SubRip(WholeFile):
    r"""A file of cues: a number, a time, and lines that are spoken.

    Examples
    --------
    >>> SubRip().text_of("1\n00:00:01,000 --> 00:00:02,000\nGood\nmorning.\n\n2\n00:00:03,000 --> 00:00:04,000\nIt is")
    'Good morning.\nIt is'
    """

    name = "subrip"
    hint = listed = in_words = "SubRip subtitles"
    a_file = "a file of subtitles"
    suffixes = (".srt",)

    def text_of(self, content: str) -> str:
        """Return a line for each cue; an empty one has none."""
        spoken: list[str] = []
        cue: list[str] | None = None
        for line in content.splitlines():
            if "-->" in line:
                spoken += [" ".join(cue)] if cue else []
                cue = []
            elif cue is not None and line.strip():
                cue.append(line.strip())
            elif cue:
                spoken.append(" ".join(cue))
                cue = []
        if cue is None:
            raise DocumentError("no cue has a time.")
        return "\n".join(spoken + ([" ".join(cue)] if cue else []))
