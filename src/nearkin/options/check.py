"""Options of ``nearkin check``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Literal

from nearkin.errors import ParameterError
from nearkin.options.collection import ListOptions, PlaceOptions, ReadOnlyOptions, WaitOptions
from nearkin.options.declared import Option, Same, argument, option
from nearkin.options.reading import DocumentOptions, EncodingOptions
from nearkin.stages.documents.rules import OnError

_alike = partial(option, panel="Similarity")
_storing = partial(option, panel="Storing")
_stream = partial(option, panel="Streams")
_service = partial(option, panel="The service")


def _share(given: Any) -> float | None:
    if given == "off":
        return None
    try:
        return float(given)
    except ValueError:
        raise ParameterError.of("containment", "off, or above 0 and at most 1", given) from None


class CheckCommand(ListOptions, ReadOnlyOptions, WaitOptions, DocumentOptions, EncodingOptions, PlaceOptions):
    """Options of the command."""

    file: Same[Path | None] = argument(
        "FILE", kind=Path, required=False,
        help="File to check; with --jsonl, a stream of documents. - for standard input.",
    )  # fmt: skip
    threshold: Same[float] = _alike(0.7, help="Minimum Jaccard similarity (word 5-grams) of a near-duplicate.")
    containment: Option[float | None, float | str] = _alike(
        metavar="SHARE|off", parse=_share,
        help="Minimum share of one text's word 5-grams that occur in the other; off: do not look for parts of "
        "texts. [default: 0.9; with --jsonl: off]",
    )  # fmt: skip
    measure: Same[Literal["jaccard", "index"]] = _alike(
        "jaccard",
        help="How candidates are found: jaccard (shared keys), or index (the similarity index, which misses most "
        "matches). Every listed document was compared word by word.",
    )
    tolerance: Same[float | None] = _alike(
        kind=float, help="Maximum relative difference of similarity indexes; only for index. [default: 0.3]"
    )
    limit: Same[int] = option(
        10, minimum=1, maximum=10_000, panel="Output", help="Maximum number of documents to list."
    )
    store: Same[bool] = _storing(False, excludes="read_only", help="Store the document, whatever the answer.")
    only_new: Same[bool] = _storing(
        False, needs="store",
        help="With --store: store the document only if it has no match; with --jsonl, also if it contains a stored "
        "one.",
    )  # fmt: skip
    doc_id: Same[str | None] = _storing(
        names=("--id",),
        help="With --store: id of the document; by default the path of FILE as typed. With --jsonl: key of the ids in "
        "each object; by default id.",
    )
    wave: Same[str] = _storing("check-ins", needs="store", help="Wave of the stored document. [default: check-ins]")
    jsonl: Same[bool] = _stream(
        False, excludes="encoding out", help="Read a stream of documents, one JSON object per line."
    )
    text: Same[str | None] = _stream(needs="jsonl", help="With --jsonl: key of the text of a document. [default: text]")
    kept: Same[Path | None] = _stream(
        kind=Path, metavar="FILE", needs="jsonl",
        help="With --jsonl: write the kept lines to this file; a dash (-) prints them instead of the answers. Kept "
        "are lines with the verdict 'new' or 'contains', and those stored before the stream began.",
    )  # fmt: skip
    on_error: Same[OnError | None] = _stream(
        needs="jsonl",
        help="With --jsonl: skip-documents answers an unreadable line with its error and continues; stop ends there. "
        "[default: skip-documents]",
    )
    server: Same[str | None] = _service(
        metavar="URL", excludes="jsonl read_only wait max_document_size extraction_limits ocr",
        help="URL of a running nearkin serve, which answers for its collection; omit COLLECTION.",
    )  # fmt: skip
    token_file: Same[Path | None] = _service(
        kind=Path, needs="server",
        help="With --server: file with the token for scripts. [default: the environment variable NEARKIN_TOKEN]",
    )  # fmt: skip

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.server is None) == (self.file is None):
            raise ParameterError("Name a COLLECTION and a FILE, or a FILE and --server.")
        if self.doc_id is not None and not (self.store or self.jsonl):
            raise ParameterError("needs 'store'.", parameter="doc_id")
        if self.tolerance is not None and self.measure != "index":
            raise ParameterError("needs --measure index.", parameter="tolerance")
        if self.store and not self.jsonl and self.doc_id is None and str(self.checked_file) == "-":
            raise ParameterError("Standard input requires --id with --store.")  # its name is no lasting one

    def defaults(self) -> Mapping[str, object]:
        """Parts of texts are not looked for in a stream."""
        return {"containment": "off" if vars(self)["jsonl"] else "0.9"}

    @property
    def checked_file(self) -> Path:
        """The file; with a service, it is the only argument."""
        return Path(self.collection) if self.file is None else self.file
