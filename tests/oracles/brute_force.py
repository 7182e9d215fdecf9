"""Deduplication as the documentation tells it, in plain Python: sets of strings, every pair, no hashing, no sketches.

Slow on purpose. It shares two lists with Nearkin: what each pinned character is, and the words of dates; all else is
told anew.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations

from nearkin.kernels.characters import ALONE, FORMAT, MARK, SPACE, WORD, character_classes
from nearkin.stages.verification.what_differs import also_numbers

Shingle = tuple[str, ...]


@dataclass(frozen=True)
class Likeness:
    """What two sets have in common, as exact fractions."""

    n_common: int
    n_a: int
    n_b: int

    @property
    def jaccard(self) -> Fraction:
        return Fraction(self.n_common, max(1, self.n_a + self.n_b - self.n_common))

    @property
    def a_in_b(self) -> Fraction:
        return Fraction(self.n_common, max(1, self.n_a))

    @property
    def b_in_a(self) -> Fraction:
        return Fraction(self.n_common, max(1, self.n_b))

    def by(self, measure: str) -> Fraction:
        """A measure of the pair; what a new measure is compared with is entered here and in `row`."""
        return {"jaccard": self.jaccard, "containment": max(self.a_in_b, self.b_in_a)}[measure]

    @property
    def row(self) -> tuple[float, ...]:
        """As pairs.parquet has it."""
        return float(self.jaccard), float(self.a_in_b), float(self.b_in_a)

    @classmethod
    def of_copies(cls) -> Likeness:
        """Of a text and itself."""
        return cls(1, 1, 1)


@cache
def _classes() -> bytes:
    return character_classes().tobytes()


def folded(character: str) -> str:
    """Python's full case folding, except for the letters i of Turkish and those that it decomposes or makes longer."""
    if character in "İı":
        return "i"
    if character in "ȺⱥȾⱦ":
        return character.upper()
    if character == "\u0345":  # a mark
        return character
    full = unicodedata.normalize("NFC", character.casefold())
    if len(full.encode()) <= len(character.encode()) or character.casefold() == character:
        return full if character.casefold() != character else character
    return character.lower() if len(character.lower()) == 1 else character


ARABIC = str.maketrans("آأإٱىیکڪ٠٩۰۹", "ااااييكك0909", "ـًَُِّْٰ")


@cache
def normalised(text: str) -> str:
    """What it hides marked, NFKC without soft hyphens, folded case, plain Arabic letters, white space collapsed."""
    text = re.sub("([\u00b2\u00b3\u00b9\u2070\u2074-\u2079\u2080-\u2089])", "\u2063\\1", text)
    text = re.sub(r"((?:^|[\s(\[])[A-Z]+ ?)(/ ?[A-Z]?[a-z]+(?:[\s)\],.;:?!]|$))", "\\1\u2063\\2", text)
    text = re.sub(r"((?:^|[\s(\[])[A-Z]?[a-z]+ ?/ ?[A-Z]+)((?:[\s)\],.;:?!]|$))", "\\1\u2063\\2", text)
    text = unicodedata.normalize("NFKC", text.replace("\u00ad", ""))
    text = unicodedata.normalize("NFKC", "".join(map(folded, text)).translate(ARABIC))
    classes = _classes()
    spaced = "".join(" " if classes[ord(c)] == SPACE else c for c in text)
    return " ".join(part for part in spaced.split(" ") if part)


def words(text: str) -> list[str]:
    """Runs of letters and digits with the marks on them; characters of scripts without spaces one by one."""
    classes = _classes()
    visible = [c for c in text if classes[ord(c)] != FORMAT]
    found: list[str] = []
    kind_before = None
    for character in visible:
        kind = classes[ord(character)]
        if kind == MARK:
            if kind_before is not None:
                found[-1] += character
            continue
        if kind == WORD and kind_before == WORD:
            found[-1] += character
        elif kind in (WORD, ALONE):
            found.append(character)
        kind_before = kind if kind in (WORD, ALONE) else None
    return found


def tokens(text: str) -> list[str]:
    """Names and numbers of source code, with underscores, and each other character that can be seen."""
    classes = _classes()
    found: list[str] = []
    is_name = takes_marks = False
    for character in text:
        kind = WORD if character == "_" else classes[ord(character)]
        if kind == FORMAT:
            continue
        if (kind == MARK and takes_marks) or (kind == WORD and is_name):
            found[-1] += character
            continue
        is_name, takes_marks = kind == WORD, kind in (WORD, ALONE)
        is_seen = kind not in (SPACE, MARK) and unicodedata.category(character) not in ("Cc", "Zs", "Zl", "Zp")
        if takes_marks or is_seen:
            found.append(character)
    return found


