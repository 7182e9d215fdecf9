"""Splitting of compounds into parts that a translation table contains.

Source: Philipp Koehn, Kevin Knight, "Empirical methods for compound splitting", EACL 2003: of all ways to cut a word
into known words with linking letters between them, the one whose parts have the highest geometric mean of frequencies.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

LINKS = {
    "de": ("", "s", "es", "n", "en", "er", "e"),
    "nl": ("", "s", "en", "e"),
    "sv": ("", "s"),
    "da": ("", "s", "e"),
    "no": ("", "s", "e"),
    "fi": ("", "n"),
}
"""Languages that write compounds as one word, and their linking letters."""
_MIN_PART = 4
_LONGEST = 60


@dataclass(frozen=True)
class CompoundSplitter:
    """Cuts words into known ones.

    Parameters
    ----------
    frequencies : mapping of str to float
        Known words and their frequencies, above 0.
    links : tuple of str
        Letters that may stand between two parts, including "".

    Examples
    --------
    >>> known = {"verkehr": 50.0, "unfall": 40.0, "minister": 90.0, "fall": 300.0}
    >>> splitter = CompoundSplitter(known, LINKS["de"])
    >>> splitter.parts("verkehrsunfall"), splitter.parts("verkehrsschild"), splitter.parts("minister")
    (('verkehr', 'unfall'), (), ())
    """

    frequencies: Mapping[str, float]
    links: tuple[str, ...]
    _links: tuple[str, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_links", tuple(sorted(self.links, key=len)))

    def parts(self, word: str) -> tuple[str, ...]:
        """Return two or more known parts; empty if the word cannot be cut in this way."""
        if not 2 * _MIN_PART <= len(word) <= _LONGEST or not word.isalpha():
            return ()
        best: tuple[float, tuple[str, ...]] = (0.0, ())
        # for each end and number of parts, the best way to cut what precedes it: (product, parts)
        ways: list[dict[int, tuple[float, tuple[str, ...]]]] = [{} for _ in range(len(word) + 1)]
        ways[0][0] = (1.0, ())
        for end in range(_MIN_PART, len(word) + 1):
            for start in range(end - _MIN_PART + 1):
                if ways[start] and (frequency := self.frequencies.get(word[start:end], 0.0)):
                    self._extend(ways, word, start, end, frequency)
        for n, (product, parts) in ways[len(word)].items():
            if n > 1 and product ** (1 / n) > best[0]:
                best = product ** (1 / n), parts
        return best[1]

    def _extend(
        self, ways: list[dict[int, tuple[float, tuple[str, ...]]]], word: str, start: int, end: int, frequency: float
    ) -> None:
        """Append a part to every split that ends before it, and a link unless the word ends there."""
        part = word[start:end]
        for n, (product, parts) in ways[start].items():
            for link in self._links:
                after = end + len(link)
                if after > len(word) or (link and (after == len(word) or not word.startswith(link, end))):
                    continue
                way = (product * frequency, (*parts, part))
                if way[0] > ways[after].get(n + 1, (0.0, ()))[0]:
                    ways[after][n + 1] = way
