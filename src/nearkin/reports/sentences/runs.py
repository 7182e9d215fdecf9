"""Sentences of finished runs: pairs, families, threads, signatures, and groups at another threshold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from nearkin.manifests.dedup import DedupManifest
from nearkin.manifests.pairs import SIDES, KnownFound, PairsManifest
from nearkin.nouns import agreeing, counted
from nearkin.reports.pairs.wording import WAYS, headline, known_sentences
from nearkin.reports.quantities import criterion_text, parameter_text, recall_text, share_percent_text
from nearkin.reports.reasons import no_kept_corpus_text, textless_in_words
from nearkin.reports.sentences.dedup import (
    extraction_sentence,
    input_sentences,
    memory_text,
    missed_pairs_sentence,
    speed_text,
    total_s,
)
from nearkin.reports.sentences.exceptions import damage_sentences
from nearkin.reports.sentences.sentence import Sentence

if TYPE_CHECKING:
    from nearkin.manifests.dedup import FamilyCounts
    from nearkin.manifests.signing import SigningRecord
    from nearkin.manifests.threads import ThreadsManifest


def pairs_sentences(told: PairsManifest, out: str) -> Iterator[Sentence]:
    """Count the pairs, and describe the search, the omitted words, and the results for known pairs.

    Parameters
    ----------
    told : PairsManifest
    out : str
        The directory of the run.
    """
    for side in SIDES:
        yield from damage_sentences(told.side(side).damaged_files, f"--{side} has")
    yield Sentence("", strong=headline(told))
    if not told.counts.pairs:
        yield Sentence(_why_none(told), "warning")
    yield from _on_search(told, out)
    yield from _on_translation(told)
    if told.known:
        yield from _on_known(told.known, out)
    yield Sentence(f"{total_s(told.stages):.1f} s, {memory_text(told.stages)}")


def _why_none(told: PairsManifest) -> str:
    """Explain why no pair was found."""
    for side in SIDES:
        record = told.side(side)
        if record.n_few_terms > record.n_documents / 2:
            column = record.inputs[0]["source"]["text"]
            asked = f": is {column!r} the right column?" if column else ""
            return f"Most documents on the {side} have too few words to be compared{asked}"
    if not told.table:
        return (
            "No pair reaches the threshold. If the two sides are in different languages, add a translation table from "
            "nearkin align with --table; if not, try a lower --threshold."
        )
    return "No pair reaches the threshold. Translations often have a cosine of 0.3 to 0.6. Try a lower --threshold."


def _on_search(told: PairsManifest, out: str) -> Iterator[Sentence]:
    predicted = told.plan.predicted
    low, high = map(share_percent_text, (predicted.recall_low, predicted.recall_high))  # as nearkin audit writes it
    band = low if low == high else f"{low} to {high}"
    yield Sentence(f"Search: {told.plan.in_words}; predicted recall {band}. Measure it: nearkin audit {out}")
    least = told.parameters["min_occurrences"]
    if least > 1:
        seldom = "only once" if least == 2 else f"less than {least} times"
        rare = " and ".join(
            f"{told.side(side).n_rare_words:,} of {told.side(side).n_words:,} on the {side}" for side in SIDES
        )
        yield Sentence(f"Omitted words that occur {seldom} in their corpus: {rare}")
    if not told.plan.reaches_recall:
        wanted = recall_text(told.parameters["recall"])
        yield Sentence(f"The options allow less than the requested recall of {wanted}", "warning")


def _on_translation(told: PairsManifest) -> Iterator[Sentence]:
    for side in SIDES:
        if ways := told.side(side).ways:
            translated = ", ".join(f"{ways[way]:.1%} {words}" for way, (words, _) in WAYS.items() if way != "unknown")
            yield Sentence(f"{side.title()}-side words translated: {translated}; {ways['unknown']:.1%} untranslated")


def _on_known(known: KnownFound, out: str) -> Iterator[Sentence]:
    first, *others = known_sentences(known)
    yield Sentence(f" Source: {known.told_by}; {out}/known.tsv lists them.", strong=first)
    yield from map(Sentence, others)


def families_sentences(
    told: DedupManifest,
    found: FamilyCounts,
    *,
    has_compiled: bool = False,
) -> Iterator[Sentence]:
    """Count the documents in form groups, and those in none."""
    n_documents, groups = told.count("documents"), counted(found.families, "form group")
    others = "".join(f", {n:,} {name}" for name, n in textless_in_words(told).items())
    yield Sentence(
        f", {found.alone:,} without a match at {criterion_text(told.parameters)}{others}",
        strong=f"{counted(n_documents, 'document')}: {found.documents:,} in {groups}",
    )
    if found.families:
        yield Sentence(
            "Relations are to the principal only: two identical members can both be 'revised'",
            "quiet",
        )
    yield from input_sentences(told)
    if "recall_at_threshold" in told.plan_numbers:  # of files; of a collection, see `family_group_sentences`
        yield missed_pairs_sentence(told)
    yield Sentence(speed_text(total_s(told.stages), n_documents, has_compiled=has_compiled))


def reason_meanings(*, is_of_new_text: bool) -> dict[str, str]:
    """Return for each reason why a mail is inclusive what it means; ``is_of_new_text``: only its own words count."""
    return {
        "message": f"no later mail of the thread holds all of its {'own words' if is_of_new_text else 'text'}",
        "attachment": f"{'its own words occur' if is_of_new_text else 'the text occurs'} in a later mail, "
        "an attachment does not",
        "not read": "the text is unreadable or incomplete",
    }


def result_rows(told: ThreadsManifest) -> Iterator[tuple[str, str, str, str]]:
    """Rows of the table of results: number of mails, share, result, meaning."""
    found, is_of_new_text = told.counts, bool(told.parameters.get("new_text_only"))
    meanings = reason_meanings(is_of_new_text=is_of_new_text)
    rows = [(n, f"inclusive: {reason}", meanings[reason]) for reason, n in found.by_reason.items()]
    whole = "all its own words are" if is_of_new_text else "all of it is"
    rows.append((found.included, "not inclusive", f"{whole} in a later mail, word for word"))
    rows.append(
        (
            found.duplicate_spares,
            "duplicate spare",
            "same Message-ID, date, subject, text and attachments",
        )
    )
    for n, result, meaning in rows:
        if n or result != "inclusive: not read":
            yield f"{n:,}", f"{n / max(1, found.mails):.1%}", result, meaning


def _of_several(n_of_several: int, n_threads: int) -> str:
    """Count the threads with several mails.

    Examples
    --------
    >>> _of_several(3, 3), _of_several(1, 1), _of_several(2, 3), _of_several(0, 3)
    (', each with several mails', '', ', 2 of them with several mails', ', each with one mail')
    """
    if n_threads <= 1:  # the number of mails says it
        return ""
    if n_of_several in (0, n_threads):
        return f", each with {'several mails' if n_of_several else 'one mail'}"
    return f", {n_of_several:,} of them with several mails"


def _other_exceptions(told: ThreadsManifest) -> str:
    """Say what the exceptions without text are that are not among the unread documents."""
    without_text = 0 if told.extraction is None else told.extraction.unread + told.extraction.others
    if (n := without_text - told.counts.unreadable) <= 0:
        return ""
    what = "is empty" if n == 1 else "are empty"
    if any(one.end_row is not None for one in told.inputs):  # only a collection refuses to store documents
        what += ", or was not stored" if n == 1 else ", or were not stored"
    others = "the other one" if n == 1 else f"the other {n:,}"
    return f"; {others} without text in exceptions.csv {what}"


def threads_sentences(told: ThreadsManifest, *, has_compiled: bool = False) -> Iterator[Sentence]:
    """Count threads and missing mails, and add remarks about the input."""
    found = told.counts
    yield Sentence(
        _of_several(found.threads_of_several, found.threads),
        strong=f"{counted(found.mails, 'mail')}: {counted(found.threads, 'thread')}",
    )
    if found.missing:
        yield Sentence(
            f"{counted(found.missing, 'mail')} {agreeing(found.missing, 'is', 'are')} missing: others refer to "
            f"{agreeing(found.missing, 'it', 'them')}"
        )
    if n := found.quoting_more:
        yield Sentence(
            "Not inclusive, although quoting text that is in no inclusive mail of the thread: "
            f"{counted(n, 'mail')} (quotes_more in threads.parquet)",
            "warning",
        )
    if by_subject := found.by_link.get("subject", 0):
        yield Sentence(f"Joined by subject, date and addresses, not by headers: {by_subject:,}")
    if found.other_subject:
        yield Sentence(f"Answers under another subject: {found.other_subject:,} (is_other_subject in threads.parquet)")
    yield from damage_sentences(told.damaged_files or (), "The results have")
    if told.extraction is not None:
        yield extraction_sentence(told.extraction)
    if found.others:
        are = agreeing(found.others, "is neither a mail nor inside one", "are neither mails nor inside one")
        yield Sentence(f"Skipped {counted(found.others, 'document')} that {are}", "warning")
    if found.others and found.unreadable:
        unread = f"Of all {counted(found.documents, 'document')}, {found.unreadable:,} could not be read"
        yield Sentence(f"{unread}{_other_exceptions(told)}", "warning")
    yield Sentence(speed_text(total_s(told.stages), found.documents, has_compiled=has_compiled))


def sign_sentences(told: SigningRecord) -> Iterator[Sentence]:
    """Count the signatures, and the documents without one."""
    n_documents = counted(told.documents, "document")
    n_distinct = counted(told.distinct_signatures, "distinct signature")
    yield Sentence(f" of {told.parameters['bits']} bits", strong=f"{n_documents}, {told.signed:,} signed, {n_distinct}")
    if told.without_features:
        yield Sentence(f"{counted(told.without_features, 'document')} without text; never reported as a neighbour")
    if told.unreadable:
        yield Sentence(f"{counted(told.unreadable, 'unreadable document')}; see the column problem", "warning")
    yield from damage_sentences(told.damaged_files, "The file of signatures has")


def regroup_sentences(
    told: DedupManifest, run: str, *, run_threshold: float | None, n_now_kept: int, n_now_dropped: int
) -> Iterator[Sentence]:
    """Count the documents with another outcome than in the run; if no cleaned corpus was written, say how to get one.

    Parameters
    ----------
    told : DedupManifest
        Of the new groups.
    run : str
        Name of the run.
    run_threshold : float, optional
        Threshold of the run.
    n_now_kept, n_now_dropped : int
        Numbers of documents that were dropped before and are kept now, and the reverse.
    """
    if run_threshold is not None:
        run = f"{run} (threshold {parameter_text(run_threshold)})"
    yield Sentence(_compared(run, n_now_kept, n_now_dropped))
    if remark := no_kept_corpus_text(told):
        yield Sentence(remark)


def _compared(run: str, n_now_kept: int, n_now_dropped: int) -> str:
    """Count the documents with another outcome.

    Examples
    --------
    >>> _compared("clean", 42, 0), _compared("clean", 0, 0)
    ('42 more documents are kept than in clean', 'The same documents are kept as in clean')
    >>> _compared("clean", 3, 1)
    '2 more documents are kept than in clean: 3 documents dropped there are kept, 1 document kept there is dropped'
    >>> _compared("clean", 0, 1)
    '1 document fewer is kept than in clean'
    """
    if not n_now_kept and not n_now_dropped:
        return f"The same documents are kept as in {run}"
    more = n_now_kept - n_now_dropped
    are = agreeing(abs(more), "is", "are")
    differ = f"As many documents are kept as in {run}"
    if more > 0:
        differ = f"{more:,} more {agreeing(more, 'document', 'documents')} {are} kept than in {run}"
    elif more < 0:
        differ = f"{counted(-more, 'document')} fewer {are} kept than in {run}"
    if not n_now_kept or not n_now_dropped:
        return differ
    return (
        f"{differ}: {counted(n_now_kept, 'document')} dropped there {agreeing(n_now_kept, 'is', 'are')} kept, "
        f"{counted(n_now_dropped, 'document')} kept there {agreeing(n_now_dropped, 'is', 'are')} dropped"
    )