def units_of(text: str, unit: str) -> list[str]:
    """Words, tokens of code, or characters."""
    return words(text) if unit == "words" else tokens(text) if unit == "code" else list(text)


@cache
def shingles(text: str, unit: str, length: int) -> frozenset[Shingle]:
    """The distinct n-grams of a normalised text; one of all its units where there are fewer than n."""
    units = units_of(text, unit)
    if not units:
        return frozenset()
    n = min(length, len(units))
    return frozenset(tuple(units[i : i + n]) for i in range(len(units) - n + 1))


def ordered_shingles(text: str, unit: str, length: int) -> list[Shingle]:
    """Those of `shingles`, in the order in which they first occur."""
    units = units_of(text, unit)
    n = min(length, len(units))
    return list(dict.fromkeys(tuple(units[i : i + n]) for i in range(len(units) - n + 1))) if units else []


NOT_ALIKE = ("numbers", "words and numbers", "passage replaced")


def difference(a: str, b: str, unit: str, length: int) -> str:
    """What differs in two normalised texts."""
    if a == b:
        return "nothing"
    numbers_a, numbers_b = ([word for word in words(text) if is_number(word)] for text in (a, b))
    others_a, others_b = ([word for word in words(text) if not is_number(word)] for text in (a, b))
    if others_a == others_b:
        return "numbers" if numbers_a != numbers_b else "other"
    first, second = (ordered_shingles(text, unit, length) for text in (a, b))
    n_first = n_equal(first, second)
    n_last = n_equal(first[n_first:][::-1], second[n_first:][::-1])
    rest = min(len(first), len(second)) - n_first - n_last
    n_across = length - 1 if n_first and n_last else 0
    if n_first + n_last and rest <= n_across:
        return "passage added"
    is_passage = (rest - n_across) * unit_in_words(unit) >= 5
    if is_passage and len(set(first) & set(second)) == n_first + n_last:
        return "passage replaced"
    return "words and numbers" if Counter(numbers_a) != Counter(numbers_b) else "other"


def unit_in_words(unit: str) -> float:
    """A word has five characters."""
    return {"words": 1, "code": 0.5, "chars": 0.2}[unit]


def is_number(word: str) -> bool:
    """With a digit, or a word of a date or for a number."""
    return any(c in "0123456789" for c in word) or any(word.encode() in words for words in also_numbers())


def n_equal(a: Sequence[Shingle], b: Sequence[Shingle]) -> int:
    """How many are the same at the beginning."""
    return next((i for i, (one, other) in enumerate(zip(a, b)) if one != other), min(len(a), len(b)))


@dataclass(frozen=True)
class Verdict:
    """What documents.parquet says of a document."""

    group: str | None
    similarity: float | None
    copy_of: str | None
    reason: str
    differs: str | None = None


@dataclass(frozen=True)
class GroupRow:
    """What groups.parquet says of a group."""

    size: int
    lowest: float
    bridges_refused: int
    n_exact_copies: int


