"""Preparation of texts: checked, without the differences that do not count between two texts, digested."""

from __future__ import annotations

import functools
import hashlib
import re
import unicodedata
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearkin.arguments import checking_methods, checking_types
from nearkin.errors import ParameterError
from nearkin.kernels.buffers import as_type, integers, large_strings, text_buffers
from nearkin.kernels.hashing import hash_strings
from nearkin.kernels.lines import BATES, HIDDEN, HYPHEN, NUMBERS, join_broken_words, line_flags
from nearkin.kernels.text import count_visible, first_invalid_byte, fold
from nearkin.nouns import counted
from nearkin.records import I64, Bool
from nearkin.stages.documents.ignoring import NOTHING, Ignored
from nearkin.stages.number_words import INVISIBLE

STEPS = {
    "margins": "line numbers and Bates numbers in the margin of most lines or pages go",
    "hyphens": "a word that a hyphen breaks at the end of a line is one word",
    "nfkc": "Unicode compatibility forms become one (NFKC): full-width letters, ligatures, no-break spaces; "
    "soft hyphens go",
    "case": "capitals and small letters become one, by Unicode's case folding: ß and SS, both small sigmas; and I, İ, "
    "i and ı",
    "arabic": "forms of alef, of yeh and of kaf become one, Arabic and Persian digits become those of ASCII; vowel "
    "marks and the tatweel go",
    "accents": "letters of Latin, Greek and Cyrillic lose their marks: é and e, ü and u, й and и, ø and o",
    "space": "runs of white space become one space, none at either end",
}
DEFAULT_STEPS = "margins,hyphens,nfkc,case,arabic,space"
"""What `Normalisation` does if nothing else is asked for: every step but accents."""
_SOFT_HYPHEN = "\u00ad"
_RAISED = re.compile("[²³¹⁰⁴-⁹₀-₉]")
_CHOICES = re.compile(
    r"(?<![\w/.\-@:=&?#\\~%+])[^\W\d_]++(?:\s*+/\s*+[^\W\d_]++)+(?![\w/\\@=&#~%+]|[.:\-]\w)"  # no path, no address
)
_CHOICE, _SLASH, _LONGEST_CHOICES = re.compile(r"[^\W\d_]+"), re.compile("/"), 64
_OF_TABLES = ("nfkc", "case", "arabic", "accents")


class Normalised(NamedTuple):
    """Normalised texts, and whether each has nothing left without numbers or passages; None: they count."""

    texts: pa.LargeStringArray
    is_only_numbers: Bool | None
    is_only_ignored: Bool | None


