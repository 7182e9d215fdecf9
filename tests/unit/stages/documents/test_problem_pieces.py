from __future__ import annotations

import pytest

from nearkin.errors import SourceError
from nearkin.stages.documents.encodings import looks_like_utf16, why_not_utf8
from nearkin.stages.documents.extraction.limits import raised_by
from nearkin.stages.documents.rules import ReadingRules, too_long


@pytest.mark.parametrize(
    ("problem", "in_python"),
    [
        (
            why_not_utf8(b"\xe4", "utf-8"),
            "not valid UTF-8 at byte 0 (0xe4); if it is older Western text, set encoding to cp1252",
        ),
        (
            looks_like_utf16("plain words".encode("utf-16-le")),
            "looks like UTF-16 without a byte order mark: set encoding to utf-16-le",
        ),
        (too_long(70, 64), "longer than max_document_size (70 bytes; the maximum is 64)"),
        (f"too big{raised_by('size')}; and more", "too big; raise it with extraction_limits={'size': SIZE}; and more"),
        (f"too many{raised_by('ratio')}", "too many; raise it with extraction_limits={'ratio': N}"),
        (
            "the text has --encoding and --max-document-size in it",
            "the text has --encoding and --max-document-size in it",
        ),
    ],
)
def test_a_message_names_the_options_of_a_problem_as_python_does(problem: str, in_python: str) -> None:
    with pytest.raises(SourceError) as refused:
        ReadingRules().check_readable(1, 1, f"a.txt:1: {problem}")

    before = "The only document is unreadable: a.txt:1: "
    assert str(refused.value) == f"{before}{problem}."
    assert refused.value.spelt(in_python=True) == f"{before}{in_python}."
