"""Operations on documents, groups, waves, searches and jobs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from nearkin.collection.check_in.check_in import check_many, check_one
from nearkin.collection.check_in.results import (
    CheckAnswer,
    Checked,
    CheckedDocument,
    CheckIn,
    CheckInMany,
    CheckMeasure,
    CheckOptions,
    check_name,
)
from nearkin.collection.decisions.removing import Removed
from nearkin.collection.groups.current import StoredGroups, stored_groups
from nearkin.collection.groups.members import GroupMembers, group_members
from nearkin.collection.info import Wave
from nearkin.collection.listing.details import DocumentDetails
from nearkin.collection.loads.adding import add_incoming
from nearkin.collection.loads.incoming import incoming_of
from nearkin.collection.measuring import ComparedDocuments, compare
from nearkin.collection.results import SimilarDocuments
from nearkin.collection.similar import similar_documents
from nearkin.collection.stored.group_state import GroupState
from nearkin.collection.stored.passages import DocumentsOfPassage, PassagesOfDocument
from nearkin.errors import ParameterError, UnknownDocumentError
from nearkin.stages.documents.rules import ReadingRules
from nearkin.web.api.operation import (
    DocId,
    JSONValues,
    Limit,
    NoParameters,
    Offset,
    OperationAnswer,
    RequestBody,
    Version,
    answer_of,
    answer_type,
    document_of,
    operation,
)
from nearkin.web.jobs import Job
from nearkin.web.later import Found, LongWork, characters_to_check
from nearkin.web.queries import GroupingQuery, ToleranceQuery
from nearkin.web.sent_files import source_of_sent
from nearkin.web.service import ReviewService, address
from nearkin.web.sign_in import Visitor

Share = Annotated[float, Meta(gt=0, le=1)]
FileName = Annotated[str, Meta(max_length=1_000, description="Name of the file; its suffix may say its kind.")]
EncodingName = Annotated[
    str, Meta(min_length=1, max_length=40, description="Encoding of a text file that is not valid UTF-8.")
]
WaveName = Annotated[str, Meta(min_length=1, max_length=500, description="A missing wave is created.")]


class StoredQuery(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A document that is stored."""

    id: DocId
    wave: WaveName = "api"
    name: FileName | None = None
    encoding: EncodingName = "utf-8"


def put_document(service: ReviewService, visitor: Visitor, query: StoredQuery, sent: RequestBody) -> OperationAnswer:
    """Store a text or a file under an id."""
    check_name("id", query.id)
    document = document_of(sent, query.name, query.encoding)
    incoming = incoming_of(
        [query.id], [document.text], [1], source_of_sent(query.name, "api"), document.file_under(query.id)
    )
    rules = ReadingRules.of("stop")
    added = add_incoming(
        service.collection.opened, [incoming], wave=query.wave, threads=1, rules=rules, by=visitor.name
    )
    outcome = "new" if added.n_new else "new version" if added.n_new_versions else "unchanged"
    collection = service.collection
    stored = collection.document(query.id)
    while stored.version > 1 and collection.text(query.id, version=stored.version) != document.text:
        stored = collection.document(query.id, version=stored.version - 1)  # another request has stored a later text
    answer = {
        "doc_id": query.id,
        "outcome": outcome,
        "version": stored.version,
        "wave": stored.wave,
        "missing": document.missing,
        "not_stored": document.inside,
        "page": _page(query.id),
    }
    return OperationAnswer(201 if added.n_new else 200, answer)


