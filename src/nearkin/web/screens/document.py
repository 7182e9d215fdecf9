"""A document: its text and the similar documents beside it, their comparison; and histories of documents and groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import msgspec
import pyarrow as pa
from markupsafe import Markup

from nearkin.collection.dates import DATE_TAG
from nearkin.collection.decisions.deciding import members_of, tags_of
from nearkin.collection.decisions.log import StoredState
from nearkin.collection.decisions.principals import overtaken_decisions
from nearkin.collection.groups.changes import GroupsSince, groups_since, known_waves
from nearkin.collection.history import MAX_COMPARED, group_time_line
from nearkin.collection.listing.details import family_of
from nearkin.collection.measuring import ComparedDocuments
from nearkin.collection.results import SimilarDocument, SimilarDocuments
from nearkin.collection.similar import similar_documents
from nearkin.collection.stored.documents import current_ids
from nearkin.collection.stored.documents import document as stored_document
from nearkin.collection.stored.group_state import stored_tolerances
from nearkin.collection.stored.passages import passages_of
from nearkin.collection.word_search.marking import marked
from nearkin.errors import ParameterError
from nearkin.nouns import counted
from nearkin.reports.comparison import MEDIA_TYPE, comparison_fragment, comparison_html, tracked_changes
from nearkin.reports.facts.activities import setting_words
from nearkin.reports.facts.comparing import similarity_facts
from nearkin.reports.facts.queries import change_words as group_change_words
from nearkin.reports.facts.queries import groups_since_facts, reason_words, similar_facts
from nearkin.reports.facts.stored import origin_facts
from nearkin.reports.plots import interval_chart
from nearkin.stages.differences.comparison import Comparison
from nearkin.web.later import NotYet
from nearkin.web.queries import SLIDER_MEASURES, GroupingQuery, ListPage, SliderMeasure, ToleranceQuery
from nearkin.web.screen import Screen, ScreenFile
from nearkin.web.screens.groups import compared, quick_tags, state_and_length
from nearkin.web.service import MAX_TEXT, ReviewService, ScreenAnswer
from nearkin.web.sign_in import Visitor
from nearkin.wording import distance_text, share_text

_MAX_LISTED, _MAX_COUNTED = 50, 500
_MOST_DIFFER = 16
"""One in so many of the limit are compared, usually."""
_MAX_WITH_PASSAGE, _MAX_OF_PASSAGE = 500, 5_000


@dataclass(frozen=True, slots=True)
class Slider:
    """Range of the tolerance of a measure on the screen.

    ``label`` names the measure, ``low`` and ``high`` are the ends of the slider, ``step`` its step.
    """

    label: str
    low: float
    high: float
    step: float
    is_distance: bool = False


SLIDERS: dict[SliderMeasure, Slider] = {
    "jaccard": Slider("Jaccard similarity of word 5-grams", 0.3, 1.0, 0.01),
    "containment": Slider("containment of word 5-grams", 0.3, 1.0, 0.01),
    "letters": Slider("distance of letter counts (γ)", 0.0, 0.1, 0.001, is_distance=True),
}
_N_BINS = 20


class DocumentQuery(ToleranceQuery, kw_only=True):
    """A document, the tolerance of similar documents, and the query whose words are marked."""

    id: str
    version: int | None = None
    is_whole: bool = msgspec.field(default=False, name="whole")
    q: str = ""


def document(service: ReviewService, query: DocumentQuery) -> ScreenAnswer:
    """Show a document and the similar documents."""
    details = service.collection.details(query.id, version=query.version)
    is_cut = not query.is_whole and len(details.text) > MAX_TEXT
    try:
        beside = alike(service, query)
    except NotYet as later:
        beside = ScreenAnswer("", {}, None, later)
    with service.collection.opened.store.reading() as connection:
        family, keyed = family_of(connection, details), quick_tags(connection)
        repeated = passages_of(connection, details.document)
        n_characters = MAX_TEXT if is_cut else len(details.text)
        pieces = marked(connection, details, n_characters, query.q, repeated.passages)
    values = {
        **beside.values,
        "found": details,
        "pieces_of_text": pieces,
        "n_hidden": len(details.text) - MAX_TEXT if is_cut else 0,
        "quick_tags": keyed,
        "family": family,
        "facts": [] if details.origin is None else list(origin_facts(details.origin)),
        "repeated": repeated,
    }
    data = {
        "document": details,
        "family": family.members,
        "is_family_truncated": family.is_truncated,
        "similar": beside.data,
        "passages": repeated.passages,
    }
    return ScreenAnswer("document.html.j2", values, data, beside.not_yet)


def alike(service: ReviewService, query: DocumentQuery) -> ScreenAnswer:
    """Show the slider and the similar documents: the part of the page that changes with the measure."""
    listed = similar(service, query)
    measures = [(name, SLIDERS[name].label) for name in SLIDER_MEASURES]
    values = {**listed.values, "slider": SLIDERS[query.measure], "measures": measures}
    return ScreenAnswer("alike.html.j2", values, listed.data)


def similar(service: ReviewService, query: DocumentQuery) -> ScreenAnswer:
    """List the documents within the tolerance of a document."""
    listed = _similar(service, query, _MAX_LISTED)
    with service.collection.opened.store.reading() as connection:
        tags = tags_of(connection, [similar_document.document.doc_id for similar_document in listed.documents])
    values = {
        "similar": listed,
        "shown_measure": lambda similar_document: measure_text(similar_document, query.measure),
        "tags": tags,
        "facts": list(similar_facts(listed)),
    }
    data = listed.to_dict() | {"tags": tags}
    return ScreenAnswer("alike_list.html.j2", values, data)


def _similar(service: ReviewService, document_query: DocumentQuery, limit: int) -> SimilarDocuments:
    tolerance, version = document_query.tolerance, document_query.version
    with service.collection.opened.store.reading() as connection:
        state, stored = StoredState.now(connection), stored_document(connection, document_query.id, version)
    work = partial(
        similar_documents, doc_id=document_query.id, text=None, tolerance=tolerance, version=version, limit=limit
    )
    n_characters = limit // _MOST_DIFFER * stored.n_characters
    return service.later.get(work, n_characters, state)


def measure_text(similar_document: SimilarDocument, measure: SliderMeasure) -> str:
    """Write the requested similarity."""
    if measure == "letters":
        return distance_text(similar_document.relative_distance)
    return share_text(measured(similar_document, measure))


def measured(similar_document: SimilarDocument, measure: SliderMeasure) -> float | None:
    """Return the similarity, or the distance, by a measure."""
    if measure == "letters":
        return similar_document.relative_distance
    return (
        max(similar_document.contained, similar_document.contains)
        if measure == "containment"
        else similar_document.jaccard
    )


def histogram(service: ReviewService, query: DocumentQuery) -> ScreenAnswer:
    """Draw the number of documents at each similarity, from the widest tolerance of the slider."""
    slider = SLIDERS[query.measure]
    loosest = slider.high if slider.is_distance else slider.low
    wide = msgspec.structs.replace(query, value=loosest)
    listed = _similar(service, wide, _MAX_COUNTED)
    values = [
        value
        for similar_document in listed.documents
        if (value := measured(similar_document, query.measure)) is not None
    ]
    edges, counts = binned(values, slider)
    at_least = "at most" if slider.is_distance else "at least"
    description = f"{counted(listed.n_found, 'document')} with {at_least} {loosest:g}."
    drawn = interval_chart(
        edges,
        counts,
        name="similarities",
        title=f"Documents by {slider.label}",
        description=description,
        x_title=slider.label,
        y_title="documents",
        width=560,
        height=90,
    )
    values_of_page = {"drawn": drawn, "n_found": listed.n_found, "n_counted": len(listed.documents)}
    data = {"measure": query.measure, "edges": edges, "counts": counts, "n_found": listed.n_found}
    return ScreenAnswer("histogram.html.j2", values_of_page, data)


def binned(values: Sequence[float], slider: Slider) -> tuple[list[float], list[int]]:
    """Count values in equal intervals of the slider; the last one has its end.

    Examples
    --------
    >>> edges, counts = binned([0.0, 0.004, 0.1], SLIDERS["letters"])
    >>> edges[:3], counts[0], counts[-1], sum(counts)
    ([0.0, 0.005, 0.01], 2, 1, 3)
    """
    step = (slider.high - slider.low) / _N_BINS
    counts = [0] * _N_BINS
    for value in values:
        if slider.low <= value <= slider.high:
            counts[min(_N_BINS - 1, int((value - slider.low) / step))] += 1
    return [round(slider.low + i * step, 6) for i in range(_N_BINS + 1)], counts


IGNORED = ("case", "punctuation", "numbers")
_ALL_LINES = 1 << 30
_N_TICKS = 250


class CompareQuery(msgspec.Struct, kw_only=True):
    """Two documents, and the differences that do not count."""

    a: str
    b: str
    version_a: int | None = None
    version_b: int | None = None
    ignore: list[Literal["case", "punctuation", "numbers"]] = msgspec.field(default_factory=list)
    is_whole: bool = msgspec.field(default=False, name="whole")
    view: Literal["inline", "sides"] = "inline"


def compare(service: ReviewService, query: CompareQuery) -> ScreenAnswer:
    """Compare two documents, of which A is the reference."""
    compared_documents = _compared(service, query)
    fragment = comparison_fragment(
        compared_documents.comparison, has_headline=False, is_side_by_side=query.view == "sides"
    )
    values = {
        "found": compared_documents,
        "facts": similarity_facts(compared_documents),
        "fragment": Markup(fragment),  # it escapes the texts
        "ticks": ticks(compared_documents.comparison, compared_documents.a.n_characters),
        "kinds": IGNORED,
    }
    return ScreenAnswer("compare.html.j2", values, compared_documents)


def _compared(service: ReviewService, query: CompareQuery) -> ComparedDocuments:
    return compared(
        service,
        query.a,
        query.b,
        version_a=query.version_a,
        version_b=query.version_b,
        context_lines=_ALL_LINES if query.is_whole else 2,
        ignore=tuple(query.ignore),
    )


def ticks(comparison: Comparison, n_characters: int) -> dict[int, int]:
    """Return the first difference at each place of the strip, by its place among the characters of A in thousandths."""
    numbers = dict[int, int]()
    for difference in comparison.differences:
        place = min(_N_TICKS - 1, _N_TICKS * difference.start_a // max(1, n_characters))
        numbers.setdefault(place * 1000 // _N_TICKS, difference.number)
    return numbers


def changes_file(service: ReviewService, visitor: Visitor, query: CompareQuery) -> bytes:
    """Return all changes from A to B as tracked changes of a Word document, including those that the page ignores."""
    a = service.collection.details(query.a, version=query.version_a)
    b = service.collection.details(query.b, version=query.version_b)
    return tracked_changes(a.text, b.text, name_a=str(a.document), name_b=str(b.document), author=visitor.name)


def comparison_file(service: ReviewService, _: Visitor, query: CompareQuery) -> bytes:
    """Return the comparison as a page for other people, with the same settings."""
    compared_documents = _compared(service, query)
    names = str(compared_documents.a), str(compared_documents.b.document)
    page = comparison_html(
        compared_documents.comparison, name_a=names[0], name_b=names[1], facts=similarity_facts(compared_documents)
    )
    return page.encode()


_CHANGES_OF_A_PAGE = 100
_MEMBERS_OF_A_PAGE, _MAX_EXPORTED = 25, 500  # each is compared with the one before


class HistoryQuery(msgspec.Struct, kw_only=True):
    """A document."""

    id: str


def history(service: ReviewService, query: HistoryQuery) -> ScreenAnswer:
    """Show all versions of a document, with the change that each made."""
    versions = service.collection.history(query.id)
    return ScreenAnswer("history.html.j2", {"found": versions}, versions)


class PassageQuery(msgspec.Struct, kw_only=True):
    """A stored passage."""

    number: int


def passage(service: ReviewService, query: PassageQuery) -> ScreenAnswer:
    """List the documents with a passage, and show it in the first of them."""
    listed = service.collection.documents_with_passage(query.number, limit=_MAX_WITH_PASSAGE)
    text = ""
    if listed.documents:
        first = listed.documents[0]
        text = service.collection.text(first.document.doc_id)[first.start : first.end][:_MAX_OF_PASSAGE]
    return ScreenAnswer("passage.html.j2", {"found": listed, "text": text}, listed)


class GroupHistoryQuery(GroupingQuery, kw_only=True):
    """A page of the members of a group in order of time, and the field of the tags that have their dates."""

    number: int
    page: int = 1
    date_tag: str = DATE_TAG


def group_history(service: ReviewService, query: GroupHistoryQuery) -> ScreenAnswer:
    """Show the members of a group in order of time, each with its largest change from the previous member."""
    page = ListPage.asked(query.page, _MEMBERS_OF_A_PAGE)
    state, n_characters = state_and_length(service, query.tolerance, [query.number])
    work = partial(
        group_time_line, number=query.number, tolerance=query.tolerance, date_tag=query.date_tag,
        limit=_MEMBERS_OF_A_PAGE, offset=page.start,
    )  # fmt: skip
    made_from = state, service.last_activity()
    history_of_group = service.later.get(work, 4 * n_characters, made_from)  # all of it is aligned
    values = {
        "found": history_of_group,
        "page": page.of(history_of_group.n_documents),
        "max_exported": _MAX_EXPORTED,
        "max_compared": MAX_COMPARED,
    }
    return ScreenAnswer("group_history.html.j2", values, history_of_group.to_dict() | {"page": page.number})


def group_history_table(service: ReviewService, query: GroupHistoryQuery) -> pa.Table:
    """Return a row for each member of a group, in order of time."""
    opened = service.collection.opened
    with opened.store.reading() as connection:
        n_documents = len(members_of(connection, query.number, str(query.tolerance)))
    if n_documents > _MAX_EXPORTED:
        raise ParameterError(
            f"The history is exported for groups with up to {_MAX_EXPORTED:,} documents; group {query.number} has "
            f"{n_documents:,}. Its pages have all of them."
        )
    return group_time_line(opened, query.number, query.tolerance, date_tag=query.date_tag, limit=_MAX_EXPORTED).table


class SinceQuery(GroupingQuery, kw_only=True):
    """A wave, by default the one before the last whose groups are known; and a page of the changes since."""

    wave: str | None = None
    show: Literal["groups", "documents"] = "groups"
    page: int = 1


def since(service: ReviewService, query: SinceQuery) -> ScreenAnswer:
    """List the groups that are new, grew, merged or dissolved since a wave, or the documents to look at."""
    waves, wave = _waves(service, query)
    with service.collection.opened.store.reading() as connection:
        others = [
            tuple(stored.split(" ")) for stored in stored_tolerances(connection) if stored != str(query.tolerance)
        ]
    values: dict[str, object] = {"waves": waves, "wave": wave, "other_tolerances": others}
    if wave is None:
        return ScreenAnswer("since.html.j2", {**values, "found": None}, {"waves": waves})
    changes_since, page = _since(service, query, wave), ListPage.asked(query.page, _CHANGES_OF_A_PAGE)
    start, is_of_groups = page.start, query.show == "groups"
    n_rows = len(changes_since.changes) if is_of_groups else len(changes_since.documents)
    rows = [] if is_of_groups else _to_look_at(service, changes_since, start)
    values |= {
        "found": changes_since,
        "changes": changes_since.changes[start : start + _CHANGES_OF_A_PAGE] if is_of_groups else (),
        "in_words": group_change_words,
        "rows": rows,
        "gone": {
            number
            for change in changes_since.changes
            for number in (*change.merged, *[change.number] * change.is_dissolved)
        },
        "facts": list(groups_since_facts(changes_since, len(changes_since.changes))),
        "page": page.of(n_rows),
    }
    data = changes_since.to_dict() | {"waves": waves, "page": page.number, "n_documents": len(changes_since.documents)}
    return ScreenAnswer("since.html.j2", values, data if is_of_groups else data | {"documents": rows})


def _to_look_at(service: ReviewService, changes_since: GroupsSince, start: int) -> list[dict[str, object]]:
    """Return a page of the documents with a change, each with the reason, and what was decided on an earlier text.

    ``is_current``: it may have been removed since the groups were updated.
    """
    rows = changes_since.documents.slice(start, _CHANGES_OF_A_PAGE).to_pylist()
    new_groups = {change.number for change in changes_since.changes if change.is_new}
    with service.collection.opened.store.reading() as connection:
        overtaken = overtaken_decisions(connection, [row["doc_id"] for row in rows])
        current = current_ids(connection, [row["doc_id"] for row in rows])
    return [
        {
            **{name: row[name] for name in ("doc_id", "version", "wave", "group", "group_was", "change")},
            "is_current": row["doc_id"] in current,
            "reason": reason_words(row, new_groups),
            "overtaken": [*map(setting_words, overtaken.get(row["doc_id"], ()))],
        }
        for row in rows
    ]


def since_table(service: ReviewService, query: SinceQuery) -> pa.Table:
    """Return a row for each document with a change, with the decisions that were made for an earlier text of it."""
    _, wave = _waves(service, query)
    if wave is None:
        raise ParameterError(f"The groups {query.tolerance.in_words()} were not stored at the end of any wave.")
    table = _since(service, query, wave).documents
    with service.collection.opened.store.reading() as connection:
        overtaken = overtaken_decisions(connection, table["doc_id"].to_pylist())
    settings = ["; ".join(map(setting_words, overtaken.get(doc_id, ()))) for doc_id in table["doc_id"].to_pylist()]
    return table.append_column("overtaken", pa.array(settings, pa.large_string()))


def _waves(service: ReviewService, query: SinceQuery) -> tuple[list[str], str | None]:
    with service.collection.opened.store.reading() as connection:
        waves = known_waves(connection, query.tolerance)
    return waves, query.wave or (waves[max(0, len(waves) - 2)] if waves else None)


def _since(service: ReviewService, query: SinceQuery, wave: str) -> GroupsSince:
    return groups_since(service.collection.opened, wave, query.tolerance)


SCREENS = (
    Screen("/document", DocumentQuery, document),
    Screen("/document/alike", DocumentQuery, alike, is_part=True),
    Screen("/document/similar", DocumentQuery, similar, is_part=True),
    Screen("/document/histogram", DocumentQuery, histogram, is_part=True),
    Screen(
        "/compare",
        CompareQuery,
        compare,
        files=(
            ScreenFile(".docx", MEDIA_TYPE, changes_file),
            ScreenFile(".html", "text/html; charset=utf-8", comparison_file),
        ),
    ),
    Screen("/history", HistoryQuery, history),
    Screen("/passage", PassageQuery, passage),
    Screen("/group/history", GroupHistoryQuery, group_history, group_history_table),
    Screen("/since", SinceQuery, since, since_table),
)
