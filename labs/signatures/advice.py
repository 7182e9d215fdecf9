"""Recommendation of a signature, in sentences made from the measurements."""

from __future__ import annotations

from dataclasses import dataclass

from labs.signatures.drift import AS_GOOD, SMALL_DRIFT, Drifts
from labs.signatures.methods import KINDS, WEIGHTED, Kind
from labs.signatures.retrieval import DISTANCES, Retrieval
from labs.signatures.timing import Timings
from labs.signatures.truth import BY_CHARACTERS
from labs.signatures.uniqueness import Uniqueness
from nearkin.nouns import counted
from nearkin.wording import share_text

NEARLY_BEST = 0.02
"""Maximum loss of F1 that is accepted for fewer bits."""
ONE_WORD = 64
COMPELLING_BITS = 32
"""Length of weighted TopSig that the article calls \"a compelling implementation choice\"."""
_DRIFT_BITS = 64
_FEW = 50
_GOOD_ENOUGH = 0.95


@dataclass(frozen=True, slots=True)
class Advice:
    """A recommendation.

    Parameters
    ----------
    kind : Kind
    bits : int
    distance : int
        Maximum distance of neighbours that count as near-duplicates.
    sentences : tuple of str
    """

    kind: Kind
    bits: int
    distance: int
    sentences: tuple[str, ...]

    @property
    def name(self) -> str:
        """Short name of the signature."""
        return f"{self.kind.label}, {self.bits:,} bits"


def advise(
    retrievals: tuple[Retrieval, ...], uniqueness: tuple[Uniqueness, ...], timings: Timings, drifts: Drifts
) -> Advice:
    """Recommend, of all kinds and lengths with nearly the best F1, the fewest bits; in a tie the best F1."""
    eligible = {kind.key: kind for kind in KINDS if kind.is_advised}
    by_characters = [r for r in retrievals if r.truth == BY_CHARACTERS and r.key in eligible]
    if not by_characters[0].n_true:
        return _without_truth(eligible, uniqueness, timings)
    chosen = _fewest_bits(by_characters)
    kind = eligible[chosen.key]
    sentences = [
        _found(chosen, kind),
        _about_distance(chosen),
        _cost(chosen.key, chosen.bits, timings),
        *_in_one_word(by_characters, chosen),
    ]
    if kind.needs_statistics:
        plain = _fewest_bits([r for r in by_characters if not eligible[r.key].needs_statistics])
        sentences.append(f"Without statistics: {_told(plain, eligible[plain.key])}.")
    if (kind, chosen.bits) != (WEIGHTED, COMPELLING_BITS):
        sentences.append(_compelling(by_characters, uniqueness, chosen))
    sentences += [_needs(drifts), _otherwise(chosen)]
    return Advice(kind, chosen.bits, chosen.best.distance, tuple(sentences))


def _fewest_bits(retrievals: list[Retrieval]) -> Retrieval:
    best = max(r.best.f1 for r in retrievals)
    return min((r for r in retrievals if r.best.f1 >= best - NEARLY_BEST), key=lambda r: (r.bits, -r.best.f1))


def _told(found: Retrieval, kind: Kind) -> str:
    best = found.best
    return (
        f"{kind.label} of {counted(found.bits, 'bit')} within distance {best.distance} "
        f"(precision {share_text(best.precision)}, recall {share_text(best.recall)})"
    )


def _found(found: Retrieval, kind: Kind) -> str:
    best = found.best
    n_wrong = best.n_neighbours - best.n_found
    return (
        f"Take {_told(found, kind)}: it finds {best.n_found:,} of {counted(best.n_true, 'similar pair')} and also "
        f"returns {counted(n_wrong, 'pair')} that {'is' if n_wrong == 1 else 'are'} not similar. No other kind that "
        f"nearkin sign makes is better by more than {NEARLY_BEST:g} in F1."
        + (" So few pairs prove little: repeat it with more documents." if best.n_true < _FEW else "")
    )


def _about_distance(found: Retrieval) -> str:
    longest = DISTANCES[-1]
    there = found.at(longest)
    same = "The distance is the best one for these documents; another collection may need another"
    if found.best.distance <= longest:
        return f"{same}."
    pairs = counted(there.n_true, "pair")
    return f"{same}. Within {longest}, the article's longest, it finds {there.n_found:,} of the {pairs}."


