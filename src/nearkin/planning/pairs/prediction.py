"""Three methods to search two corpora for pairs of similar vectors: the recall and cost of each.

Source of the model: Ture, Elsayed, Lin, SIGIR 2011 (see `nearkin.stages.search.sliding_window`), section 5.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np

from nearkin.errors import ParameterError, is_int
from nearkin.nouns import counted
from nearkin.planning.pairs.calibration import Prefix
from nearkin.planning.pairs.chances import Chances, CosineSpread
from nearkin.planning.pairs.costs import COSTS, FEW_TERMS, filled_words
from nearkin.records import F64, I64

Method = Literal["vectors", "signatures", "window"]
Numbers = int | F64 | I64
METHODS: tuple[Method, ...] = get_args(Method)
MAX_BITS = 65_528
HELD = 1 << 24
"""Maximum number of candidates that wait for their cosine at once."""
_PAIR_BYTES = 16
_KEY_BYTES = 8
_ENTRY_BYTES = 8
_BLOCK = 2048
_ROWS_BYTES = 40


@dataclass(frozen=True, slots=True)
class PairSearch:
    """A method of finding pairs whose cosine is at least a threshold.

    Parameters
    ----------
    method : {"vectors", "signatures", "window"}
        By an inverted index over the vectors; by signatures, each compared with every other; by signatures, each
        compared with those near it in sorted orders.
    bits
        Length of a signature: a multiple of 8 from 8 to 65,528; 0 for vectors.
    distance
        Pairs whose signatures differ in at most this many bits get their true cosine: from 0 to the number of bits.
    permutations, window
        Sorted orders, and signatures on either side with which each is compared: at least 1 for a window, else 0.
    """

    method: Method
    bits: int = 0
    distance: int = 0
    permutations: int = 0
    window: int = 0

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise ParameterError.of("method", f"one of {', '.join(METHODS)}", self.method)
        signs, slides = self.method != "vectors", self.method == "window"
        for name, is_used, least, most in (
            ("bits", signs, 8, MAX_BITS),
            ("distance", signs, 0, self.bits),
            ("permutations", slides, 1, 2**31 - 1),
            ("window", slides, 1, 2**31 - 1),
        ):
            value = getattr(self, name)
            if not is_used and value != 0:
                raise ParameterError.of(name, f"0 with the method {self.method}", value)
            if is_used and not (is_int(value) and least <= value <= most and (name != "bits" or value % 8 == 0)):
                rule = f"{'a multiple of 8' if name == 'bits' else 'an int'} from {least} to {most}"
                raise ParameterError.of(name, rule, value)

    def describe(self) -> str:
        """Describe the method in words."""
        then = f"the cosine is computed for pairs that differ in at most {self.distance} bits"
        if self.method == "vectors":
            return "every pair of vectors, by an inverted index"
        if self.method == "signatures":
            return f"signatures of {self.bits:,} bits, each compared with every other; {then}"
        orders = counted(self.permutations, "sorted order")
        return (
            f"signatures of {self.bits:,} bits in {orders}, each compared with the {self.window:,} before and after "
            f"it; {then}"
        )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Question:
    """Question for a plan: the two corpora, what to find, and the machine.

    Parameters
    ----------
    spread
        Cosines of a sample of these documents; by default `CosineSpread.default`.
    prefix
        Measured on these documents by `calibrated`, or by theory.
    """

    n_left: int
    n_right: int
    threshold: float
    recall: float
    cores: int = 1
    left_terms: float = FEW_TERMS
    right_terms: float = FEW_TERMS
    spread: CosineSpread = None  # type: ignore[assignment]  # it is filled in from the threshold
    prefix: Prefix = field(default_factory=Prefix)

    def __post_init__(self) -> None:
        if self.spread is None:
            object.__setattr__(self, "spread", CosineSpread.default(self.threshold))

    @property
    def n_documents(self) -> int:
        """Number of documents of both corpora, which are sorted together."""
        return self.n_left + self.n_right

    @property
    def n_pairs(self) -> int:
        """Number of pairs of one document from each corpus."""
        return self.n_left * self.n_right

    @property
    def n_sought(self) -> float:
        """Expected number of pairs whose cosine is at least the threshold."""
        return self.n_pairs * self.spread.share_above(self.threshold)

    def chances(self, n_bits: int) -> Chances:
        """Return the distances between signatures of this length."""
        return Chances.of(self.spread, self.threshold, n_bits)

    def n_in_windows(self, windows: Numbers) -> F64:
        """Return the number of pairs, of one document from each corpus, that share a window in one order."""
        n = self.n_documents
        width = np.minimum(np.asarray(windows, np.float64), n - 1)
        share = (width * n - width * (width + 1) / 2) / (n * (n - 1) / 2)
        return np.asarray(self.n_pairs * np.minimum(share, 1.0), np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """Predicted recall and cost of a search.

    Parameters
    ----------
    relative_cost
        Comparisons divided by all pairs, with the time for sorting expressed in comparisons.
    n_candidates, n_hits
        Pairs whose cosine is computed: each once; as often as they are found.
    signing_s, sorting_s, comparing_s, checking_s
        On one core: signatures, sorted orders, comparisons, cosines of candidates.
    """

    recall_low: float
    recall: float
    recall_high: float
    n_comparisons: float
    relative_cost: float
    n_candidates: float
    n_hits: float
    n_pairs: float
    memory_bytes: int
    signing_s: float
    sorting_s: float
    comparing_s: float
    checking_s: float
    elapsed_s: float

    @property
    def core_s(self) -> float:
        """Total seconds on one core."""
        return self.signing_s + self.sorting_s + self.comparing_s + self.checking_s


def predict(search: PairSearch, question: Question) -> Prediction:
    """Predict the recall and the cost of a search."""
    if search.method == "vectors":
        pair_ns = COSTS.vectors_ns(question.left_terms, question.right_terms)
        return _told(search, question, (1.0, 1.0, 1.0), float(question.n_pairs), pair_ns)
    chances = question.chances(search.bits)
    near = slice(0, search.distance + 1)
    if search.method == "signatures":
        recall = min(1.0, float(chances.sought[near].sum()))
        n_candidates = question.n_pairs * float(chances.every[near].sum())
        pair_ns = COSTS.comparison_ns(search.bits, question.n_right)
        near_ns = n_candidates * (COSTS.candidate + COSTS.candidate_term * question.right_terms)
        n_compared = float(question.n_pairs)
        return _told(
            search, question, (recall, recall, recall), n_compared, pair_ns, n_candidates, n_candidates, near_ns
        )
    lengths = np.array(question.prefix.lengths(question.n_documents, search.window))
    chances_of_search = chances.found(lengths, np.array([float(search.permutations)]))[:, 0, near]
    high, recall, low = (min(1.0, float(share)) for share in chances_of_search @ chances.sought[near])
    n_candidates = question.n_pairs * float(chances_of_search[1] @ chances.every[near])
    in_windows = question.n_in_windows(search.window)
    pair_ns = float(COSTS.window_ns(search.bits, question.n_right, in_windows / question.n_left))
    in_one = np.exp(chances.log_agreement(lengths[1:2]))[0, near] @ chances.every[near]
    n_hits = question.n_pairs * search.permutations * float(in_one)
    near_ns = float(_checking_ns(question, np.asarray(n_candidates), np.asarray(n_hits)))
    n_compared = search.permutations * float(in_windows)
    return _told(search, question, (low, recall, high), n_compared, pair_ns, n_candidates, n_hits, near_ns)


def window_ns(question: Question, n_bits: int, windows: I64, orders: I64, n_candidates: F64, n_hits: F64) -> F64:
    """Return the cost of many windows and numbers of orders on one core, without signing, to choose among them."""
    n = question.n_documents
    in_windows = question.n_in_windows(windows)
    pair_ns = COSTS.window_ns(n_bits, question.n_right, in_windows / question.n_left)
    of_order = n * COSTS.sorting_ns(n_bits, n) + in_windows * pair_ns
    return np.asarray(orders * of_order + _checking_ns(question, n_candidates, n_hits), np.float64)


def _checking_ns(question: Question, n_candidates: F64, n_hits: F64) -> F64:
    n_computed = np.where(n_candidates > HELD, n_hits, n_candidates)
    of_terms = COSTS.candidate_term * question.right_terms
    return np.asarray(n_hits * COSTS.candidate + n_computed * of_terms, np.float64)


def _told(
    search: PairSearch,
    question: Question,
    recalls: tuple[float, float, float],
    n_comparisons: float,
    pair_ns: float,
    n_candidates: float = 0.0,
    n_hits: float = 0.0,
    near_ns: float = 0.0,
) -> Prediction:
    low, recall, high = recalls
    sorting_ns = search.permutations * question.n_documents * COSTS.sorting_ns(search.bits, question.n_documents)
    n_terms = question.n_left * question.left_terms + question.n_right * question.right_terms
    signing_s = 1e-9 * (COSTS.sign * search.bits * n_terms)
    sorting_s, comparing_s, checking_s = 1e-9 * sorting_ns, 1e-9 * n_comparisons * pair_ns, 1e-9 * near_ns
    in_comparisons = sorting_ns / pair_ns if pair_ns else 0.0
    return Prediction(
        recall_low=low,
        recall=recall,
        recall_high=high,
        n_comparisons=n_comparisons,
        relative_cost=(n_comparisons + in_comparisons) / question.n_pairs,
        n_candidates=n_candidates,
        n_hits=n_hits,
        n_pairs=recall * question.n_sought,
        memory_bytes=memory_bytes(search, question, n_candidates, recall * question.n_sought),
        signing_s=signing_s,
        sorting_s=sorting_s,
        comparing_s=comparing_s,
        checking_s=checking_s,
        elapsed_s=(signing_s + sorting_s + comparing_s + checking_s) / question.cores,
    )


def memory_bytes(search: PairSearch, question: Question, n_candidates: float, n_found: float) -> int:
    """Return the memory of vectors, signatures, waiting candidates and found pairs."""
    n = question.n_documents
    vectors = _ENTRY_BYTES * (question.n_left * question.left_terms + question.n_right * question.right_terms + n)
    pair_bytes = 2 * _PAIR_BYTES * n_found
    if search.method == "vectors":
        block = min(_BLOCK, question.n_right)
        return int(vectors + pair_bytes + block * (4 * question.right_terms**1.2 + 12 * question.right_terms))
    copies = 3 if search.method == "window" else 2
    signatures = copies * 8 * filled_words(search.bits) * n + _ROWS_BYTES * n
    return int(vectors + pair_bytes + signatures + 3 * _KEY_BYTES * min(n_candidates, HELD))
