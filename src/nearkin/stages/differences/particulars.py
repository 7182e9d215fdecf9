"""Particulars of a form: names, numbers, dates, signatures."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import blake2b
from typing import Literal

from nearkin.stages.differences.words import BLANK, Word, Wording, count_words
from nearkin.stages.number_words import DATE_WORDS, NUMBER_WORDS, OTHER_DATE_WORDS, OTHER_NUMBER_WORDS

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
    counts = {language: sum(words[word] for word in listed) for language, listed in _FREQUENT.items()}
    best = max(counts, key=lambda language: counts[language])
    if counts[best] >= max(2, _MIN_SHARE * n_words):
        return best if isinstance(best, Language) else None
    return SHORT if n_words < _SHORT else None


def common_language(a: Language | None, b: Language | None) -> Language | None:
    """Return the language of two texts, if it is the same or one is too short to tell."""
    return b if a is SHORT else a if b is SHORT or a is b else None


PARTIES = word_list(
    """inc incorporated corp corporation co company llc lp llp ltd limited plc gmbh ag kg ohg kgaa ug se ev sa sas sarl
    sasu snc bv nv na fsb trust bank partnership liability association société"""
)
"""Kinds of companies, which belong to a name."""
TITLES = word_list(
    "mr mrs ms miss dr prof professor esq jr sr ii iii iv herr herrn frau dipl ing m mme mlle madame maître me"
)
"""Titles, which belong to the name beside them."""
PRONOUNS = word_list("he she his her him hers himself herself")
"""Words that follow the name of a party; the difference of a pronoun alone is none of names."""
ROLES = word_list(
    """agent borrower buyer client consultant contractor customer debtor employee employer executive grantor guarantor
    landlord lender lessee lessor licensee licensor obligor owner party parties pledgor purchaser seller servicer
    subtenant supplier tenant trustee vendor agreement article section schedule exhibit appendix annex
    acheteur vendeur bailleur preneur locataire employeur salarié prêteur emprunteur client prestataire"""
)
"""Parties and parts of a contract, which are no names although they may have capitals everywhere."""
SIGNING = word_list(
    """by name title its date dated signed signature sign witness witnessed attest attested notary s seal president
    chairman secretary treasurer director officer chief executive vice senior general counsel manager member board
    committee ceo cfo coo individually duly authorized printed print gez unterschrift unterzeichnet ort datum
    signé fait lu approuvé nom qualité"""
)
"""Words of signature lines."""
SIGNED = word_list("signed signature dated witness attest notary gez unterschrift unterzeichnet signé")
"""Those that show it without a colon or a name."""
COUNTING = NUMBER_WORDS | OTHER_NUMBER_WORDS
JOINING = word_list("a an the of and or for to at on in day this de la von van der as zu zum des du et und le")
"""Words that occur within names, dates and sums and indicate neither."""
CURRENCIES = word_list("euro euros eur dm usd gbp chf dollar dollars pound pounds franc francs")
"""Words of sums, which count as numbers."""

TURNING = word_list(
    """not no nor never none neither cannot without unless except only may must shall should can could
    nicht kein keine keinen keinem keiner keines nie niemals ohne nur darf dürfen muss müssen kann können soll sollen
    außer ne n pas jamais aucun aucune sans sauf seulement uniquement peut peuvent doit doivent"""
)
"""Words that change the meaning of a sentence."""

Kind = Literal["name", "number", "date", "joining", "pronoun", "other"]

_MAX_READ = 4_000_000  # characters examined for the spelling of words
_ANY_WORD = re.compile(r"[^\W\d_]+")
_WITHIN_SENTENCE = re.compile(r"(?<=[\w,] )[^\W\d_]+")
_TAGS = ("<PAGE>", "<page>")
_SENTENCE_END = re.compile(r"(?:[.!?:;]\W*|\n\s*\n\W*|^\W*)$")
_ENDED = re.compile(r"(?:[.!?:;]\W*|\n\s*\n\W*)$")
_SHORT_WORD = re.compile(r"([^\W\d_]+)\.\W{0,3}$")
_LINE = 200  # characters of a line, on either side
_BACK = 24  # characters before a word that show whether it begins a sentence, or is in a heading
_LAST_WORD, _NEXT_WORD = re.compile(r"([^\W\d_]{2,})\s$"), re.compile(r"\s([^\W\d_]{2,})")

_CAPITAL = r"[A-ZÀ-ÖØ-Þ][^\W\d_]*"
_RUN = rf"\b{_CAPITAL}(?:[ -](?:& )?{_CAPITAL}){{0,7}}"
_FORMS = (
    r"(?:Inc|Corp|LLC|L\.L\.C|LP|L\.P|LLP|Ltd|PLC|N\.A|GmbH|AG|KG|OHG|UG|SE|KGaA|e\.\s?V"
    r"|S\.?A\.?S?|S\.?A\.?R\.?L|SARL|SNC)"
)
_TITLE = r"(?:Mr|Mrs|Ms|Dr|Prof|Herrn?|Frau|Firma|Mme|Mlle|Madame|Monsieur|Maître|Me|M)"
_EVIDENCE = re.compile(
    rf"(?P<company>{_RUN}),?[ ]{_FORMS}(?!\w)|\b{_TITLE}\.?[ ](?P<titled>{_RUN})"
    rf"|(?:/s/|gez\.)\s*(?P<signed>{_RUN})|(?P<initial>\b{_CAPITAL} [A-ZÀ-ÖØ-Þ]\. {_CAPITAL})"
    rf"|\b\d{{5}} (?P<town>{_CAPITAL})"
)
_QUOTED = re.compile(rf"[\"\u201c\u201e\u00ab]\s?({_RUN})[.,]?\s?[\"\u201d\u201c\u00bb]")
_CAPITALS = re.compile(rf"\b{_CAPITAL}(?: {_CAPITAL})*")
_INSIDE = re.compile(r"(?:[^\W\d_]|,) ")


@cache
def _after_determiner(language: Language) -> re.Pattern[str]:
    """Return a pattern for words after a determiner: a defined term, or a German noun."""
    listed = "|".join(
        sorted({form for determiner in language.determiners for form in (determiner, determiner.capitalize())})
    )
    if language.has_capital_nouns:  # an adjective may stand between
        return re.compile(rf"\b(?:{listed})(?: [a-zß-öø-ÿ]+e[nrsm]?){{0,2}} ({_CAPITAL})")
    return re.compile(rf"\b(?:{listed})[ '\u2019]({_RUN})")


@dataclass(frozen=True, slots=True)
class Spelling:
    """Spelling of the words of a text, in lower case.

    Parameters
    ----------
    small
        Words that begin with a lower-case letter somewhere, so they are not names.
    terms
        Words in quotation marks, or mostly after a determiner, such as "the Buyer", so they are not names.
    named
        Words beside a kind of company, a title, an initial, or a signature; where nouns have capitals, beside another
        one.
    """

    small: frozenset[str]
    within: frozenset[str]
    terms: frozenset[str] = frozenset()
    named: frozenset[str] = frozenset()

    @classmethod
    def of(cls, text: str, language: Language | None = ENGLISH) -> Spelling:
        """Examine the first four million characters.

        Examples
        --------
        >>> spelling = Spelling.of("The tenant, Ada Kern, pays. Rent is due to the Landlord and to Mr. Berg.")
        >>> sorted(spelling.within), sorted(spelling.terms), sorted(spelling.named)
        (['ada', 'kern', 'landlord', 'mr'], ['landlord'], ['berg'])
        """
        text = text[:_MAX_READ]
        words = _ANY_WORD.findall(text)
        small = frozenset(word for word in set(words) if word[0].islower())
        within = frozenset(word.lower() for word in set(_WITHIN_SENTENCE.findall(text)) if word[0].isupper())
        if language is None:
            return cls(small, within)
        n_of = Counter(word.lower() for word in words if word[0].isupper())
        named = {
            word
            for occurrence in _EVIDENCE.finditer(text)
            for run in occurrence.groups()
            if run
            for word in _words_of(run)
        }
        terms = {word.lower() for run in set(_QUOTED.findall(text)) for word in _ANY_WORD.findall(run)}
        if language.determiners:
            runs = map(_words_of, _after_determiner(language).findall(text))
            after = Counter(word for run in runs if len(run) == 1 or PARTIES.isdisjoint(run) for word in run)
            terms |= {word for word, n in after.items() if language.has_capital_nouns or 2 * n >= n_of[word]}
        named -= PARTIES | DATE_WORDS | JOINING
        terms -= named
        if language.has_capital_nouns:
            evidence = (
                occurrence
                for occurrence in _CAPITALS.finditer(text)
                if _INSIDE.fullmatch(text, occurrence.start() - 2, occurrence.start())
            )
            pairs = {tuple(run) for match in evidence if len(run := _words_of(match.group())) == 2}
            named |= {word for pair in pairs if terms.isdisjoint(pair) and small.isdisjoint(pair) for word in pair}
        return cls(small, within, frozenset(terms), frozenset(named))


def _words_of(run: str) -> list[str]:
    return _ANY_WORD.findall(run.lower())


@dataclass(frozen=True)
class Original(Wording):
    """Original text, with cached results."""

    @cached_property
    def language(self) -> Language | None:
        """Language of the text; None if it has no rules."""
        return language_of(self.text)

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        """Compared forms of all words."""
        return frozenset(word.core for word in self.words(0, len(self.text)))

    @cached_property
    def spelling(self) -> Spelling:
        """Spelling of its words."""
        return Spelling.of(self.text, self.language)

    @cached_property
    def n_words(self) -> int:
        """Number of its words."""
        return count_words(self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """Words of one text at a difference.

    Parameters
    ----------
    n_names, n_numbers, n_dates, n_other
        Names of persons, parties and places; numbers and sums; months and weekdays; other words, with pronouns.
    n_signing, n_turning
        Among the other words, those of signature lines, and those that change the meaning of a sentence.
    """

    n_words: int
    n_names: int
    n_numbers: int
    n_dates: int
    n_other: int
    n_joining: int
    n_blanks: int
    n_signing: int
    n_turning: int
    n_pronouns: int
    other: frozenset[str]
    is_signing: bool

    @property
    def n_particulars(self) -> int:
        """Number of words that fill in a form."""
        return self.n_words - self.n_other

    @property
    def is_open(self) -> bool:
        """Whether nothing stands here, or a blank with at most the beginning of a date or a number."""
        return self.n_names == self.n_other == 0 and (self.n_words == 0 or self.n_blanks > 0)


def look_at(words: Sequence[Word], original: Original, texts: tuple[Original, Original]) -> Side:
    """Classify the words of a text at a difference; a word in lower case in either text is not a name."""
    plain = [word for word in words if word.is_word]
    kinds = kinds_of_words(plain, original, texts)
    n_blanks = sum(word.core == BLANK for word in words)
    if not n_blanks and set(kinds) == {"joining"}:  # "and" for "or" is not part of a name or a date
        kinds = ["other"] * len(kinds)
    n_of = Counter(kinds)
    rest = [word.core for word, kind in zip(plain, kinds, strict=True) if kind == "other"]
    n_signing = sum(core in SIGNING for core in rest)
    return Side(
        n_words=len(plain) - n_of["joining"],
        n_names=n_of["name"],
        n_numbers=n_of["number"],
        n_dates=n_of["date"],
        n_other=n_of["other"] + n_of["pronoun"],
        n_joining=n_of["joining"],
        n_blanks=n_blanks,
        n_signing=n_signing,
        n_turning=sum(core in TURNING for core in rest),
        n_pronouns=n_of["pronoun"],
        other=frozenset(rest),
        is_signing=n_of["date"] > 0 or any(_is_signature(word, original.text, n_of["name"]) for word in plain),
    )


def _is_signature(word: Word, text: str, n_names: int) -> bool:
    """Whether a word shows a signature: one such as "signed", a label with a colon, or a line with a name."""
    if text[max(0, word.start - 1) : word.end + 1] == "/s/" or word.core in SIGNED:
        return True
    begins_line = not text[max(0, word.start - _BACK) : word.start].rpartition("\n")[2].strip(" _\t")
    return word.core in SIGNING and (text[word.end : word.end + 1] == ":" or (n_names > 0 and begins_line))


def kinds_of_words(words: Sequence[Word], original: Original, texts: tuple[Original, Original]) -> list[Kind]:
    """Return the kind of each word of one side; in a language without rules, none is a name."""
    language = common_language(texts[0].language, texts[1].language)
    return _with_name_parts([_kind(word, original, texts, language) for word in words], words, original.text, texts)


def without_names(text: str) -> tuple[int, int]:
    """Return hashes of the words that belong to no name, and of the others; of pronouns and what joins names, none.

    Texts with the first in common, and not the second, differ in names only.

    Examples
    --------
    >>> texts = [f"This certifies that {name} has passed the course." for name in ("Ada Kern", "Max van Berg")]
    >>> (one, names), (other, other_names) = map(without_names, texts)
    >>> one == other, names == other_names
    (True, False)
    """
    original = Original(text)
    words = [word for word in original.words(0, len(text)) if word.is_word]
    kinds = kinds_of_words(words, original, (original, original))
    named = [kind == "name" for kind in kinds]
    for i in range(1, len(kinds) - 1):
        named[i] = named[i] or (kinds[i] == "joining" and (named[i - 1] or "name" in kinds[i - 1 : i + 2 : 2]))
    parts: tuple[list[str], list[str]] = ([], [])
    for word, kind, is_name in zip(words, kinds, named, strict=True):
        if kind != "pronoun":
            parts[is_name].append(word.core)
    rest, names = (blake2b("\n".join(part).encode(), digest_size=8).digest() for part in parts)
    return int.from_bytes(rest), int.from_bytes(names)


def _kind(word: Word, original: Original, texts: tuple[Original, Original], language: Language | None) -> Kind:
    core, text, is_capital = word.core, original.text, original.text[word.start].isupper()
    if (core in DATE_WORDS and is_capital) or core in OTHER_DATE_WORDS:
        return "date"
    if core in COUNTING or core in CURRENCIES or any(character.isdigit() for character in core):
        return "number"
    if len(core) == 1:
        around = text[word.start - 1 : word.start] + text[word.end : word.end + 1]
        if around == "()":
            return "number"  # of a clause
        if is_capital and around.endswith(".") and language is not None:
            return "name"  # an initial
    if core in JOINING or text[word.start - 1 : word.end + 1] in _TAGS:
        return "joining"
    if core in PRONOUNS:
        return "pronoun"
    return "name" if language is not None and _is_name(word, original, texts, language) else "other"


def _is_name(
    word: Word, original: Original, texts: tuple[Original, Original], language: Language, *, looks_ahead: bool = True
) -> bool:
    """Whether a word is part of a name; one that begins a sentence is, if the word beside it is without a third."""
    core, text, spellings = word.core, original.text, [text.spelling for text in texts]
    if not text[word.start].isupper() or core == "i" or core in SIGNING or core in ROLES or core in DATE_WORDS:
        return False
    if core in PARTIES or core in TITLES:
        is_form = len(core) != 2 or core in ("co", "dr", "mr", "ms") or text[word.start : word.end].isupper()
        return is_form and all(core not in spelling.terms for spelling in spellings)
    if any(core in spelling.small or core in spelling.terms for spelling in spellings):
        return False
    if any(core in spelling.named for spelling in spellings):
        return True
    if language.has_capital_nouns:
        return False
    if text[word.start : word.end].isupper() and _is_in_heading(text, word.start, word.end):
        return False
    if any(core in spelling.within for spelling in spellings) or not _begins_sentence(text, word.start):
        return True
    after = (
        next((word_after for word_after in original.words(word.end, word.end + _BACK) if word_after.is_word), None)
        if looks_ahead
        else None
    )
    is_beside = after is not None and not text[word.end : after.start].strip(".\u00a0 ")
    return is_beside and after is not None and _is_name(after, original, texts, language, looks_ahead=False)


def _is_in_heading(text: str, start: int, end: int) -> bool:
    """Whether a word is beside another in capitals, and no word beside it in the line has a small letter."""
    around = _LAST_WORD.search(text[max(0, start - _BACK) : start]), _NEXT_WORD.match(text, end)
    is_beside = any(occurrence is not None and occurrence[1].isupper() for occurrence in around)
    before, after = text[max(0, start - _LINE) : start].rpartition("\n")[2], text[end : end + _LINE].partition("\n")[0]
    return is_beside and (before + after).isupper()


def _begins_sentence(text: str, place: int) -> bool:
    """Whether a word begins a sentence; the dot of an initial or a title ends none."""
    before = text[max(0, place - _BACK) : place]
    short = _SHORT_WORD.search(before)
    if short is not None and (len(short[1]) == 1 or short[1].lower() in {*PARTIES, *TITLES}):
        return False
    return _SENTENCE_END.search(before) is not None if place <= _BACK else _ENDED.search(before) is not None


def _with_name_parts(
    kinds: list[Kind], words: Sequence[Word], text: str, texts: tuple[Original, Original]
) -> list[Kind]:
    """Mark a capitalised word beside part of a name as part of it: Larry D. Key."""
    result = kinds.copy()
    for i, word in enumerate(words):
        is_term = word.core in ROLES or any(word.core in text.spelling.terms for text in texts)
        if kinds[i] != "other" or word.core in SIGNING or is_term or not text[word.start].isupper():
            continue
        beside = [j for j in (i - 1, i + 1) if 0 <= j < len(words) and kinds[j] == "name"]
        if any(text[min(words[j].end, word.end) : max(words[j].start, word.start)].strip(". ") == "" for j in beside):
            result[i] = "name"
    return result