class Collection:
    """Documents, their texts, and every pair of distinct texts.

    Parameters
    ----------
    documents : sequence of (id, text)
    """

    def __init__(self, documents: Sequence[tuple[str, str]], *, unit: str = "words", length: int = 5) -> None:
        self.documents = list(documents)
        self.unit, self.length = unit, length
        self.texts = [normalised(text) for _, text in documents]
        self.sets = [shingles(text, unit, length) for text in self.texts]
        self.n_units = [len(units_of(text, unit)) for text in self.texts]

    def difference(self, a: int, b: int) -> str:
        return difference(self.texts[a], self.texts[b], self.unit, self.length)

    def likeness(self, a: int, b: int) -> Likeness:
        return Likeness(len(self.sets[a] & self.sets[b]), len(self.sets[a]), len(self.sets[b]))

    # -- the rules ------------------------------------------------------------------------------------------------

    def preference(self, keep: str, values: Sequence[float | None] | None = None) -> list[int]:
        """Rows that have a text, the one most to be kept first."""
        rule = keep.partition(":")[0]
        rows = [row for row, text in enumerate(self.texts) if text]
        lengths = [(len("".join(text.split())), len(own)) for text, (_, own) in zip(self.texts, self.documents)]
        if rule == "first":
            return rows
        if rule in ("longest", "shortest"):
            sign = -1 if rule == "longest" else 1
            return sorted(rows, key=lambda row: (*(sign * length for length in lengths[row]), row))
        assert values is not None
        sign = -1 if rule == "max" else 1
        return sorted(rows, key=lambda row: (values[row] is None, sign * (values[row] or 0), row))

    def originals(self, order: Sequence[int]) -> dict[int, int]:
        """For each row with a text the most preferred row of the same text."""
        first: dict[str, int] = {}
        for row in order:
            first.setdefault(self.texts[row], row)
        return {row: first[self.texts[row]] for row in order}

    def matches(self, originals: dict[int, int], threshold: float, measure: str) -> dict[tuple[int, int], Likeness]:
        """Every pair of distinct texts at or above the threshold, as rows a < b."""
        found = {}
        for a, b in combinations(sorted(set(originals.values())), 2):
            likeness = self.likeness(a, b)
            # the division of floating point rounds a fraction and a decimal of the same value to the same number
            if likeness.n_common and float(likeness.by(measure)) >= threshold:
                found[a, b] = likeness
        return found

    def principals(
        self, order: Sequence[int], matches: dict[tuple[int, int], Likeness], rule: str, measure: str
    ) -> dict[int, int]:
        """For each distinct text's row that of its principal."""
        near: dict[int, dict[int, Fraction]] = {row: {} for row in order}
        for (a, b), likeness in matches.items():
            near[a][b] = near[b][a] = likeness.by(measure)
        if rule == "component":
            return self._components(order, near)
        chosen: list[int] = []
        for row in order:
            if not any(principal in near[row] for principal in chosen):
                chosen.append(row)
        rank = {row: i for i, row in enumerate(order)}
        principal = {row: row for row in chosen}
        for row in order:
            if row not in principal:
                near_principals = [p for p in chosen if p in near[row]]
                principal[row] = min(near_principals, key=lambda p: (-near[row][p], rank[p]))
        return principal

    @staticmethod
    def _components(order: Sequence[int], near: dict[int, dict[int, Fraction]]) -> dict[int, int]:
        principal: dict[int, int] = {}
        for row in order:  # the most preferred of a component is met first
            waiting = [row]
            while waiting:
                one = waiting.pop()
                if one not in principal:
                    principal[one] = row
                    waiting += [other for other in near[one] if other not in principal]
        return principal

    # -- the tables -----------------------------------------------------------------------------------------------

    def judged(
        self,
        *,
        threshold: float,
        measure: str = "jaccard",
        rule: str = "principal",
        keep: str = "longest",
        values: Sequence[float | None] | None = None,
        pairs: set[tuple[str, str]] | None = None,
        keep_apart: bool = False,
    ) -> Judged:
        """All that a run says; of ``pairs`` only (those that a search found), if given.

        With ``keep_apart``, no two texts that differ in numbers, or in one passage that is another, are matches.
        """
        order = self.preference(keep, values)
        originals = self.originals(order)
        matches = self.matches(originals, threshold, measure)
        if pairs is not None:
            matches = {(a, b): m for (a, b), m in matches.items() if (self.id(a), self.id(b)) in pairs}
        distinct = [row for row in order if originals[row] == row]
        together = matches
        if keep_apart:
            together = {pair: one for pair, one in matches.items() if self.difference(*pair) not in NOT_ALIKE}
        principal = self.principals(distinct, together, rule, measure)
        of_row = {row: principal[originals[row]] for row in order}
        return Judged(
            pairs=self._pairs(originals, matches),
            documents=[self._verdict(row, originals, of_row, matches, measure) for row in range(len(self.documents))],
            groups=self._groups(originals, of_row, together, measure),
        )

    def id(self, row: int) -> str:
        return self.documents[row][0]

    def _pairs(self, originals: dict[int, int], matches: dict[tuple[int, int], Likeness]) -> list[tuple[object, ...]]:
        rows = [(a, b, *likeness.row, self.difference(a, b)) for (a, b), likeness in matches.items()]
        rows += [(min(a, b), max(a, b), *Likeness.of_copies().row, "nothing") for a, b in originals.items() if a != b]
        return [(self.id(a), self.id(b), *values) for a, b, *values in sorted(rows)]

    def _verdict(
        self,
        row: int,
        originals: dict[int, int],
        of_row: dict[int, int],
        matches: dict[tuple[int, int], Likeness],
        measure: str,
    ) -> Verdict:
        if row not in originals:
            return Verdict(None, None, None, "empty")
        original, principal = originals[row], of_row[row]
        if principal == row:
            is_alone = sum(p == row for p in of_row.values()) == 1
            reason = "too short" if is_alone and self.n_units[row] < self.length else "unique"
        else:
            reason = "exact copy" if original != row else "near-duplicate"
        similarity = 1.0 if original == principal else float(self.likeness(original, principal).by(measure))
        is_known = original == principal or (min(original, principal), max(original, principal)) in matches
        differs = self.difference(row, principal) if principal != row and is_known else None
        return Verdict(self.id(principal), similarity, self.id(original) if original != row else None, reason, differs)

    def _groups(
        self,
        originals: dict[int, int],
        of_row: dict[int, int],
        matches: dict[tuple[int, int], Likeness],
        measure: str,
    ) -> dict[str, GroupRow]:
        groups = {}
        for principal in sorted(set(of_row.values())):
            members = [row for row, p in of_row.items() if p == principal]
            if len(members) < 2:
                continue
            distinct = [row for row in members if originals[row] == row]
            inside = [self.likeness(a, b).by(measure) for a, b in combinations(sorted(distinct), 2)]
            bridges = sum((of_row[a] == principal) != (of_row[b] == principal) for a, b in matches)
            n_copies = len(members) - len(distinct)
            groups[self.id(principal)] = GroupRow(len(members), float(min(inside, default=1)), bridges, n_copies)
        return groups