class DocumentAsked(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A document."""

    id: DocId
    version: Version | None = None


def get_document(service: ReviewService, _: Visitor, body: DocumentAsked, __: object) -> DocumentDetails:
    """Return a document with its text."""
    return service.collection.details(body.id, version=body.version)


def get_passages(service: ReviewService, _: Visitor, body: DocumentAsked, __: object) -> PassagesOfDocument:
    """List the passages of a document that stand in other documents, too."""
    return service.collection.passages(body.id, version=body.version)


class PassageAsked(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A stored passage."""

    passage: Annotated[int, Meta(ge=0)]
    limit: Limit = 50


def get_passage(service: ReviewService, _: Visitor, body: PassageAsked, __: object) -> DocumentsOfPassage:
    """List the documents with a passage."""
    return service.collection.documents_with_passage(body.passage, limit=body.limit)


class RemovalAsked(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A document that is removed."""

    id: DocId


def delete_document(service: ReviewService, visitor: Visitor, body: RemovalAsked, _: object) -> Removed:
    """Remove a document; its versions stay in the history."""
    return service.collection.remove([body.id], by=visitor.name)


class SimilarAsked(ToleranceQuery, kw_only=True, forbid_unknown_fields=True):
    """A document, and the tolerance of similar documents."""

    id: DocId
    version: Version | None = None
    limit: Limit = 50


def get_similar(service: ReviewService, _: Visitor, body: SimilarAsked, __: object) -> LongWork[SimilarDocuments]:
    """List the documents similar to a document."""
    given = partial(similar_documents, doc_id=body.id, text=None, version=body.version, limit=body.limit)
    size = service.collection.document(body.id, version=body.version).n_characters
    return LongWork(partial(given, tolerance=body.tolerance), size)


class CheckAsked(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Thresholds of a check, and the id and wave if the text is to be stored."""

    threshold: Annotated[Share, Meta(description="Minimum Jaccard similarity (word 5-grams) of a near-duplicate.")] = (
        0.7
    )
    containment: Annotated[Share, Meta(description="Minimum share of one text's word 5-grams found in the other.")] = (
        0.9
    )
    parts: Annotated[bool, Meta(description="Whether to look for parts of texts.")] = True
    measure: CheckMeasure = "jaccard"
    tolerance: Annotated[float, Meta(gt=0, le=10, description="For the measure index.")] = 0.3
    limit: Limit = 10
    store: Annotated[bool, Meta(description="Store the text, whatever the verdict.")] = False
    only_new: Annotated[bool, Meta(description="With store: only if the verdict is new.")] = False
    id: DocId | None = None
    wave: WaveName = "check-ins"
    name: FileName | None = None
    encoding: EncodingName = "utf-8"

    @property
    def changes(self) -> bool:
        """Whether the text is to be stored."""
        return self.store

    def options(self) -> CheckOptions:
        """Return the thresholds."""
        return CheckOptions(
            threshold=self.threshold,
            containment=self.containment if self.parts else None,
            measure=self.measure,
            tolerance=self.tolerance,
            limit=self.limit,
        )

    def under(self) -> CheckIn | None:
        """Return the id and wave under which the text is stored."""
        if not self.store:
            if self.id is not None or self.only_new:
                raise ParameterError("id and only_new say how a document is stored: add store=true.")
            return None
        if self.id is None:
            raise ParameterError("store=true requires an id: add id=….")
        return CheckIn(self.id, wave=self.wave, source=source_of_sent(self.name, "check-in"), only_new=self.only_new)


def post_check(
    service: ReviewService, visitor: Visitor, body: CheckAsked, sent: RequestBody
) -> Mapping[str, object] | LongWork[Checked]:
    """Check whether something similar is stored; with store=true, also store the text."""
    options, under = body.options(), body.under()
    sent_document = document_of(sent, body.name, body.encoding)
    if under is not None:
        under = replace(under, file=sent_document.file_under(under.doc_id), by=visitor.name)

    def answer_to(checked: Checked) -> dict[str, object]:
        answer = replace(checked, missing=sent_document.missing, not_checked=sent_document.inside).to_dict()
        answer["documents"] = [
            {**document.to_dict(), "page": _page(document.document.doc_id)} for document in checked.documents
        ]
        if checked.stored_as is not None and checked.documents:
            answer["comparison"] = address("/compare", a=checked.documents[0].document.doc_id, b=checked.stored_as)
        return answer

    work = partial(check_one, text=sent_document.text, options=options, under=under)
    return _check(service, work, [sent_document.text], answer_to)


def _check(
    service: ReviewService,
    work: partial[Found],
    texts: Iterable[str],
    answer_to: Callable[[Found], Mapping[str, object]],
) -> Mapping[str, object] | LongWork[Found]:
    """Check texts here if they are stored, too, which is a change."""
    opened = service.collection.opened
    if work.keywords["under"] is not None:
        return answer_to(work(opened))
    with opened.store.reading() as connection:
        return LongWork(work, characters_to_check(connection, texts), answer_to)


class DocumentToCheck(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A text with its id."""

    id: DocId
    text: str


class ChecksBody(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Texts to check one after another; with ``store``, each is also compared with those stored before it."""

    documents: Annotated[list[DocumentToCheck], Meta(min_length=1, max_length=1_000)]
    threshold: Share = 0.7
    containment: Share | None = 0.9
    limit: Limit = 10
    store: bool = False
    only_new: bool = False
    wave: WaveName = "check-ins"

    @property
    def changes(self) -> bool:
        """Whether the texts are to be stored."""
        return self.store


def post_checks(
    service: ReviewService, visitor: Visitor, _: NoParameters, body: ChecksBody
) -> Mapping[str, object] | LongWork[tuple[CheckAnswer, ...]]:
    """Check several texts; with store, also store them."""
    options = CheckOptions(threshold=body.threshold, containment=body.containment, limit=body.limit, with_passage=False)
    under = CheckInMany(wave=body.wave, only_new=body.only_new, by=visitor.name) if body.store else None
    documents = [(document.id, document.text) for document in body.documents]
    work = partial(check_many, documents=documents, options=options, under=under, stops=False)
    return _check(service, work, (text for _, text in documents), lambda checked: {"answers": checked})


class CompareAsked(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Two documents, and the differences that do not count."""

    a: DocId
    b: DocId
    version_a: Version | None = None
    version_b: Version | None = None
    ignore: list[Literal["case", "punctuation", "numbers"]] = msgspec.field(default_factory=list)
    context_lines: Annotated[int, Meta(ge=0, le=1_000_000, description="Lines around each difference.")] = 2


def get_comparison(service: ReviewService, _: Visitor, body: CompareAsked, __: object) -> LongWork[ComparedDocuments]:
    """Compare two documents word by word."""
    versions = {"version_a": body.version_a, "version_b": body.version_b}
    work = partial(
        compare, a=body.a, b=body.b, version_a=body.version_a, version_b=body.version_b,
        context_lines=body.context_lines, ignore=body.ignore,
    )  # fmt: skip
    page = address("/compare", a=body.a, b=body.b, ignore=body.ignore or None, **versions)
    sides = (body.a, body.version_a), (body.b, body.version_b)
    sizes = [service.collection.document(doc_id, version=version).n_characters for doc_id, version in sides]
    return LongWork(work, sum(sizes), lambda compared: {**compared.to_dict(), "page": page})


def _page(doc_id: str) -> str:
    return address("/document", id=doc_id)


_STORED = answer_of(
    "Stored",
    doc_id=str,
    outcome=Annotated[
        Literal["new", "new version", "unchanged"], Meta(description="unchanged: the id had the same text before.")
    ],
    version=int,
    wave=str,
    missing=Annotated[str | None, Meta(description="What could not be read of the file.")],
    not_stored=Annotated[list[str], Meta(description="Documents inside the file, which are not stored.")],
    page=str,
)
_CHECKED = answer_type(
    Checked,
    documents=list[answer_type(CheckedDocument, page=str)],  # type: ignore[misc]
    comparison=str | msgspec.UnsetType,
)
_REMOVED = answer_of("Removed", n_documents=int, n_unread=int, number=int | None, is_dry_run=bool)


Number = Annotated[int, Meta(ge=1, le=2**31 - 1)]


class ListedGroupsAsked(GroupingQuery, kw_only=True, forbid_unknown_fields=True):
    """A page of the groups at a tolerance."""

    limit: Limit = 50
    offset: Offset = 0


def get_groups(service: ReviewService, _: Visitor, body: ListedGroupsAsked, __: object) -> dict[str, object]:
    """List the stored groups, the largest first."""
    tolerance = body.tolerance
    with service.collection.opened.store.reading() as connection:
        groups = stored_groups(connection, tolerance, limit=body.limit, offset=body.offset)
        n_pairs = GroupState.known(connection, str(tolerance)).n_not_compared
    return {**groups.to_dict(), "expected_recall": tolerance.recall, "n_not_compared": n_pairs}


class GroupAsked(GroupingQuery, kw_only=True, forbid_unknown_fields=True):
    """A group at a tolerance."""

    number: Number
    limit: Limit = 200


def get_group(service: ReviewService, _: Visitor, body: GroupAsked, __: object) -> GroupMembers:
    """Return a group with its members."""
    return group_members(service.collection.opened, body.number, body.tolerance, limit=body.limit)


class UpdateAsked(GroupingQuery, kw_only=True, forbid_unknown_fields=True):
    """A tolerance."""


def update_groups(service: ReviewService, visitor: Visitor, body: UpdateAsked, _: object) -> OperationAnswer:
    """Update the groups at a tolerance: begins a job and returns it."""
    return OperationAnswer(202, service.jobs.update_groups(body.tolerance, by=visitor.name))


def get_jobs(service: ReviewService, _: Visitor, __: NoParameters, ___: object) -> dict[str, object]:
    """List the jobs, the newest first."""
    return {"jobs": service.jobs.listed()}


class JobAsked(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A job."""

    number: Number


def get_job(service: ReviewService, _: Visitor, body: JobAsked, __: object) -> Job:
    """Return a job with its progress."""
    job = service.jobs.find(body.number)
    if job is None:
        raise UnknownDocumentError(f"There is no job {body.number}. GET /api/v1/jobs lists the latest ones.")
    return job


def get_waves(service: ReviewService, _: Visitor, __: NoParameters, ___: object) -> dict[str, object]:
    """List the waves."""
    info = service.info.get().info
    return {"n_documents": info.n_documents, "waves": info.waves}


class PageAsked(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A page of a list."""

    limit: Limit = 200
    offset: Offset = 0


_GROUPS = answer_type(StoredGroups, expected_recall=float | None, n_not_compared=int)
_WAVES = answer_of("Waves", n_documents=int, waves=list[answer_type(Wave)])  # type: ignore[misc]


OPERATIONS = (
    operation("PUT", "/documents/{id}", put_document, _STORED, statuses=(200, 201)),
    operation("GET", "/documents/{id}", get_document),
    operation("DELETE", "/documents/{id}", delete_document, _REMOVED),
    operation("GET", "/documents/{id}/similar", get_similar, answer_type(SimilarDocuments)),
    operation("GET", "/documents/{id}/passages", get_passages),
    operation("GET", "/passages/{passage}", get_passage),
    operation("POST", "/check", post_check, _CHECKED),
    operation("POST", "/checks", post_checks, answer_of("CheckAnswers", answers=list[JSONValues])),
    operation("GET", "/compare", get_comparison, answer_type(ComparedDocuments, comparison=JSONValues, page=str)),
    operation("GET", "/groups", get_groups, _GROUPS),
    operation("POST", "/groups", update_groups, Job, statuses=(202,)),
    operation("GET", "/groups/{number}", get_group),
    operation("GET", "/jobs", get_jobs, answer_of("Jobs", jobs=list[Job])),
    operation("GET", "/jobs/{number}", get_job),
    operation("GET", "/waves", get_waves, _WAVES),
)
