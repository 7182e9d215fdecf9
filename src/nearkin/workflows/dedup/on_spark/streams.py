"""Streams between tasks: the columns of each."""

from __future__ import annotations

from nearkin.engines.spark.layout import Attached, Layout

CHUNKS = Layout(
    "chunks",
    (("part", "<u4"), ("number", "<u4"), ("n_documents", "<i8"), ("n_bytes", "<i8")),
)
"""Files of the spool."""
INPUTS = Layout("inputs", (("id_kind", "|u1"),))
DIGESTS = Layout(
    "digests",
    (("d0", "<u8"), ("d1", "<u8"), ("d2", "<u8"), ("d3", "<u8"), ("code", "<u8"), ("row", "<u4")),
)
"""Documents with a text; ``code`` is that of `stages.grouping.survivors.Keep`."""
IDS = Layout("ids", (("hash", "<u8"), ("row", "<u4")))
SUSPECTS = Layout("suspects", (("row", "<u4"),))
"""Documents whose hashed id another document has too."""
TEXTS = Layout("texts", (("first", "<u4"), ("best", "<u4"), ("code", "<u8"), ("n_documents", "<u4"), ("sides", "|u1")))
"""Distinct texts: the first and the most preferred row of each."""
COPIES = Layout("copies", (("row", "<u4"), ("first", "<u4")))
"""Rows whose text an earlier row has."""
COUNTED = Layout("counted", (("n_texts", "<i8"), ("n_mine", "<i8")))
"""Per partition: number of distinct texts, and of those that occur first among the documents to clean."""
UNREADABLE = Layout("unreadable", (("n", "<i8"), ("first", "<u4")))
"""Per chunk with unreadable documents: their number, and the row of the first."""
ENTRIES = Layout("entries", (("key", "<u8"), ("node", "<u4"), ("size", "<u4"), ("sides", "|u1")))
"""Texts of a key; each band has its own stream."""
OCCURRENCES = Layout("occurrences", (("bucket", "<u4"), ("count", "<u4")))
"""Counts of shingles, by the upper bits of their hashes."""
LEADS = Layout("leads", (("bit", "<u4"),))
"""Bits of the shingles with which small texts lead; see `stages.search.containment.LeadKeys`."""
MARKS = Layout("marks", (("key", "<u8"), ("n", "<i8"), ("n_leads", "<i8")))
"""Numbers of entries, and of leading entries, of a skewed key that stay in a partition; a stream for each band."""
SKEWED = Layout("crowded", (("band", "<u4"), ("key", "<u8"), ("node", "<u4"), ("size", "<u4"), ("sides", "|u1")))
"""Entries of a key that very many texts share."""
RANKED = Layout("ranked", (*SKEWED.columns, ("code", "<u8"), ("best", "<u4")))
"""The same, with the values that decide preference."""
LENGTHS = Layout("lengths", (("band", "<u4"), ("length", "<i8"), ("n_leads", "<i8"), ("n", "<i8")))
"""Number of keys of a band by their numbers of texts and of leading texts."""
HOT = Layout("hot", (("band", "<u4"), ("key", "<u8"), ("length", "<i8"), ("n_leads", "<i8")))
"""Keys with too many texts for one task."""
NOT_COMPARED = Layout("not compared", (("n_pairs", "<i8"),))
HOT_RESTS = Layout(
    "hot rests",
    (
        ("hot", "<u4"),
        *((name, "<i8") for name in ("n_texts", "n_first", "n_second")),
        *((name, "<i8") for name in ("n_following", "n_first_following", "n_second_following")),
    ),
)
"""Texts of a hot key compared with its pivots only: all, those on one side alone, and those that follow."""
PAIRS = Layout("pairs", (("left", "<u4"), ("right", "<u4"), ("tag", "<u4")))
"""Candidates, in the partition of their left text; ``tag`` is the component that asks for the pair, 0 if none does."""
HUBS = Layout("popular", (("node", "<u4"), ("n_pairs", "<i8")))
"""Number of candidates of a text in a task, if more than a few."""
ASKS = Layout("asks", (("node", "<u4"), ("reply_to", "<u4")))
"""Texts whose shingles are requested, and by which partition."""
SETS = Attached("sets", Layout("set rows", (("node", "<u4"), ("n_shingles", "<u4"), ("best", "<u4"), ("code", "<u8"))))
"""Texts with the hashes of their shingles."""
MATCHES = Layout(
    "matches",
    (
        ("left", "<u4"), ("right", "<u4"), ("n_common", "<u4"), ("n_left", "<u4"), ("n_right", "<u4"),
        ("best_left", "<u4"), ("best_right", "<u4"), ("code_left", "<u8"), ("code_right", "<u8"), ("tag", "<u4"),
    ),
)  # fmt: skip
CANDIDATES = Layout("candidates", (("n_pairs", "<i8"),))
"""Number of distinct pairs."""
PROFILES = Attached("profiles", Layout("profile rows", (("node", "<u4"), ("n_shingles", "<u4"))))
"""Texts with the counts of `profiles`."""
MEMBERS = Layout("members", (("node", "<u4"), ("principal", "<u4"), ("principal_best", "<u4"), ("similarity", "<f8")))
"""Texts with a match, with the text that is the principal of their group, and its row to keep."""
GROUPS = Layout(
    "groups",
    (
        ("principal", "<u4"), ("n_texts", "<u4"), ("lowest", "<f8"), ("is_lowest_exact", "|u1"),
        ("n_bridges_refused", "<i8"),
    ),
)  # fmt: skip
"""Groups of texts with a match; some have one text."""
VERDICTS = Layout(
    "verdicts",
    (("row", "<u4"), ("principal", "<u4"), ("copy_of", "<u4"), ("similarity", "<f8"), ("reason", "|u1")),
)
"""Results for each document with a text: rows, and an index into `workflows.dedup.outcome.REASONS`."""
ROW_PAIRS = Layout(
    "row pairs", (("left", "<u4"), ("right", "<u4"), ("n_common", "<u4"), ("n_left", "<u4"), ("n_right", "<u4"))
)