@checking_methods
@dataclass(frozen=True, slots=True, kw_only=True)
class Normalisation:
    r"""Differences to ignore.

    Parameters
    ----------
    margins, hyphens, nfkc, case, arabic, accents, space
        Steps of `STEPS`, applied in this order; all but accents by default.
    ignored
        Passages and numbers that do not count; they are removed before the steps.

    Examples
    --------
    >>> texts = pa.array(["Ｓｅｅ  the\tﬁle"], pa.large_string())
    >>> Normalisation().apply(texts).to_pylist()
    ['see the file']
    >>> Normalisation.parse("case").apply(texts).to_pylist()
    ['ｓｅｅ  the\tfile']
    >>> texts = pa.array(["STRASSE", "straße", "stra-\nße"], pa.large_string())
    >>> Normalisation().apply(texts).to_pylist()
    ['strasse', 'strasse', 'strasse']
    >>> texts = pa.array(["A b 7 c"], pa.large_string())
    >>> Normalisation(ignored=Ignored(("text:b",), numbers=True)).apply(texts).to_pylist()
    ['a c']
    """

    margins: bool = True
    hyphens: bool = True
    nfkc: bool = True
    case: bool = True
    arabic: bool = True
    accents: bool = False
    space: bool = True
    ignored: Ignored = NOTHING

    @classmethod
    def parse(cls, text: str) -> Normalisation:
        """Parse names of `STEPS`, joined by commas, or ``"none"``; also the result of `str`."""
        rule = f"steps out of {', '.join(STEPS)}, joined by commas, or 'none'"
        if not isinstance(text, str):
            raise ParameterError.of("normalise", rule, text)
        text, mark, ignored = text.partition(";")
        steps = {step.strip() for step in text.split(",")} - {"", "none"}
        if unknown := steps - STEPS.keys():
            raise ParameterError.of("normalise", rule, ",".join(sorted(unknown)))
        return cls(**{step: step in steps for step in STEPS}, ignored=Ignored.restored(mark + ignored))

    def ignoring(self, ignored: Ignored) -> Normalisation:
        """Return the same steps with other passages that do not count."""
        return replace(self, ignored=ignored)

    @property
    def steps(self) -> tuple[str, ...]:
        """The enabled steps, in order."""
        return tuple(step for step in STEPS if getattr(self, step))

    def __str__(self) -> str:
        return (",".join(self.steps) or "none") + str(self.ignored)

    @property
    def shown(self) -> str:
        """The steps, and how many passages do not count, for a message."""
        n_passages = len(self.ignored.passages)
        numbers = ", without numbers" if self.ignored.numbers else ""
        passages = f", without {counted(n_passages, 'passage')}" if n_passages else ""
        return (",".join(self.steps) or "none") + passages + numbers

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the parameters that determine the result of `apply`."""
        return f"normalise={self}"

    @checking_types
    def apply(self, texts: pa.LargeStringArray) -> pa.LargeStringArray:
        """Return the normalised texts; nulls become empty."""
        return self.normalised(texts).texts

    @checking_types
    def normalised(self, texts: pa.LargeStringArray) -> Normalised:
        """Return the normalised texts, and which have only numbers or passages that do not count; see `apply`."""
        if not self.ignored:
            return Normalised(self._folded(texts), None, None)
        left = self.ignored.removed(texts)
        folded = self._folded(left.texts)
        if not self.ignored.passages:
            return Normalised(folded, left.is_only_numbers, None)
        spaceless = Normalisation.parse("space")
        is_only_ignored = _are_empty(folded if self.space else spaceless.apply(folded))
        if left.is_only_numbers is not None:
            is_only_ignored &= ~left.is_only_numbers
        is_only_ignored[is_only_ignored] = ~_are_empty(spaceless.apply(texts.filter(pa.array(is_only_ignored))))
        return Normalised(folded, left.is_only_numbers, is_only_ignored)

    def _folded(self, texts: pa.LargeStringArray) -> pa.LargeStringArray:
        """Apply the steps."""
        texts = texts.fill_null("") if texts.null_count else texts
        if self.margins or self.hyphens or self.nfkc or self.case:
            texts = self._marked(texts)
        if not (self.space or self._of_tables):
            return texts
        data, offsets = text_buffers(texts)
        folded, folded_offsets, is_left = fold(data, offsets, self._of_tables, collapse=self.space)
        normalised = large_strings(folded, folded_offsets)
        if is_left.any():
            mask = pa.array(is_left)
            normalised = pc.replace_with_mask(normalised, mask, self._apply_by_library(texts.filter(mask)))
        return normalised

    @property
    def _of_tables(self) -> tuple[str, ...]:
        """The enabled steps that change a character at a time."""
        return tuple(step for step in _OF_TABLES if getattr(self, step))

    def _marked(self, texts: pa.LargeStringArray) -> pa.LargeStringArray:
        """Remove the numbers in margins, join broken words, and mark what folding would hide, in the few such texts."""
        flags = line_flags(*text_buffers(texts))
        if self.margins and (flags & (NUMBERS | BATES)).any():
            texts = without_margins(texts)
        if self.hyphens and (flags & HYPHEN).any():
            mask = pa.array((flags & HYPHEN) > 0)
            joined = large_strings(*join_broken_words(*text_buffers(texts.filter(mask))))
            texts = pc.replace_with_mask(texts, mask, joined)
        if (flags & HIDDEN).any():
            mask = pa.array((flags & HIDDEN) > 0)
            marked = [self._with_marks(text) for text in texts.filter(mask).to_pylist()]
            texts = pc.replace_with_mask(texts, mask, pa.array(marked, pa.large_string()))
        return texts

    def _with_marks(self, text: str) -> str:
        """Mark digits that NFKC makes like others, and answers in capitals beside another, which are no paths."""
        if self.nfkc and not text.isascii():
            text = _RAISED.sub(rf"{INVISIBLE}\g<0>", text)
        return _with_marked_choices(text) if self.case else text

    def _apply_by_library(self, texts: pa.LargeStringArray) -> pa.LargeStringArray:
        """Apply NFKC of a library, which considers neighbouring characters too, and is thirty times slower."""
        texts = _nfkc(pc.replace_substring(texts, _SOFT_HYPHEN, ""))
        further = self._of_tables[1:]
        for is_last in (False, True):
            data, offsets = text_buffers(texts)
            folded, folded_offsets, _ = fold(data, offsets, further, collapse=self.space and is_last)
            texts = large_strings(folded, folded_offsets)
            texts = texts if is_last else _nfkc(texts)
        return texts


def _with_marked_choices(text: str) -> str:
    """Mark answers in capitals beside others, as in YES / no."""
    done, parts = 0, []
    for at in [slash.start() for slash in _SLASH.finditer(text)]:
        choices = _CHOICES.search(text, max(at - _LONGEST_CHOICES, done), at + _LONGEST_CHOICES) if at >= done else None
        if choices is None or choices.start() > at:
            continue
        if any(_is_small(choice) for choice in _CHOICE.findall(choices[0])):
            parts += [text[done : choices.start()], _CHOICE.sub(_with_mark, choices[0])]
            done = choices.end()
    return "".join([*parts, text[done:]])


def _with_mark(choice: re.Match[str]) -> str:
    return choice[0] + INVISIBLE if choice[0].isupper() else choice[0]


def _is_small(word: str) -> bool:
    """Whether a word is in small letters after its first letter."""
    return (word[1:] or word).islower()


def _are_empty(texts: pa.LargeStringArray) -> Bool:
    is_empty: Bool = pc.equal(pc.binary_length(texts), 0).to_numpy(zero_copy_only=False).copy()
    return is_empty


@functools.cache
def _composes() -> bool:
    composed: bool = pc.utf8_normalize(pa.array(["a\u0300"]), form="NFKC")[0].as_py() == "\u00e0"
    return composed


def _nfkc(texts: pa.LargeStringArray) -> pa.LargeStringArray:
    if _composes():
        return pc.utf8_normalize(texts, form="NFKC")
    return pa.array([unicodedata.normalize("NFKC", text) for text in texts.to_pylist()], pa.large_string())


AS_IT_CAME = Normalisation.parse("none")
"""Value for texts that are stored, digested and counted letter by letter without a change."""


_MIN_LINES = 10  # with a number, so that a short list is none
_MAX_NUMBER = 60  # of the lines of a page
_MIN_SHARE, _MIN_SHARE_ALONE = 0.6, 0.4  # of the lines that have a number; a number may stand in a line of its own
_MIN_SMALL, _MAX_ENDED, _MIN_LENGTH = 0.4, 0.5, 25  # wrapped prose: lines begin and end within sentences
_MIN_PAGE = 8  # lines between two Bates numbers
_LINE_NUMBERS = (  # in the left margin, in the right one
    re.compile(r"[ \t]*(?P<number>[0-9]{1,2})(?:[ \t]+|\r?$)(?P<rest>.*)", re.DOTALL),
    re.compile(r"(?P<rest>.*)(?:  |\t)(?P<number>[0-9]{1,2})[ \t\r]*\Z", re.DOTALL),
)
_BATES = re.compile(r"[ \t]*([A-Z][A-Z0-9 ._-]{0,30}?(?=0|\d{5})|(?=0\d{4}))(\d{4,12})[ \t]*\r?$", re.ASCII)
_ENDS = ".,;:!?)\"'”’»"


class _Numbered(NamedTuple):
    line: int
    number: int
    rest: str


def without_margins(texts: pa.LargeStringArray) -> pa.LargeStringArray:
    """Remove line numbers and Bates numbers in the margin of most lines or pages.

    Line numbers begin or end most lines of wrapped prose, 1, 2, 3, …, at most to 60, and then again from 1. Bates
    numbers are lines of capitals and digits that count upwards from page to page.
    """
    flags = line_flags(*text_buffers(texts)) & (NUMBERS | BATES)
    may_have = pa.array(flags > 0)
    given = zip(texts.filter(may_have).to_pylist(), flags[flags > 0].tolist(), strict=True)
    bare = [_without_numbers(text, of_text) for text, of_text in given]
    return pc.replace_with_mask(texts, may_have, pa.array(bare, pa.large_string())) if bare else texts


def _without_numbers(text: str, flags: int) -> str:
    lines = text.split("\n")
    is_full = [bool(line.strip()) for line in lines]
    bates = _bates_lines(lines, is_full) if flags & BATES else set()
    if not (bates or flags & NUMBERS):
        return text
    lines = ["" if i in bates else line for i, line in enumerate(lines)]
    for pattern in _LINE_NUMBERS:
        numbered = _numbered_lines(lines, pattern)
        if _are_line_numbers(lines, numbered, sum(is_full) - len(bates)):
            for numbered_line in numbered:
                lines[numbered_line.line] = numbered_line.rest
            break
    return "\n".join(lines)


def _numbered_lines(lines: list[str], pattern: re.Pattern[str]) -> list[_Numbered]:
    numbered: list[_Numbered] = []
    for i, line in enumerate(lines):
        occurrence = pattern.match(line)
        number = int(occurrence["number"]) if occurrence else 0
        if occurrence and (number == 1 or (numbered and number == numbered[-1].number + 1 <= _MAX_NUMBER)):
            numbered.append(_Numbered(i, number, occurrence["rest"]))
    return numbered


def _are_line_numbers(lines: list[str], numbered: list[_Numbered], n_full: int) -> bool:
    if len(numbered) < _MIN_LINES or all(numbered_line.number == 1 for numbered_line in numbered):
        return False
    texts = [line for numbered_line in numbered if (line := numbered_line.rest.strip())]
    if 2 * len(texts) < len(numbered):  # numbers in lines of their own
        of_numbers = {numbered_line.line for numbered_line in numbered}
        texts = [line for i, line in enumerate(lines) if i not in of_numbers and line.strip()]
        is_most = len(numbered) >= _MIN_SHARE_ALONE * n_full
    else:
        is_most = len(numbered) >= _MIN_SHARE * n_full
    if not is_most or not texts:
        return False
    n_small, n_ended = sum(text[0].islower() for text in texts), sum(text[-1] in _ENDS for text in texts)
    is_long = sum(map(len, texts)) >= _MIN_LENGTH * len(texts)
    return n_small >= _MIN_SMALL * len(texts) and n_ended <= _MAX_ENDED * len(texts) and is_long


def _bates_lines(lines: list[str], is_full: list[bool]) -> set[int]:
    """Return the lines with Bates numbers: the same letters, each number one more, a page between."""
    by_form: dict[tuple[str, int], list[tuple[int, int]]] = {}
    for i, line in enumerate(lines):
        if occurrence := _BATES.match(line):
            by_form.setdefault((occurrence[1], len(occurrence[2])), []).append((i, int(occurrence[2])))
    n_before = [0, *accumulate(is_full)]
    bates: set[int] = set()
    for stamps in by_form.values():
        pages = list(pairwise(stamps))
        follow = all(b[1] == a[1] + 1 and n_before[b[0]] - n_before[a[0]] > _MIN_PAGE for a, b in pages)
        if pages and follow:
            bates.update(line for line, _ in stamps)
    return bates


PREPARED_SCHEMA = pa.schema(
    [
        pa.field("doc_id", pa.large_string(), nullable=False),
        pa.field("text", pa.large_string(), nullable=False),  # normalised; empty if there is none
        pa.field("digest", pa.binary(32), nullable=False),  # SHA-256 of text
        pa.field("n_characters", pa.int64(), nullable=False),  # of the original text
        pa.field("line", pa.int64(), nullable=False),
        pa.field("problem", pa.large_string()),
        pa.field("keep_value", pa.float64()),
        pa.field("has_id", pa.bool_(), nullable=False),  # false: doc_id is the document's place
    ]
)

PARENT = "parent"
"""Additional column of batches with nested documents: the id of the enclosing document."""
ORIGIN = "origin"
"""Additional column of batches with extracted documents: see `records.ORIGIN_TYPE`."""
ONLY_NUMBERS = "has_only_numbers"
"""Additional column if numbers do not count: whether the text has digits and no letters, so that nothing is left."""
NUMBERS_COLUMN = "numbers"
"""Additional column if numbers do not count: a hash of the digits of the text as it was read, in order."""
ONLY_IGNORED = "has_only_ignored"
"""Additional column if passages do not count: whether the text has nothing else."""
CASED = "cased"
"""Additional column where names are looked for: the text with its capitals and white space."""
_WHITE_SPACE = Normalisation.parse("space")


def prepare(
    batch: pa.RecordBatch, normalisation: Normalisation, *, source_name: str, with_cased: bool = False
) -> pa.RecordBatch:
    """Check, normalise and digest a batch; a document without an id is named ``source_name:line``.

    Returns
    -------
    RecordBatch
        With `PREPARED_SCHEMA`, one row per input row. An unreadable document has an empty text and a ``problem``. If
        some documents are nested in others, there is a column ``parent``; if some were extracted, ``origin``; if
        numbers do not count, ``has_only_numbers`` and ``numbers``; if passages do not count, ``has_only_ignored``; with
        ``with_cased``, ``cased``.
    """
    texts, problems, n_characters = _check_utf8(batch["text"], batch["problem"])
    normalised, only_numbers, only_ignored = normalisation.normalised(texts)
    if only_ignored is not None and only_ignored.any():
        normalised = pc.if_else(pa.array(only_ignored), pa.scalar("", pa.large_string()), normalised)
    prepared = pa.RecordBatch.from_arrays(
        [
            _doc_ids(batch, source_name),
            normalised,
            digests(normalised),
            integers(n_characters),
            batch["line"],
            problems,
            batch["keep_value"],
            _are_given(batch["doc_id"]),
        ],
        schema=PREPARED_SCHEMA,
    )
    if with_cased:
        prepared = prepared.append_column(CASED, replace(normalisation, case=False, space=False).apply(texts))
    if only_numbers is not None:
        numbers = pc.replace_substring_regex(texts, r"[^\pN]+", " ")
        prepared = prepared.append_column(NUMBERS_COLUMN, pa.array(hash_strings(*text_buffers(numbers))))
    for name, has_only in ((ONLY_NUMBERS, only_numbers), (ONLY_IGNORED, only_ignored)):
        if has_only is not None:
            prepared = prepared.append_column(name, pa.array(has_only))
    for name in (PARENT, ORIGIN):
        column = batch[name]
        if column.null_count < len(column):
            prepared = prepared.append_column(name, column)
    return prepared


def visible_lengths(texts: pa.LargeStringArray, *, is_collapsed: bool = False) -> pa.Int64Array:
    """Count the characters of each text but white space and marks; ``is_collapsed``: there is none but spaces."""
    collapsed = texts if is_collapsed else _WHITE_SPACE.apply(texts)
    return pc.subtract(integers(count_visible(*text_buffers(collapsed))), pc.count_substring(collapsed, INVISIBLE))


def digests(texts: pa.LargeStringArray) -> pa.FixedSizeBinaryArray:
    """Return the SHA-256 of each text."""
    data, offsets = text_buffers(texts)
    view, sha256, bounds = data.data, hashlib.sha256, offsets.tolist()
    joined = b"".join([sha256(view[a:b]).digest() for a, b in pairwise(bounds)])
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(32), len(texts), [None, pa.py_buffer(joined)])


def _check_utf8(
    texts: pa.LargeBinaryArray, problems: pa.LargeStringArray
) -> tuple[pa.LargeStringArray, pa.LargeStringArray, I64]:
    data, offsets = text_buffers(texts)
    invalid_at, n_characters = first_invalid_byte(data, offsets)
    bad = np.flatnonzero(invalid_at >= 0)
    if len(bad):
        mask = pa.array(invalid_at >= 0)
        sentences = [
            f"wrong encoding: not valid UTF-8 at byte {at} (0x{data[offsets[i] + at]:02x})"
            for i, at in zip(bad, invalid_at[bad], strict=True)
        ]
        problems = pc.replace_with_mask(problems, mask, pa.array(sentences, pa.large_string()))
        texts = pc.replace_with_mask(texts, mask, pa.array([b""] * len(bad), pa.large_binary()))
        n_characters[bad] = 0
    texts = texts.fill_null(b"") if texts.null_count else texts
    return texts.view(pa.large_string()), problems, n_characters


def _are_given(ids: pa.Array) -> pa.BooleanArray:
    """``is_valid`` imports pyarrow.compute, and ``pa.array`` of an array numpy.ma."""
    if ids.null_count:
        return ids.is_valid()
    bits = np.packbits(np.ones(len(ids), np.bool_), bitorder="little")
    return pa.BooleanArray.from_buffers(pa.bool_(), len(ids), [None, pa.py_buffer(bits)])


def _doc_ids(batch: pa.RecordBatch, source_name: str) -> pa.LargeStringArray:
    ids = as_type(batch["doc_id"], pa.large_string())
    if ids.null_count:
        places = pc.binary_join_element_wise(
            pa.scalar(source_name, pa.large_string()),
            batch["line"].cast(pa.large_string()),
            pa.scalar(":", pa.large_string()),
        )
        ids = pc.coalesce(ids, places)
    return ids