@dataclass(frozen=True)
class Judged:
    """What a run must say."""

    pairs: list[tuple[object, ...]]
    documents: list[Verdict]
    groups: dict[str, GroupRow]


@dataclass(frozen=True)
class Across:
    """The rule of a run against another collection."""

    threshold: float
    measure: str
    drop: str = "contained"
    min_shared: int | None = None

    def is_match(self, one: Likeness) -> bool:
        """Whether the pair is reported."""
        if self.min_shared is not None:
            return one.n_common >= self.min_shared
        return one.n_common > 0 and float(one.by(self.measure)) >= self.threshold

    def similarity(self, one: Likeness) -> float:
        """What is said of a document: how much of it is in the other, or of the other in it."""
        if self.measure != "containment":
            return float(one.by(self.measure))
        inside, holding = float(one.a_in_b), float(one.b_in_a)
        drop = "containing" if self.min_shared is not None else self.drop
        return {"contained": inside, "containing": holding, "either": max(inside, holding)}[drop]

    def drops(self, one: Likeness) -> bool:
        """Whether the first document goes because of the second."""
        return self.is_match(one) and (self.min_shared is not None or self.similarity(one) >= self.threshold)

    def reason(self, one: Likeness) -> str:
        """Of a document that is dropped."""
        if self.measure == "jaccard" or (self.drop == "contained" and self.min_shared is None):
            return "near-duplicate"
        is_inside = self.drop == "either" and float(one.a_in_b) >= self.threshold
        return "near-duplicate" if is_inside else "overlap"


def likenesses(inputs: Collection, row: int, others: Collection) -> dict[int, Likeness]:
    """A document of the one with each of the other."""
    mine = inputs.sets[row]
    return {other: Likeness(len(mine & theirs), len(mine), len(theirs)) for other, theirs in enumerate(others.sets)}


def across(inputs: Collection, others: Collection, rule: Across) -> list[Verdict]:
    """What a run against another collection says of each document of ``inputs``."""
    verdicts = []
    for row, text in enumerate(inputs.texts):
        doc_id = inputs.id(row)
        if not text:
            verdicts.append(Verdict(None, None, None, "empty"))
            continue
        likeness = likenesses(inputs, row, others)
        copies = [other for other in likeness if others.texts[other] == text]
        near = {other: rule.similarity(one) for other, one in likeness.items() if rule.drops(one)}
        if copies:
            verdicts.append(Verdict(others.id(copies[0]), 1.0, others.id(copies[0]), "exact copy", "nothing"))
        elif near:
            best = min(near, key=lambda other: (-near[other], other))
            differs = difference(text, others.texts[best], inputs.unit, inputs.length)
            verdicts.append(Verdict(others.id(best), near[best], None, rule.reason(likeness[best]), differs))
        else:
            reason = "too short" if inputs.n_units[row] < inputs.length else "unique"
            verdicts.append(Verdict(doc_id, 1.0, None, reason))
    return verdicts


@dataclass(frozen=True)
class OtherRow:
    """What against.parquet says of a document of the other collection."""

    result: str
    n_documents: int
    most_similar: str | None
    similarity: float | None


def found_of_others(inputs: Collection, others: Collection, rule: Across) -> list[OtherRow]:
    """What a run says of each document of the other collection."""
    rows = []
    for other, text in enumerate(others.texts):
        of_all = {row: likenesses(inputs, row, others)[other] for row in range(len(inputs.texts))}
        dropped = {row: rule.similarity(one) for row, one in of_all.items() if inputs.texts[row] and rule.drops(one)}
        dropped |= {row: 1.0 for row in of_all if text and inputs.texts[row] == text}
        is_short = others.n_units[other] < others.length or len(others.sets[other]) < (rule.min_shared or 1)
        if not text:
            rows.append(OtherRow("empty", 0, None, None))
        elif dropped:
            best = min(dropped, key=lambda row: (-dropped[row], row))
            rows.append(OtherRow("match", len(dropped), inputs.id(best), dropped[best]))
        else:
            rows.append(OtherRow("too short" if is_short else "no match", 0, None, None))
    return rows
