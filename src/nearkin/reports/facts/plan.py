"""Facts about plans: of a search for pairs, of the cleaning of a corpus, and of a cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from nearkin.planning.pairs.search import QUICK_S, Plan, Prediction, Question
from nearkin.planning.search import EVERY_SIZE, BandPlan
from nearkin.reports.facts.fact import Fact, Table
from nearkin.reports.quantities import about_text, percent_text, recall_text, share_percent_text, size_text, time_text

if TYPE_CHECKING:
    from nearkin.planning.cluster_needs import ClusterNeeds, CorpusForecast
    from nearkin.planning.pairs.prediction import PairSearch
    from nearkin.planning.pairs.search import PairForecast

_FEW = 300
"""Minimum number of texts to compare, if there are that many."""
_A_SECOND, _TOO_MANY_CORE_DAYS = 1_000_000, 1_000
_HEAP_BYTES = 1 << 30
"""Java heap for each core."""
_CORES = 4
"""Maximum number of cores of an executor: more of them share one Java heap and its disks."""


def plan_facts(
    question: Question,
    planned: Plan,
    sampled: PairForecast | None,
    *,
    is_fixed: bool,
    min_pairs: int,
    max_pairs: int,
) -> Iterator[Fact]:
    """Name the chosen method, the reason, the basis of the prediction, and its limits."""
    least = f"cosine ≥ {question.threshold:g}"
    yield Fact("documents", f"{question.n_left:,} × {question.n_right:,}", f"{about_text(question.n_pairs)} pairs")
    yield Fact("expected pairs", about_text(question.n_sought), least)
    fastest = (
        f"exact, and under {QUICK_S:g} s"
        if planned.is_quick
        else "fixed"
        if is_fixed
        else "the fastest that reaches the recall"
    )
    yield Fact("method", planned.search.method, f"{planned.search.describe()}; {fastest}")
    share, part = _costliest(planned.prediction)
    yield Fact("most of the time", f"{share:.0%}", part)
    yield Fact("costs", "measured", "on an AMD EPYC at 2.6 GHz")
    yield from _basis(question, sampled, min_pairs)
    if not planned.reaches:
        best = share_percent_text(planned.prediction.recall_low)
        yield Fact("the fixed options do not reach", f"{question.recall:.3g}", f"the best is {best}", "warning")
    if planned.prediction.n_pairs > max_pairs:
        yield Fact("more pairs than are reported", max_pairs, "raise --threshold, or use --top", "warning")


def methods_table(ways: Sequence[tuple[PairSearch, Prediction]], *, n_cores: int = 1, caption: str = "") -> Table:
    """Tabulate the methods, one column each, the chosen one first."""
    cells: dict[str, list[str]] = {
        "recall": [recall_text(prediction.recall_low, prediction.recall_high) for _, prediction in ways],
        "bits, distance": [f"{way.bits:,}, {way.distance:,}" if way.bits else "–" for way, _ in ways],
        "orders × window": [f"{way.permutations:,} × {way.window:,}" if way.window else "–" for way, _ in ways],
        "comparisons": [about_text(prediction.n_comparisons) for _, prediction in ways],
        "relative cost": [percent_text(prediction.relative_cost, 1) for _, prediction in ways],
        "candidates": [about_text(prediction.n_candidates) if way.bits else "–" for way, prediction in ways],
        "pairs found": [about_text(prediction.n_pairs) for _, prediction in ways],
        "memory": [size_text(prediction.memory_bytes) for _, prediction in ways],
    }
    if n_cores > 1:
        cells["time on one core"] = [time_text(prediction.core_s) for _, prediction in ways]
    cells["time"] = [time_text(prediction.elapsed_s) for _, prediction in ways]
    rows = [(name, *row) for name, row in cells.items()]
    return Table(("", *(way.method for way, _ in ways)), rows, caption=caption)


def _basis(question: Question, sampled: PairForecast | None, min_pairs: int) -> Iterator[Fact]:
    if sampled is None:
        yield Fact("cosines", "assumed", "real signatures cluster, so windows find fewer pairs than predicted", "quiet")
        return
    compared = f"{sampled.n_compared:,} documents, each with {sampled.n_right:,}"
    yield Fact("cosines", "measured", f"{compared}: {sampled.n_pairs:,} pairs", "quiet")
    clustering = "measured" if question.prefix.is_measured else "not measured"
    few = "" if question.prefix.is_measured or sampled.n_pairs >= min_pairs else "too few pairs"
    yield Fact("clustering of signatures", clustering, few, "quiet")
    if question.n_left > sampled.n_left or question.n_right > sampled.n_right:
        grows = "grow with both corpora; draw each sample independently"
        yield Fact("pairs", "assumed", grows, "quiet")


def _costliest(prediction: Prediction) -> tuple[float, str]:
    parts = {
        "making signatures": prediction.signing_s,
        "sorting signatures": prediction.sorting_s,
        "comparing": prediction.comparing_s,
        "computing the cosines of candidates": prediction.checking_s,
    }
    name = max(parts, key=lambda part: parts[part])
    return parts[name] / max(prediction.core_s, 1e-12), name


def corpus_plan_facts(forecast: CorpusForecast, planned: str) -> Iterator[Fact]:
    """Describe the sample, the plan (given in words), and its certainty."""
    n_compared = len(forecast.sample.sizes)
    other = (
        "as the sample; another number: --documents"
        if forecast.n_documents == forecast.n_sampled
        else "like the sample"
    )
    yield Fact("documents", forecast.n_documents, other)
    without = f"; {forecast.n_without_text:,} empty or unreadable" * bool(forecast.n_without_text)
    yield Fact("sample", forecast.n_sampled, f"{n_compared:,} distinct texts compared{without}")
    yield Fact("shingles of a text", f"{forecast.sample.mean_size:,.0f}", "on average")
    if forecast.n_documents > forecast.n_sampled:
        yield Fact("distinct texts", f"about {about_text(forecast.n_texts)}", "fewer if there are more copies", "quiet")
    yield Fact("plan", planned)
    yield from _ways_to_search(forecast)
    yield from _unrelated_facts(forecast)
    if n_compared < _FEW:
        how = "use a few thousand documents, drawn from the whole corpus"
        yield Fact("the sample is too small", n_compared, how, "warning")


def _unrelated_facts(forecast: CorpusForecast) -> Iterator[Fact]:
    if (n_unrelated := forecast.n_unrelated) is None:
        yield Fact("unrelated pairs", "not predicted", "the sample has no two different texts", "quiet")
        return
    low, high = forecast.candidates_range() or (n_unrelated, n_unrelated)
    between = "" if about_text(low) == about_text(high) else f"; probably {about_text(low)} to {about_text(high)}"
    each = f"{n_unrelated / forecast.n_documents:,.1f} per document"
    yield Fact("predicted unrelated pairs", about_text(n_unrelated), each + between)
    if (core_days := n_unrelated / _A_SECOND / 86_400) >= _TOO_MANY_CORE_DAYS:
        how = "a higher --threshold, a lower --recall, a longer --shingle, or fewer documents"
        yield Fact("not feasible", f"{about_text(core_days)} days of one core", how, "warning")


def _ways_to_search(forecast: CorpusForecast) -> Iterator[Fact]:
    """Describe which texts are searched by bands and by rare shingles."""
    if not isinstance(forecast.plan, BandPlan) or not forecast.n_other_keys:
        return
    if forecast.share_by_bands:
        least = f"texts of at least {forecast.plan.exact_below:,} shingles"
        yield Fact("searched by bands", percent_text(forecast.share_by_bands, 1), least)
    elif forecast.plan.exact_below < EVERY_SIZE:
        recall = share_percent_text(forecast.plan.recall_at_threshold)
        yield Fact("recall of longer texts", recall, "at the threshold, at least")
    most = "" if not forecast.share_by_bands else f"texts of at most {forecast.rare_up_to:,} shingles, "
    n_keys = f"{forecast.n_other_keys / forecast.share_by_rare:,.1f} each"
    yield Fact("searched by rare shingles", percent_text(forecast.share_by_rare, 1), most + n_keys)


def shuffles_table(needs: ClusterNeeds, n_documents: int) -> Table:
    """Tabulate the shuffled data, before compression."""
    rows = [
        (size_text(shuffle.size_bytes), f"{shuffle.size_bytes / n_documents:,.1f}", shuffle.stage, shuffle.carries)
        for shuffle in needs.shuffles
    ]
    rows.append((size_text(needs.shuffled_bytes), f"{needs.shuffled_bytes / n_documents:,.1f}", "all", ""))
    return Table(("shuffled", "bytes per document", "stage", "data"), rows, 2)


def cluster_facts(needs: ClusterNeeds, n_cores: int) -> Iterator[Fact]:
    """Describe the use of memory and disks, and how to set up executors."""
    cores = min(n_cores, _CORES)
    python, java = (-(-cores * n_bytes // (1 << 30)) for n_bytes in (needs.core_bytes, _HEAP_BYTES))
    yield Fact("cores of the cluster", n_cores)
    if needs.pair_bytes:
        yield Fact("shuffled for each pair of near-duplicates", size_text(needs.pair_bytes))
    yield Fact("tasks per stage, at most", needs.n_tasks)
    yield Fact("memory per core", size_text(needs.core_bytes), f"for Python; {size_text(_HEAP_BYTES)} for Java")
    yield Fact("memory of the driver", size_text(needs.driver_bytes), "for Python")
    yield Fact(
        f"executors of {cores} cores",
        f"--conf spark.executor.cores={cores} --conf spark.executor.memory={java}g "
        f"--conf spark.executor.memoryOverhead={python}g",
    )
    yield Fact("disk, shared folder", size_text(needs.folder_bytes))
    yield Fact("disk, spark.local.dir", size_text(needs.shuffled_bytes), "over all machines")
