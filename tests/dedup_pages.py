"""Pages of a run of dedup that never was, and what reads a page: for tests of reports."""

from __future__ import annotations

from html.parser import HTMLParser

from nearkin.manifests.dedup import DedupManifest
from nearkin.reports.dedup import GroupRow, SamplePair, render_dedup_report
from nearkin.reports.pages import problems_table

MANIFEST: dict[str, object] = {
    "nearkin": "0.1.0",
    "command": "dedup",
    "fingerprint": "threshold=0.8;shingle=words:5",
    "parameters": {
        "threshold": 0.8,
        "measure": "jaccard",
        "recall": 0.99,
        "shingle": "words:5",
        "normalise": "nfkc,case,space",
        "group": "principal",
        "keep": "max:quality",
        "seed": 0,
        "unheard_of": {"b": 1, "a": [None, True]},
    },
    "inputs": [
        {
            "path": "mail/1.jsonl",
            "size_bytes": 1_572_864,
            "sha256": "ab" * 32,
            "format": "jsonl",
            "text": "body",
            "id": None,
            "n_documents": 12345,
        }
    ],
    "counts": {
        "documents": 12345,
        "unique": 10195,
        "exact_copy": 1200,
        "near_duplicate": 935,
        "too_short": 15,
        "unreadable": 0,
        "kept": 10210,
        "dropped": 2135,
        "pairs": 5000,
        "pairs_not_compared": 0,
    },
    "plan": {"bands": 23, "rows": 6, "recall_at_threshold": 0.99909, "exact_below": 138},
    "estimated_missed_pairs": 1.31,
    "estimated_recall": 0.9998,
    "problems": {},
}
PAIR = SamplePair(
    id_a="a",
    id_b="b",
    source_a="mail/1.jsonl:1",
    source_b="mail/1.jsonl:2",
    similarity=0.9,
    measure="jaccard",
    text_a="pay within 30 days",
    text_b="pay within 45 days",
)
NOTHING: dict[str, object] = {
    "similarity_bin_edges": [0.8, 0.9, 1.0],
    "similarity_counts": [0, 0],
    "group_size_counts": {},
    "largest_groups": [],
    "samples": [],
    "problems": problems_table((), 0),
}
SOMETHING: dict[str, object] = NOTHING | {
    "similarity_counts": [40, 60],
    "group_size_counts": {2: 30, 140: 1},
    "largest_groups": [
        GroupRow(
            group="a", size=140, lowest_similarity=0.81, n_bridges_refused=3, n_exact_copies=20, is_lowest_exact=False
        )
    ],
    "samples": [PAIR],
}


def render(manifest: dict[str, object] = MANIFEST, **given: object) -> str:
    return render_dedup_report(DedupManifest.of(manifest), **(SOMETHING | given))  # type: ignore[arg-type]


class Page(HTMLParser):
    """Tags, attributes and words of a page, with a check that tags close in order."""

    VOID = frozenset({"meta", "br", "input"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.words = ""
        self._open: list[str] = []
        self.feed(text)
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        self.ids += [value or "" for name, value in attrs if name == "id"]
        if tag not in self.VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data