def _cost(key: str, bits: int, timings: Timings) -> str:
    microseconds = 1e6 * timings.of(key, bits).mean
    return (
        f"It takes {counted(bits // 8, 'byte')} and about {microseconds:,.0f} µs per document of "
        f"{counted(round(timings.mean_features), 'character')}, on one thread of this machine."
    )


def _in_one_word(retrievals: list[Retrieval], chosen: Retrieval) -> list[str]:
    """Return the results for 64 bits, if more are recommended."""
    if chosen.bits <= ONE_WORD:
        return []
    kinds = {kind.key: kind for kind in KINDS}
    best = max((r for r in retrievals if r.bits == ONE_WORD), key=lambda r: r.best.f1)
    return [f"If the signature must fit in a machine word: {_told(best, kinds[best.key])}."]


def _compelling(retrievals: list[Retrieval], uniqueness: tuple[Uniqueness, ...], chosen: Retrieval) -> str:
    """Compare the article's favourite with the recommendation."""
    found = next(r for r in retrievals if (r.key, r.bits) == (WEIGHTED.key, COMPELLING_BITS))
    n_unique = next(u for u in uniqueness if (u.key, u.bits) == (WEIGHTED.key, COMPELLING_BITS)).n_unique
    told = f"The article's favourite, {_told(found, WEIGHTED)}, makes {counted(n_unique, 'distinct signature')}"
    if found.best.f1 >= chosen.best.f1 - NEARLY_BEST:
        return f"{told}, and its results are about as good."
    return f"{told}, and its results are worse: an F1 of {found.best.f1:.2f} instead of {chosen.best.f1:.2f}."


def _needs(drifts: Drifts) -> str:
    n_all = drifts.of(_DRIFT_BITS)[-1].n_documents
    n_drift, n_good = drifts.n_for_small_drift(_DRIFT_BITS), drifts.n_for_retrieval(_DRIFT_BITS)
    serve = (
        f"those of the first {n_good:,} of {counted(n_all, 'document')} work as well as those of all, in the present "
        "order"
        if n_good < n_all
        else f"those of fewer than all {counted(n_all, 'document')} do not work as well"
    )
    small = f"from {counted(n_drift, 'document')} on" if n_drift < n_all else "only near the end"
    return (
        f"Weighted TopSig needs statistics of the collection. At {_DRIFT_BITS} bits {serve} (F1 and distinct "
        f"signatures within {AS_GOOD:g}). A signature differs in fewer than {100 * SMALL_DRIFT:.0f} % of its bits "
        f"from its final one {small}."
    )


def _otherwise(chosen: Retrieval) -> str:
    best = chosen.best
    weak = [
        name for name, value in (("precision", best.precision), ("recall", best.recall)) if not value >= _GOOD_ENOUGH
    ]
    if not weak:
        return (
            "Prefer nearkin dedup if every reported pair must be verified, if parts of documents matter, or if you "
            "must know how many pairs were missed."
        )
    return (
        f"The {' and '.join(weak)} of the recommended signature {'is' if len(weak) == 1 else 'are'} below "
        f"{_GOOD_ENOUGH:g}: have the neighbours compared exactly (nearkin neighbours --verify), or use "
        "nearkin dedup, which verifies every pair and estimates how many it missed."
    )


def _without_truth(eligible: dict[str, Kind], uniqueness: tuple[Uniqueness, ...], timings: Timings) -> Advice:
    """Recommend by distinct signatures alone, if no texts are similar."""
    found = [u for u in uniqueness if u.key in eligible and u.key != WEIGHTED.key]
    most = max(u.n_unique for u in found)
    chosen = min((u for u in found if u.n_unique >= 0.999 * most), key=lambda u: (u.bits, -u.n_unique))
    kind = eligible[chosen.key]
    return Advice(
        kind,
        chosen.bits,
        0,
        (
            "No two of these texts are similar by the exact comparison, so it is unknown how well signatures find "
            f"similar ones. {kind.label} of {counted(chosen.bits, 'bit')} distinguishes them with the fewest bits: "
            f"{counted(chosen.n_unique, 'distinct signature')}.",
            _cost(chosen.key, chosen.bits, timings),
            "Before you choose, run it again on more documents, or on known near-duplicates.",
        ),
    )
