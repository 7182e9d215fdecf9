"""Languages whose names, parties and turns of a sentence are recognised: English, German and French."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

_READ = 200_000  # characters
_WORD = re.compile(r"[^\W\d_]+")
_MIN_SHARE = 0.08
"""Minimum share of frequent words among the words of a text; prose has 0.2 to 0.5."""
_SHORT = 30
"""Words of a text that is too short to tell its language; names are then recognised by capitals alone."""


@dataclass(frozen=True, slots=True)
class Language:
    """Language with rules for names; after determiners (lower case) a single capitalised word is a term."""

    name: str
    determiners: frozenset[str] = frozenset()
    has_capital_nouns: bool = False


def word_list(words: str) -> frozenset[str]:
    """Return the words of a list that is written in lines."""
    return frozenset(words.split())


ENGLISH = Language(
    "English",
    word_list("""the a an this these those any each every all no such said other its his her their our your both"""),
)
GERMAN = Language(
    "German",
    word_list(
        """der die das des dem den ein eine einer eines einem einen kein keine keiner keines keinem keinen dieser diese
        dieses diesem diesen jeder jede jedes jedem jeden alle aller allen im am zum zur vom beim ins ans sein seine
        seiner seines seinem seinen ihr ihre ihrer ihres ihrem ihren unser unsere welche welcher solche beide beiden"""
    ),
    has_capital_nouns=True,
)
FRENCH = Language(
    "French",
    word_list(
        """le la les l un une des du au aux ce cet cette ces son sa ses leur leurs notre votre chaque tout toute tous
        toutes aucun aucune ledit ladite lesdits dudit audit"""
    ),
)
SHORT = Language("too short")

# the most frequent words; those of languages without rules keep their texts from being taken for French or German
_FREQUENT: dict[Language | str, frozenset[str]] = {
    ENGLISH: word_list("the of and to in is by or shall be any for this that with as at on not it are from may such"),
    GERMAN: word_list(
        "der die und in den des das von zu ist im dem nicht mit für auf ein eine oder sich bei wird nach"
    ),
    FRENCH: word_list("le la les de des et du en une un est dans par pour au que qui il sur ou aux ce son sont à d l"),
    "es": word_list("el la los las de del y que en un una es por para con se al su no lo o será como"),
    "it": word_list("il la di e che in un una del della è per con le dei al da si non i o alla nel sono"),
    "pt": word_list("o a os as de do da e que em um uma é para com por se no na dos não ao ou das"),
    "nl": word_list("de het een van en in is dat op te voor met niet aan door of zijn wordt bij die er om als ook"),
    "da, no": word_list("og i at er en et den til på det som med for af av ikke de der har eller skal om fra ved"),
    "sv": word_list("och i att är en ett den till på det som med för av inte de har eller ska om från vid skall"),
}


def language_of(text: str) -> Language | None:
    """Return the language of a text; None for one without rules, `SHORT` if there are too few words.

    Examples
    --------
    >>> language_of("Der Käufer haftet nicht für Schäden, die nach der Übergabe an der Sache entstehen.").name
    'German'
    >>> language_of("El comprador no responde de los daños que se produzcan después de la entrega de la cosa.")
    """
    words = Counter(_WORD.findall(text[:_READ].lower()))
    n_words = words.total()
    found = {language: sum(words[word] for word in listed) for language, listed in _FREQUENT.items()}
    best = max(found, key=lambda language: found[language])
    if found[best] >= max(2, _MIN_SHARE * n_words):
        return best if isinstance(best, Language) else None
    return SHORT if n_words < _SHORT else None


def common_language(a: Language | None, b: Language | None) -> Language | None:
    """Return the language of two texts, if it is the same or one is too short to tell."""
    return b if a is SHORT else a if b is SHORT or a is b else None
