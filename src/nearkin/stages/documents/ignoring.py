"""Passages and numbers that do not count when texts are compared, such as disclaimers, footers and page numbers."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearkin.errors import ParameterError, quoted
from nearkin.kernels.buffers import strings, text_buffers
from nearkin.kernels.hashing import hash_strings
from nearkin.kernels.passages import hash_windows
from nearkin.kernels.text import fold
from nearkin.kernels.words import locate_words
from nearkin.nouns import agreeing, counted, first_of
from nearkin.paths import check_are_texts, why
from nearkin.records import I64, U32, U64, Bool
from nearkin.wording import WarningMessage

PATTERN, LITERAL, WORDS = "re:", "text:", "words:"
_KINDS = (PATTERN, LITERAL, WORDS)
_COMMENT, _BLOCK, _END = "#", "<<<", ">>>"
MAX_FILE_BYTES = 1 << 20
_MAX_SHOWN = 1000  # characters of the name of a file in a message
_MAX_PASSAGES = 1_000
_N_NAMED, _MAX_PASSAGE = 3, 80
_SPECIAL = re.compile(r"([\\.+*?()|\[\]{}^$])")
_DIGITS, _LETTER = r"\p{Nd}+", r"\pL"
_EDGE = r"[^\pL\pN_]"
_SPACE = r"[\s\pZ]+"


class Remaining(NamedTuple):
    """Texts without the passages and numbers, and of which, if digits do not count, nothing but digits was there."""

    texts: pa.LargeStringArray
    is_only_numbers: Bool | None


@dataclass(frozen=True, slots=True)
class Ignored:
    r"""Passages that do not count, and whether digits count.

    Parameters
    ----------
    passages
        Literal texts as ``text:...``, runs of words, whatever stands between them, as ``words:...``, patterns as
        ``re:...``.
    found
        Passages that occurred in a text so far; no part of the value.

    Examples
    --------
    >>> ignored = Ignored.parse("# footers\nThis e-mail is confidential.\nre:^Page \\d+ of \\d+$\n")
    >>> ignored.passages
    ('text:This e-mail is confidential.', 're:^Page \\d+ of \\d+$')
    >>> str(Ignored((), numbers=True)), Ignored.restored(str(ignored)) == ignored
    (';numbers', True)
    """

    passages: tuple[str, ...] = ()
    numbers: bool = False
    found: set[str] = field(default_factory=set, compare=False, repr=False)

    def __bool__(self) -> bool:
        return bool(self.passages) or self.numbers

    def __post_init__(self) -> None:
        if len(self.passages) > _MAX_PASSAGES:
            rule = f"at most {_MAX_PASSAGES:,} passages"
            raise ParameterError.of("ignore", rule, len(self.passages))
        for number, passage in enumerate(self.passages, 1):
            _check(passage, number)

    def __str__(self) -> str:
        """Return the text that identifies it in manifests; empty if everything counts."""
        passages = f";ignore={json.dumps(self.passages)}" if self.passages else ""
        return f"{';numbers' if self.numbers else ''}{passages}"

    @classmethod
    def of(cls, given: object, *, numbers: bool = False) -> Ignored:
        """Make the object from a file, or from passages in the syntax of the file's lines.

        Raises
        ------
        ParameterError
            The file cannot be read, a passage is invalid, or the passages are names of files; see `check_are_texts`.
        """
        if given is None:
            return cls((), numbers)
        if isinstance(given, str | Path):
            if not str(given):
                raise ParameterError("the name of the file is empty.", parameter="ignore")
            return cls(cls.parse(_content(Path(given))).passages, numbers)
        if isinstance(given, Sequence) and all(isinstance(passage, str | Path) for passage in given):
            check_are_texts(given, "To read passages from a file, pass its name alone, outside a list.")
            return cls(tuple(_passage(passage) for passage in given), numbers)
        raise ParameterError.of("ignore", "a file of passages, or a list of passages", given)

    @classmethod
    def parse(cls, content: str) -> Ignored:
        """Read the lines of a file: one passage per line, or several lines between ``<<<`` and ``>>>``."""
        passages: list[str] = []
        block: list[str] | None = None
        begun = 0
        for number, line in enumerate(content.splitlines(), 1):
            mark = line.strip()
            if block is not None:
                if mark == _END:
                    passages.append(LITERAL + "\n".join(block))
                    block = None
                else:
                    block.append(line)
            elif mark == _BLOCK:
                block, begun = [], number
            elif mark and not mark.startswith(_COMMENT):
                passages.append(_passage(mark))
        if block is not None:
            raise ParameterError(
                f"the block that begins with {_BLOCK} in line {begun} has no end. End it with a line {_END}.",
                parameter="ignore",
            )
        return cls(tuple(passages))

    @classmethod
    def restored(cls, text: str) -> Ignored:
        """Reverse `str`."""
        numbers = text.startswith(";numbers")
        _, _, passages = text.removeprefix(";numbers").partition(";ignore=")
        return cls(tuple(json.loads(passages)) if passages else (), numbers)

    def of_kind(self, kind: str) -> tuple[str, ...]:
        """Return the passages with a mark such as ``re:``, without it."""
        return tuple(passage.removeprefix(kind) for passage in self.passages if passage.startswith(kind))

    @property
    def literals(self) -> tuple[str, ...]:
        """The literal passages, without their mark, the longest first because a passage can be a part of another."""
        return tuple(sorted({*self.of_kind(LITERAL)}, key=lambda literal: (-len(literal), literal)))

    def removed(self, texts: pa.LargeStringArray) -> Remaining:
        """Remove the passages and the digits from unchanged texts; nulls become empty.

        A run of words is found in any case, with any signs between its words. A literal passage is found in any case
        and with any white space, but not inside longer words; in patterns ``^``
        and ``$`` are the edges of a line.
        """
        texts = original = texts.fill_null("") if texts.null_count else texts
        if runs := self.of_kind(WORDS):
            texts, n_found = _without_runs(texts, runs)
            self.found.update(WORDS + run for run, n in zip(runs, n_found, strict=True) if n)
        for passage in self._in_order:
            texts = self._without(texts, passage)
        if texts is not original and len(self.found) < len(self._in_order):
            changed = original.filter(pc.not_equal(original, texts))
            for passage in set(self._in_order) - self.found:  # they may be inside of passages that were removed
                self._without(changed, passage)
        if not self.numbers:
            return Remaining(texts, None)
        is_only_numbers = _matches(texts, _DIGITS) & ~_matches(texts, _LETTER)
        texts = pc.replace_substring_regex(texts, _DIGITS, " ")
        if is_only_numbers.any():
            texts = pc.if_else(pa.array(is_only_numbers), pa.scalar("", pa.large_string()), texts)
        return Remaining(texts, is_only_numbers)

    def say_not_found(self, say: Callable[[str], None]) -> None:
        """Warn of passages that did not occur in any text; to be called when all texts were read."""
        missing = [passage for passage in dict.fromkeys(self.passages) if passage not in self.found]
        if missing:
            shown = first_of(
                [_shortened(passage.removeprefix(LITERAL).removeprefix(WORDS)) for passage in missing], _N_NAMED
            )
            n_missing = f"{counted(len(missing), 'passage')} of --ignore {agreeing(len(missing), 'is', 'are')}"
            say(WarningMessage(f"{n_missing} in no text: {shown}"))

    @property
    def _in_order(self) -> tuple[str, ...]:
        return (
            *(PATTERN + pattern for pattern in self.of_kind(PATTERN)),
            *(LITERAL + literal for literal in self.literals),
        )

    def _without(self, texts: pa.LargeStringArray, passage: str) -> pa.LargeStringArray:
        if passage.startswith(PATTERN):
            pattern = f"(?mi:{passage.removeprefix(PATTERN)})"
            left = pc.replace_substring_regex(texts, pattern, " ")
            is_there = passage in self.found or bool(_matches(texts, pattern).any())  # also a space, which stays one
        else:
            left = _without(texts, passage.removeprefix(LITERAL))
            is_there = not left.equals(texts)
        if is_there:
            self.found.add(passage)
        return left


NOTHING = Ignored()
"""Value if everything counts."""


def _shortened(passage: str) -> str:
    return repr(passage) if len(passage) <= _MAX_PASSAGE else f"{passage[:_MAX_PASSAGE]!r}…"


def _without(texts: pa.LargeStringArray, literal: str) -> pa.LargeStringArray:
    words = [_SPECIAL.sub(r"\\\1", word) for word in literal.split()]
    before = rf"(^|{_EDGE})" if _is_of_word(words[0][0]) else "()"
    after = rf"($|{_EDGE})" if _is_of_word(words[-1][-1]) else "()"
    passage = f"(?i:{_SPACE.join(words)})"
    is_here = _matches(texts, passage)
    if not is_here.any():
        return texts
    mask = pa.array(is_here)
    chosen = texts.filter(mask)
    for _ in range(2):  # two passages in a row share the character between them, so every other one is left at first
        chosen = pc.replace_substring_regex(chosen, before + passage + after, r"\1 \2")
    return pc.replace_with_mask(texts, mask, chosen)


def _without_runs(texts: pa.LargeStringArray, runs: Sequence[str]) -> tuple[pa.LargeStringArray, list[int]]:
    """Remove runs of words, the longest of several at a word; return also how often each was removed."""
    hashes, starts, bounds = _words(texts)
    wanted = [_words(strings([run]))[0] for run in runs]
    length = min(_MAX_KEY, *map(len, wanted))
    keys = np.array([_keys(run, np.array([0, len(run)]), length)[0][0] for run in wanted], np.uint64)
    order = np.lexsort((np.array([-len(run) for run in wanted]), keys))
    of_texts, places = _keys(hashes, starts, length)
    is_candidate = np.isin(of_texts, keys)
    cuts, n_found, end = defaultdict[int, list[int]](list), [0] * len(runs), 0
    documents = np.searchsorted(starts, places[is_candidate], side="right") - 1
    low = np.searchsorted(keys[order], of_texts[is_candidate])
    for at, document, first in zip(places[is_candidate].tolist(), documents.tolist(), low.tolist(), strict=True):
        for number in order[first:].tolist() if at >= end else ():
            run = wanted[number]
            if at + len(run) <= starts[document + 1] and np.array_equal(hashes[at : at + len(run)], run):
                end = at + len(run)
                cuts[document] += [int(bounds[at, 0]), int(bounds[end - 1, 1])]
                n_found[number] += 1
                break
            if keys[number] != keys[order[first]]:
                break
    left = []
    for document, edges in cuts.items():
        text = texts[document].as_py().encode()
        edges = [0, *edges, len(text)]
        left.append(b" ".join(text[a:b] for a, b in zip(edges[::2], edges[1::2], strict=True)).decode())
    mask = np.zeros(len(texts), np.bool_)
    mask[list(cuts)] = True
    return pc.replace_with_mask(texts, pa.array(mask), strings(left)), n_found


_MAX_KEY = 8
"""Words by which runs are looked up."""


def _words(texts: pa.LargeStringArray) -> tuple[U64, I64, U32]:
    (data, offsets, starts), bounds = locate_words(*text_buffers(texts))
    folded, folded_offsets, is_left = fold(data, offsets, ("nfkc", "case", "arabic"), collapse=False)
    hashes = np.where(is_left, hash_strings(data, offsets), hash_strings(folded, folded_offsets))
    return hashes, starts, bounds


def _keys(words: U64, starts: I64, length: int) -> tuple[U64, I64]:
    return hash_windows(words, starts, np.ones(len(words), np.uint8), length)


def _is_of_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _matches(texts: pa.LargeStringArray, pattern: str) -> Bool:
    matches: Bool = pc.match_substring_regex(texts, pattern).to_numpy(zero_copy_only=False)
    return matches


def _passage(line: str) -> str:
    for kind in (PATTERN, WORDS):
        if line.startswith(kind):
            return kind + line.removeprefix(kind).strip()
    return LITERAL + line.removeprefix(LITERAL).strip()


def _check(passage: str, number: int) -> None:
    kind = next((kind for kind in _KINDS if passage.startswith(kind)), "")
    value = passage.removeprefix(kind)
    if not kind or not value.strip():
        raise ParameterError.of("ignore", "passages that are not empty", passage)
    if kind == WORDS and not len(_words(strings([value]))[0]):
        raise ParameterError.of("ignore", "runs with a word", passage)
    if kind != PATTERN:
        return
    try:
        is_empty = pc.match_substring_regex(pa.array([""], pa.large_string()), f"(?mi:{value})")[0].as_py()
    except pa.ArrowInvalid as error:
        why_not = str(error).removeprefix("Invalid regular expression: ")
        raise ParameterError(
            f"pattern {number}, {value!r}, is not a pattern of RE2 ({why_not}), which has no backreferences.",
            parameter="ignore",
        ) from error
    if is_empty:
        raise ParameterError(
            f"pattern {number}, {value!r}, matches the empty text. Make it match at least one character.",
            parameter="ignore",
        )


def _content(path: Path) -> str:
    shown = str(path) if len(str(path)) <= _MAX_SHOWN else quoted(str(path))
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise ParameterError(f"Cannot read {shown}: {why(error)}.", parameter="ignore") from error
    except ValueError as error:  # U+0000 or an unpaired surrogate
        raise ParameterError(f"Cannot read {quoted(str(path))}: {error}.", parameter="ignore") from error
    if len(data) > MAX_FILE_BYTES:
        raise ParameterError(f"{shown} must be at most 1 MiB.", parameter="ignore")
    try:
        content = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ParameterError(f"{shown} must be UTF-8. Byte {error.start} is not.", parameter="ignore") from error
    if not Ignored.parse(content).passages:
        raise ParameterError(f"{shown} has no passage.", parameter="ignore")
    return content
