"""Plan of a run: its description and stored form, and the probability that it found a match."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import cache

import numpy as np
import pyarrow as pa

from nearkin.errors import RunError
from nearkin.kernels.sketch import round_constants
from nearkin.nouns import agreeing, counted
from nearkin.options.dedup import DedupOptions
from nearkin.planning.search import EVERY_SIZE, KEYS_OF_A_LEAD, PLANNERS, BandPlan, Sample, SamplingPlan
from nearkin.records import F64, I64, U8, U32, U64, Bool, Candidates, Matches, ShingleSets
from nearkin.reports.quantities import about_text, measure_name, parameter_text, percent_text, share_percent_text
from nearkin.runs.spool import Chunk, texts_of
from nearkin.stages.documents.text_kinds import kinds_in
from nearkin.stages.search.exhaustive import common_counts
from nearkin.stages.search.linking import Linking
from nearkin.stages.search.prefixes import Occurrences, Prefixes
from nearkin.stages.verification.overlap import verify
from nearkin.workflows.dedup.candidates import BandKeys
from nearkin.workflows.dedup.corpus import MINE, THEIRS, Corpus
from nearkin.workflows.dedup.searching import Entries, Sizes, linked

Plan = BandPlan | SamplingPlan


def plan_search(sample: Sample, options: DedupOptions) -> Plan:
    """Choose the search by a sample of texts."""
    return PLANNERS[options.measure.search](options.threshold, options.recall, sample)


def keys_a_text(sample: Sample, plan: Plan, options: DedupOptions) -> tuple[float, float]:
    """Return the mean numbers of band keys and of other keys per text."""
    sizes = sample.sizes
    if not isinstance(plan, BandPlan):
        is_small = sizes < plan.exact_below
        n_leading = Prefixes(options.threshold).lengths(sizes[is_small]).sum()
        n_keys = plan.rate * float(sizes[~is_small].sum()) + KEYS_OF_A_LEAD * int(n_leading)
        return 0.0, n_keys / max(len(sizes), 1)
    keys = BandKeys(plan, options)
    n_other = keys.prefixes.lengths(sizes[sizes <= keys.max_for_prefix]).sum()
    n = max(len(sizes), 1)
    return plan.bands * int((sizes >= plan.exact_below).sum()) / n, int(n_other) / n


def found_probability(matches: Matches, plan: Plan, threshold: float) -> F64:
    """Return the probability with which a search at a threshold finds each match."""
    if isinstance(plan, SamplingPlan):
        return plan.found_probability(matches.n_common, np.minimum(matches.n_left, matches.n_right))
    return plan.found_probability(matches.n_common, matches.n_left, matches.n_right, threshold)


def describe_plan(
    plan: Plan, options: DedupOptions, *, share_by_bands: float = 1, has_predicted_cost: bool = True
) -> str:
    """Return the plan in one sentence; bands only if some share of the texts is searched by them."""
    few = counted(plan.exact_below, "shingle")
    rest = f", texts of fewer than {few} exhaustively" * (plan.exact_below > 1)
    search = (
        f"MinHash with {counted(plan.bands, 'band')} of {counted(plan.rows, 'row')}{' each' * (plan.bands > 1)}"
        if isinstance(plan, BandPlan)
        else f"{plan.rate:.2%} of shingles sampled{rest}"
    )
    sentence = (
        f"search: {search}; predicted recall {share_percent_text(plan.recall_at_threshold)} at "
        f"{measure_name(str(options.measure))} {parameter_text(options.threshold)}"
    )
    if isinstance(plan, BandPlan) and (plan.exact_below == EVERY_SIZE or not share_by_bands):
        whose = "the rare shingles of each text"
        if plan.exact_below < EVERY_SIZE:
            whose += f"; texts of the sample have fewer than {few}"
        sentence = f"search: {whose}. Every match is found, unless very many texts share even these"
    if not has_predicted_cost:
        return sentence
    n_unrelated = round(plan.expected_candidates)
    return (
        f"{sentence}; cost: about {about_text(n_unrelated)} unrelated {agreeing(n_unrelated, 'pair', 'pairs')} "
        "compared (similarity below the threshold)"
    )


def plan_as_stored(plan: Plan) -> dict[str, object]:
    """Return the plan as the manifest stores it."""
    if isinstance(plan, BandPlan):
        return {"kind": "bands", **asdict(plan), "size": plan.size}
    return {"kind": "sampling", **asdict(plan)}


def plan_from_stored(stored: Mapping[str, object]) -> Plan:
    """Read the result of `plan_as_stored`."""
    kind = BandPlan if stored["kind"] == "bands" else SamplingPlan
    names = list(kind.__dataclass_fields__)
    for name in names:
        if not isinstance(stored[name], int | float):
            raise RunError(f"The run is damaged: its plan has {stored[name]!r} for {name!r}. Run nearkin dedup again.")
    return kind(**{name: stored[name] for name in names})  # type: ignore[arg-type]


def plan_in_words(plan: Plan, options: DedupOptions) -> str:
    """Return the plan in one sentence."""
    if options.min_shared is None or isinstance(plan, BandPlan):
        return describe_plan(plan, options)
    if plan.rate == 1:
        return "search: all shingles are looked up, so a pair that shares even one is found"
    share = percent_text(plan.rate, 1)
    return f"search: {share} of shingles are looked up, so a pair that shares only one is found with this probability"


_LEAST, _MOST, _LOOKED_AT = 300, 2_000, 64
_COUNTED, _VERIFIED = 4_000, 100_000
_MAX_CHARACTERS = 32 << 20


def look(corpus: Corpus, options: DedupOptions) -> Sample:
    """Compare a sample of texts with one another, exactly."""
    n_mine = int(np.searchsorted(corpus.first_row, corpus.n_inputs))  # texts are numbered in reading order
    nodes = chosen_nodes(n_mine, corpus.n_nodes - n_mine)
    return _sample_of_corpus(corpus, nodes, options, n_mine=n_mine, n_nodes=corpus.n_nodes)


def _sample_of_corpus(corpus: Corpus, nodes: U64, options: DedupOptions, *, n_mine: int, n_nodes: int) -> Sample:
    rows = corpus.first_row[nodes]
    return sample_of(
        nodes, rows, corpus.n_characters[rows], corpus.chunks, options,
        n_mine=n_mine, n_nodes=n_nodes, is_against=corpus.is_against,
    )  # fmt: skip


def kinds_of_text(corpus: Corpus, options: DedupOptions) -> dict[str, int]:
    """Count the texts of a small sample by kinds for which word shingles are wrong."""
    if options.shingle.unit != "words":
        return {}
    nodes = _spread(corpus.n_nodes, corpus.n_nodes, n=_LOOKED_AT)
    kinds = kinds_in(texts_of(corpus.chunks, corpus.first_row[nodes].tolist()))
    return {"sampled": len(nodes), **{f"sampled_{kind}": n for kind, n in kinds.items()}} if kinds else {}


def look_ahead(corpus: Corpus, n_texts: int, options: DedupOptions) -> Sample:
    """Return the sample that `look` would take from a similar collection of ``n_texts``."""
    nodes = _spread(corpus.n_nodes, n_texts)
    return _sample_of_corpus(corpus, nodes, options, n_mine=n_texts, n_nodes=n_texts)


def chosen_nodes(n_mine: int, n_others: int) -> U64:
    """Return the texts of the sample, in ascending order."""
    mine, others = _spread(n_mine, n_mine), _spread(n_others, n_others)
    return np.concatenate([mine, others + np.uint64(n_mine)])


def sample_of(
    nodes: U64,
    rows: I64 | U32,
    n_characters: I64,
    chunks: Sequence[Chunk],
    options: DedupOptions,
    *,
    n_mine: int,
    n_nodes: int,
    is_against: bool,
) -> Sample:
    """Compare the chosen texts of a collection; fewer of them if documents are long.

    Parameters
    ----------
    nodes : uint64 array, shape (n_texts,)
        Distinct texts, ascending; those below ``n_mine`` are to be cleaned, the others of the other set.
    """
    step = 1 + int(n_characters.sum()) // _MAX_CHARACTERS
    is_mine = nodes[::step] < n_mine
    texts = texts_of(chunks, rows[::step].tolist())
    sets = options.shingle.sets(pa.array(texts, pa.large_string()))
    a, b = np.triu_indices(len(sets), 1)
    if is_against:
        crosses = is_mine[a] & ~is_mine[b]
        a, b = a[crosses], b[crosses]
    n_common = common_counts(sets)[a, b]
    union = sets.sizes[a] + sets.sizes[b] - n_common
    n_shingles = np.maximum(sets.sizes, 1)
    left, right, *counts = (n.astype(np.uint32) for n in (a, b, n_common, n_shingles[a], n_shingles[b]))
    return Sample(
        n_documents=n_nodes,
        n_pairs=n_mine * (n_nodes - n_mine) if is_against else n_mine * (n_mine - 1) / 2,
        sizes=sets.sizes,
        left=a,
        right=b,
        similarity=n_common / np.maximum(union, 1),
        n_common=n_common,
        is_match=options.is_match(Matches(left, right, counts[0], counts[1], counts[2])),
        shares_rare=cache(lambda: _share_rare(sets, options)[a, b]),
    )


def _share_rare(sets: ShingleSets, options: DedupOptions) -> Bool:
    left, right = _sharing_rare(sets, options, Occurrences.of(sets.hashes).dense(), None)
    share = np.zeros((len(sets), len(sets)), np.bool_)
    share[left, right] = True
    return share


def _sharing_rare(sets: ShingleSets, options: DedupOptions, counts: U32, sides: U8 | None) -> tuple[U32, U32]:
    """Return the pairs that share rare shingles, by the ``counts`` of all texts; each once, the lower one first."""
    keys, of_key, follows = Prefixes(options.threshold).keys(sets, counts)
    leading_first = np.argsort(follows, kind="stable")
    entries = Entries(keys[leading_first], of_key[leading_first].astype(np.uint32), follows[leading_first])
    n = len(sets)
    ratio = options.measure.min_size_ratio(options.threshold)
    sides = np.full(n, MINE | THEIRS, np.uint8) if sides is None else sides
    linking = Linking(sets.sizes.astype(np.uint32), sides, ratio, max_pivots=n)
    pairs = np.unique(np.concatenate([np.zeros(0, np.uint64), *(pairs for pairs, _ in linked(entries, linking))]))
    return (pairs >> np.uint64(32)).astype(np.uint32), pairs.astype(np.uint32)


def predicted(
    plan: Plan, sample: Sample, corpus: Corpus, sizes: Sizes, options: DedupOptions, counts: U32 | None
) -> Plan:
    """Return the plan with the unrelated pairs that share rare shingles by their ``counts``, if a text is so short."""
    if not isinstance(plan, BandPlan) or counts is None or not counts.any() or len(sample.sizes) == sample.n_documents:
        return plan  # what all documents say was counted already
    nodes = np.flatnonzero(sizes.n_shingles <= plan.exact_up_to(options.threshold))
    chosen = nodes[_spread(len(nodes), len(nodes), _COUNTED).astype(np.int64)]
    chosen = chosen[:: 1 + int(corpus.n_characters[corpus.first_row[chosen]].sum()) // _MAX_CHARACTERS]
    sets = options.shingle.sets(pa.array(texts_of(corpus.chunks, corpus.first_row[chosen]), pa.large_string()))
    left, right = _sharing_rare(sets, options, counts, corpus.sides[chosen])
    step = 1 + len(left) // _VERIFIED
    verified = verify(Candidates(left[::step], right[::step]), sets.hashes, sets.offsets[:-1], sets.offsets[1:])
    n_unrelated = step * int((~options.is_match(verified)).sum())
    by_bands = plan.compared_probability(
        replace(sample, shares_rare=lambda: np.zeros(len(sample.left), np.bool_)), options.threshold
    )
    scale = len(nodes) * (len(nodes) - 1) / max(1, len(chosen) * (len(chosen) - 1))
    return replace(plan, expected_candidates=float(by_bands.sum()) * sample.scale + n_unrelated * scale)


def _spread(n_nodes: int, n_texts: int, n: int | None = None) -> U64:
    n = n or min(max(_LEAST, math.isqrt(n_texts)), _MOST)
    if n_nodes <= n:
        return np.arange(n_nodes, dtype=np.uint64)
    bounds = np.arange(n + 1, dtype=np.uint64) * np.uint64(n_nodes) // np.uint64(n)
    hashes = round_constants(n, 0)[:n]
    return bounds[:-1] + hashes % (bounds[1:] - bounds[:-1])
