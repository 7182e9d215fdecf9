"""Compounds into parts that a translation table has.

Source: Philipp Koehn, Kevin Knight, "Empirical methods for compound splitting", EACL 2003: of all ways to cut a word
into known words, with fillers between them, the one whose parts have the greatest geometric mean of frequencies.
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
"""Languages that write compounds as one word, and what they put between the parts."""
_MIN_PART = 4
_LONGEST = 60


@dataclass(frozen=True)
class CompoundSplitter:
    """Cuts words into known ones.

    Parameters
    ----------
    frequencies : mapping of str to float
        Known words, and how often they occur; above 0.
    links : tuple of str
        What may stand between two parts, "" among them.

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
        """Two parts or more, which are known; nothing if there is no such way to cut it."""
        if not 2 * _MIN_PART <= len(word) <= _LONGEST or not word.isalpha():
            return ()
        best: tuple[float, tuple[str, ...]] = (0.0, ())
        # of each end, for each number of parts, the best way to cut what comes before: (product, parts)
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
        """Put a part behind every way that ends before it, and a link behind the part unless the word ends there."""
        part = word[start:end]
        for n, (product, parts) in ways[start].items():
            for link in self._links:
                after = end + len(link)
                if after > len(word) or (link and (after == len(word) or not word.startswith(link, end))):
                    continue
                way = (product * frequency, (*parts, part))
                if way[0] > ways[after].get(n + 1, (0.0, ()))[0]:
                    ways[after][n + 1] = way
