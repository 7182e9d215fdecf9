"""Word, as the user writes it → its translations in a table."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from nearkin.errors import ParameterError
from nearkin.stages.translation.table import Translation, TranslationTable
from nearkin.workflows.table_words import TableWords


@dataclass(frozen=True, slots=True)
class LookedUp:
    """Translations of a word.

    Parameters
    ----------
    word : str
        The word as in the table: in lower case, and stemmed if the table is of stems.
    language, into : str
        Its language, and that of the translations.
    translations : tuple of Translation
        The most probable first.
    """

    word: str
    language: str
    into: str
    translations: tuple[Translation, ...]

    def summary(self) -> dict[str, object]:
        """Return the fields as JSON types."""
        return {"command": "align show", **asdict(self)}


def look_up(
    path: Path, word: str, *, is_reverse: bool = False, source: str | None = None, target: str | None = None
) -> LookedUp:
    """Look a word up in the file of a table.

    Parameters
    ----------
    path : Path
    word : str
    is_reverse : bool
        Whether the word is of the target language.
    source, target : str, optional
        Required languages of the table.

    Raises
    ------
    SourceError, FingerprintError
        The file cannot be read, or is of other languages.
    ParameterError
        ``word`` is not a single word.
    """
    table = TranslationTable.read(path, source=source, target=target)
    origin = table.origin
    found = TableWords.of_table(origin).one(word, is_target=is_reverse)
    if found is None:
        raise ParameterError(f"A table has translations of single words. Got {word!r} instead.")
    language, into = (origin.target, origin.source) if is_reverse else (origin.source, origin.target)
    return LookedUp(found, language, into, table.lookup(found, is_reverse=is_reverse))
