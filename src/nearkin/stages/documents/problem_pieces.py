r"""Problems of documents as pieces of messages, so that each surface names its own parameters."""

from __future__ import annotations

import re

from nearkin.message_pieces import AdvicePiece, CommandLineAdvice, MessagePiece
from nearkin.stages.documents.encodings import ADVICE
from nearkin.stages.documents.extraction.limits import OPTION
from nearkin.stages.documents.sizes import MAX_SIZE_OPTION

_OPTIONS = re.compile(
    rf"(?P<encoding>{ADVICE})(?= )|(?<=longer than )(?P<size>{MAX_SIZE_OPTION})(?= \()|"
    rf"(?P<limit>; raise it with {OPTION} (?P<name>[a-z]+)=(?P<value>[A-Z]+))"
)


def problem_pieces(problem: str) -> tuple[MessagePiece, ...]:
    r"""Return the problem of a document as pieces of a message: its advice, and the options that it names.

    A problem is stored as text, in a column, so they are found by their words.

    Examples
    --------
    >>> from nearkin.message_pieces import joined
    >>> from nearkin.stages.documents.encodings import why_not_utf8
    >>> problem = why_not_utf8(b"\xe4", "utf-8")
    >>> joined(problem_pieces(problem), in_python=False) == problem
    True
    >>> joined(problem_pieces(problem), in_python=True)
    'not valid UTF-8 at byte 0 (0xe4); if it is older Western text, set encoding to cp1252'
    >>> problem_pieces("the text is null")
    ('the text is null',)
    """
    pieces, end = list[MessagePiece](), 0
    for found in _OPTIONS.finditer(problem):
        pieces += [problem[end : found.start()], _advice(found)]
        end = found.end()
    return (*pieces, problem[end:])


def _advice(found: re.Match[str]) -> AdvicePiece:
    if found["encoding"]:
        return AdvicePiece("encoding", (CommandLineAdvice(found[0], "set encoding to"),))
    if found["size"]:
        return AdvicePiece("size", (CommandLineAdvice(found[0], "max_document_size"),))
    raised = f"; raise it with extraction_limits={{{found['name']!r}: {found['value']}}}"
    return AdvicePiece("limit", (CommandLineAdvice(found[0], raised),))
