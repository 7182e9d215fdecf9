"""Comparison of two documents as a page or part of one, in a terminal, and as tracked changes of a Word document."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Container, Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from io import BytesIO
from itertools import count
from xml.sax.saxutils import escape, quoteattr

from nearkin._version import __version__
from nearkin.errors import MissingExtraError
from nearkin.reports.facts.fact import Fact
from nearkin.reports.pages import PageScript, report_environment
from nearkin.stages.differences.changes import SegmentKind, TextSegment, exact_segments
from nearkin.stages.differences.comparison import (
    Comparison,
    Difference,
    DifferenceKind,
    Hunk,
    Kind,
    Line,
    Piece,
    marked_pieces,
)
from nearkin.wording import reveal

_MAX_OF_A_PAGE, _MAX_OF_PARTS = 80_000, 2_300
"""Maximum number of elements of a comparison in a file, and of all comparisons in a page of the service, with which
browsers are fast."""
_OF_A_HUNK, _OF_A_LINE, _OF_A_MARK = 14, 5, 3
"""Number of elements of the head of a hunk, of a line, and of a marked piece, side by side."""


def comparison_html(comparison: Comparison, *, name_a: str | int, name_b: str | int, facts: Sequence[Fact] = ()) -> str:
    """Render the page of a comparison, with ``facts`` on top; equal arguments give equal text."""
    return _rendered(
        "comparison.html.j2",
        comparison,
        name_a=name_a,
        name_b=name_b,
        shown_facts=list(facts),
        facts={"nearkin": __version__},
        script=PageScript.named("comparison.js"),
        is_side_by_side=False,
        most=_MAX_OF_A_PAGE,
    )


def comparison_fragment(
    comparison: Comparison, *, has_headline: bool = True, is_side_by_side: bool = False, n_parts: int = 1
) -> str:
    """Render a comparison for a page that has the styles of `comparison_html`; a page can hold ``n_parts`` of them."""
    return _rendered(
        "comparison_fragment.html.j2", comparison, has_headline=has_headline, is_side_by_side=is_side_by_side,
        most=_MAX_OF_PARTS // n_parts,
    )  # fmt: skip


def _rendered(template: str, comparison: Comparison, *, most: int, **values: object) -> str:
    hunks, is_cut = _first_lines(comparison, most)
    in_spelling = {difference.number for difference in comparison.differences if difference.has_same_words}
    try:
        environment = report_environment()
        environment.filters["spaced"] = partial(
            shown_pieces,
            in_spelling=in_spelling,
            moves=comparison.move_notes,
            differences=comparison.differences,
            labels=labels_of(comparison),
        )
        return environment.get_template(template).render(
            comparison=comparison,
            hunks=hunks,
            is_cut=is_cut,
            n_shown=max(
                (piece.difference for hunk in hunks for line in hunk.lines for piece in line.pieces), default=0
            ),
            **values,
        )
    except ImportError as error:
        raise MissingExtraError.of("The page of a comparison", "report") from error


def _first_lines(comparison: Comparison, most: int) -> tuple[list[Hunk], bool]:
    """Return the hunks with the first lines that make at most so many elements, and whether others follow."""
    hunks, n_left = list[Hunk](), most
    for hunk in comparison.hunks:
        lines = list[Line]()
        n_left -= _OF_A_HUNK
        for line in hunk.lines:
            n_marks = (n_left - _OF_A_LINE) // _OF_A_MARK
            if n_marks < 1:
                return [*hunks, replace(hunk, lines=tuple(lines))] if lines else hunks, True
            marks = [place for place, piece in enumerate(line.pieces) if piece.kind != "equal"]
            if len(marks) > n_marks:
                lines.append(replace(line, pieces=line.pieces[: marks[n_marks]]))
                return [*hunks, replace(hunk, lines=tuple(lines))], True
            lines.append(line)
            n_left -= _OF_A_LINE + _OF_A_MARK * len(marks)
        hunks.append(hunk)
    return hunks, False


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownPiece:
    """Piece of a comparison, separated from its leading space.

    ``is_spelling``: only the spelling differs. ``move`` says where a moved passage is in the other text; ``label``
    names the kinds where the difference begins.
    """

    kind: str
    space: str
    text: str
    difference: int
    is_spelling: bool
    move: str
    kinds: tuple[DifferenceKind, ...] = ()
    label: str = ""


LABELS: dict[DifferenceKind, str] = {"numbers": "number", "dates": "date", "names": "name", "negations": "negation"}
"""Kinds that a mark names; the other kinds of marks look different."""


def labels_of(comparison: Comparison) -> dict[int, str]:
    """Return the label of each difference that has one."""
    labels = {
        difference.number: ", ".join(LABELS[kind] for kind in difference.kinds if kind in LABELS)
        for difference in comparison.differences
    }
    return {number: label for number, label in labels.items() if label}


def shown_pieces(
    pieces: Sequence[Piece],
    in_spelling: Container[int] = (),
    moves: Mapping[int, str] | None = None,
    differences: Sequence[Difference] = (),
    labels: MutableMapping[int, str] | None = None,
) -> tuple[ShownPiece, ...]:
    """Separate the leading spaces of pieces.

    ``in_spelling`` holds the differences in spelling only; ``moves`` describes those that are moves. A label is taken
    out of ``labels`` by the first piece of its difference.
    """
    shown = []
    for i, piece in enumerate(pieces):
        text = piece.text.lstrip()
        beside_gap = i > 0 and "gap" in (piece.kind, pieces[i - 1].kind)
        space = " " if beside_gap or len(text) < len(piece.text) else ""
        is_spelling, move = piece.difference in in_spelling, (moves or {}).get(piece.difference, "")
        shown.append(
            ShownPiece(
                kind=piece.kind,
                space=space,
                text=text,
                difference=piece.difference,
                is_spelling=is_spelling,
                move=move,
                kinds=differences[piece.difference - 1].kinds if 0 < piece.difference <= len(differences) else (),
                label="" if labels is None or not piece.difference else labels.pop(piece.difference, ""),
            )
        )
    return tuple(shown)


_STYLES: dict[Kind, str] = {"equal": "", "only_a": "yellow strike", "only_b": "cyan underline", "gap": "dim"}


def to_terminal(comparison: Comparison) -> list[tuple[str, str]]:
    r"""Return styles and texts to print: each hunk under its line numbers, with ``[-A-]`` and ``{+B+}`` in it.

    Examples
    --------
    >>> from nearkin.stages.differences.comparing import compare_texts
    >>> print("".join(text for _, text in to_terminal(compare_texts("due\nin 30 days", "due in 45 days"))), end="")
    @@ A line 1 · B line 1 @@
    due
    in [-30-] {+45+} days
    """
    spans: list[tuple[str, str]] = []
    for i, hunk in enumerate(comparison.hunks):
        spans += [("", "\n")] * (i > 0)
        spans += _hunk_spans(hunk, comparison.move_notes)
    if not comparison.is_whole:
        spans.append(("bold", "The texts are too long to be compared to the end: some shared words are marked.\n"))
    return spans


def pieces_to_terminal(pieces: Sequence[Piece], notes: Mapping[int, str] | None = None) -> list[tuple[str, str]]:
    """Return styles and texts of a line or a passage."""
    return [(_STYLES[kind], text) for kind, text in marked_pieces(pieces, notes)]


def _hunk_spans(hunk: Hunk, notes: Mapping[int, str]) -> Iterator[tuple[str, str]]:
    yield "bold", f"@@ A line {hunk.line_a:,} · B line {hunk.line_b:,} @@"
    yield "", "\n"
    for line in hunk.lines:
        yield from pieces_to_terminal(line.pieces, notes)
        yield "", "\n"


MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_TYPES = "http://schemas.openxmlformats.org/package/2006"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_CONTENT_TYPES = (
    f'{_XML}<Types xmlns="{_TYPES}/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    f'<Override PartName="/word/document.xml" ContentType="{MEDIA_TYPE}.main+xml"/>'
    '<Override PartName="/docProps/core.xml" ContentType="application/vnd.openxmlformats-package.core-properties+xml"/>'
    "</Types>"
)
_RELATIONSHIPS = (
    f'{_XML}<Relationships xmlns="{_TYPES}/relationships">'
    f'<Relationship Id="rId1" Type="{_OFFICE}/officeDocument" Target="word/document.xml"/>'
    f'<Relationship Id="rId2" Type="{_TYPES}/relationships/metadata/core-properties" Target="docProps/core.xml"/>'
    "</Relationships>"
)
_ELEMENTS: dict[SegmentKind, str] = {"only_a": "del", "only_b": "ins"}
_LINE_END = re.compile(r"\r\n?")
_PARTS = re.compile(r"[\t\n\f]|[^\t\n\f]+")
_NOT_IN_XML = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def tracked_changes(
    text_a: str, text_b: str, *, name_a: str, name_b: str, author: str, at: datetime | None = None
) -> bytes:
    """Return a Word document (DOCX) in which the changes from A to B are tracked; equal arguments give equal bytes.

    Without ``at`` the time of the changes is now.
    """
    time = (at or datetime.now(UTC)).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    body = "".join(_paragraphs(exact_segments(_lined(text_a), _lined(text_b)), _allowed(author), time))
    return _word_document(body, f"Changes from {name_a} to {name_b}", author, time)


def word_table(title: str, names: Sequence[str], rows: Iterable[Sequence[str]], *, author: str) -> bytes:
    """Return a Word document (DOCX) with a title and a table, across the page; its head repeats on each page."""
    lines = [f"{_HEAD}{''.join(_cell(text) for text in names)}</w:tr>"]
    lines += [f"<w:tr>{''.join(_cell(text) for text in row)}</w:tr>" for row in rows]
    grid = f"<w:tblGrid>{'<w:gridCol/>' * len(names)}</w:tblGrid>"
    heading, table = f"<w:p>{_run(title, is_deleted=False)}</w:p>", f"<w:tbl>{_TABLE}{grid}{''.join(lines)}</w:tbl>"
    time = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return _word_document(f"{heading}{table}<w:p/>{_ACROSS}", title, author, time)


def _cell(text: str) -> str:
    return f"<w:tc><w:p>{_run(text, is_deleted=False)}</w:p></w:tc>"


_EDGES = "".join(
    f'<w:{one} w:val="single" w:sz="4"/>' for one in ("top", "left", "bottom", "right", "insideH", "insideV")
)
_TABLE = f'<w:tblPr><w:tblW w:w="5000" w:type="pct"/><w:tblBorders>{_EDGES}</w:tblBorders></w:tblPr>'
_HEAD = "<w:tr><w:trPr><w:tblHeader/></w:trPr>"
_ACROSS = (
    '<w:sectPr><w:pgSz w:w="16838" w:h="11906" w:orient="landscape"/>'
    '<w:pgMar w:top="720" w:right="720" w:bottom="720" w:left="720" w:header="360" w:footer="360" w:gutter="0"/>'
    "</w:sectPr>"
)


def _word_document(body: str, title: str, author: str, time: str) -> bytes:
    core = (
        f'{_XML}<cp:coreProperties xmlns:cp="{_TYPES}/metadata/core-properties" '
        'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/" '
        'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">'
        f"<dc:title>{escape(_allowed(title))}</dc:title><dc:creator>{escape(_allowed(author))}</dc:creator>"
        f"<dc:description>Nearkin {__version__}</dc:description>"
        f'<dcterms:created xsi:type="dcterms:W3CDTF">{time}</dcterms:created></cp:coreProperties>'
    )
    parts = {
        "[Content_Types].xml": _CONTENT_TYPES,
        "_rels/.rels": _RELATIONSHIPS,
        "docProps/core.xml": core,
        "word/document.xml": f'{_XML}<w:document xmlns:w="{_WORD}"><w:body>{body}</w:body></w:document>',
    }
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(zipfile.ZipInfo(name), content.encode(), zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def _lined(text: str) -> str:
    return _LINE_END.sub("\n", text)


def _allowed(text: str) -> str:
    return _NOT_IN_XML.sub(lambda character: reveal(character[0]), text)


def _paragraphs(segments: Iterator[TextSegment], author: str, time: str) -> Iterator[str]:
    """Yield the paragraphs; the end of the last one is that of the document, which cannot be tracked."""
    numbers, runs = count(1), list[str]()

    def tracked(element: str, inside: str | None) -> str:
        start = (
            f"<w:{element} w:id={quoteattr(str(next(numbers)))} w:author={quoteattr(author)} w:date={quoteattr(time)}"
        )
        return f"{start}/>" if inside is None else f"{start}>{inside}</w:{element}>"

    for segment in segments:
        element = _ELEMENTS.get(segment.kind)
        for i, line in enumerate(segment.text.split("\n")):
            if i:
                end = "" if element is None else f"<w:pPr><w:rPr>{tracked(element, None)}</w:rPr></w:pPr>"
                yield f"<w:p>{end}{''.join(runs)}</w:p>"
                runs.clear()
            if line:
                run = _run(line, is_deleted=element == "del")
                runs.append(run if element is None else tracked(element, run))
    yield f"<w:p>{''.join(runs)}</w:p>"


def _run(text: str, *, is_deleted: bool) -> str:
    element, inside = "delText" if is_deleted else "t", list[str]()
    for part in _PARTS.findall(text):
        if part == "\t":
            inside.append("<w:tab/>")
        elif part == "\f":
            inside.append('<w:br w:type="page"/>')
        else:
            inside.append(f'<w:{element} xml:space="preserve">{escape(_allowed(part))}</w:{element}>')
    return f"<w:r>{''.join(inside)}</w:r>"
