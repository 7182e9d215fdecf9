"""Request of a user: the input, and how to read it; used by every job."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from nearkin.errors import SourceError
from nearkin.paths import without_password
from nearkin.runs.progress import Progress
from nearkin.stages.documents.rules import ReadingRules
from nearkin.stages.documents.sources import Source, SourceSet
from nearkin.workflows.reading.inputs import StoredSource, file_inputs
from nearkin.workflows.reading.resolving import check_inputs, resolve_inputs
from nearkin.workflows.reading.texts import Texts

if TYPE_CHECKING:
    from nearkin.manifests.inputs import HowRead


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingRequest:
    """Input to read, and how to read it.

    Parameters
    ----------
    inputs : sequence of str or StoredSource
        Files, folders, globs, "-" for standard input; collections, results of runs; documents in memory.
    file_format, text, doc_id : str or None
        Format and columns; None: guessed.
    encoding : str
        Fallback encoding of text files, lines, CSV and TSV.
    rules : ReadingRules
        Rules for documents and files that cannot be read.
    stdin : binary file or None
        Used instead of the process's standard input.
    named : mapping of str to str
        Parameters by which the user named the columns, such as "left_text" for "text".
    """

    inputs: Sequence[str | StoredSource]
    file_format: str | None = None
    text: str | None = None
    doc_id: str | None = None
    encoding: str = "utf-8"
    rules: ReadingRules = field(default_factory=ReadingRules)
    stdin: BinaryIO | None = field(default=None, compare=False)
    named: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def shown_inputs(self) -> list[str]:
        """The inputs, without passwords of databases."""
        return [without_password(one) if isinstance(one, str) else one.name for one in self.inputs]

    def as_read(self) -> HowRead:
        """Return the options of reading, for the manifest."""
        from nearkin.manifests.inputs import HowRead

        rules = self.rules
        return HowRead(
            format=self.file_format,
            on_error=rules.on_error,
            max_unreadable=rules.max_unreadable,
            max_document_bytes=rules.max_document_bytes,
            text_root=rules.text_root,
            extraction_limits=rules.limits.given or None,
            ocr=rules.ocr,
        )

    def resolved(self, progress: Progress, *, without: Path | None = None) -> tuple[Source, ...]:
        """Find the sources; report what was guessed about them; see `found`."""
        return self.found(progress, without=without).sources

    def found(
        self,
        progress: Progress,
        *,
        optional: Collection[str] = (),
        in_order: bool = False,
        without: Path | None = None,
        with_unread: bool = False,
        is_said: bool = True,
    ) -> SourceSet:
        """Find the sources, and what is not read beside them.

        Parameters
        ----------
        progress : Progress
        optional, in_order, without, with_unread
            See `resolve_inputs`.
        is_said : bool
            Whether what was guessed about them is reported.

        Raises
        ------
        SourceError
            There is no input, or none can be read.
        """
        found = resolve_inputs(
            self.inputs,
            file_format=self.file_format,
            text=self.text,
            doc_id=self.doc_id,
            optional=optional,
            encoding=self.encoding,
            stdin=self.stdin,
            in_order=in_order,
            rules=self.rules,
            without=without,
            with_unread=with_unread,
            progress=progress,
        )
        if is_said:
            _say(found, progress)
        return found

    def opened(self, progress: Progress, check: Callable[[Texts], None] | None = None) -> Texts:
        """Return the sources, checked to have their columns.

        What was guessed about them is reported if ``check`` accepts them.

        Raises
        ------
        SourceError
        """
        try:
            found = self.found(progress, is_said=False)
            inputs = file_inputs(found.sources, encoding=self.encoding, stdin=self.stdin)
            texts = Texts(found.sources, inputs, self.rules, found.not_read)
            if check is not None:
                check(texts)
            _say(found, progress)
            check_inputs(found.sources, encoding=self.encoding, stdin=self.stdin)
        except SourceError as error:
            error.parameter = self.named.get(error.parameter or "", error.parameter)
            raise
        return texts


def _say(found: SourceSet, progress: Progress) -> None:
    for guess in found.guesses:
        progress.say(guess)
