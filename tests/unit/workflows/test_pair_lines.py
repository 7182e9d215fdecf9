"""Lines of pairs, by Arrow, against Python's own formatting."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from nearkin.workflows.pairing.tables import pair_lines

TERM = pa.struct([("term", pa.large_string()), ("left_term", pa.large_string()), ("share", pa.float32())])
NAMED = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
UNSAFE = "\x00\x1b\u202e"
words = st.text(alphabet="abäß家", min_size=1, max_size=4)
terms = st.lists(st.tuples(words, st.none() | words), max_size=3)
ids = st.text(alphabet="ab\\\t\n\ré =-+@'" + UNSAFE, max_size=6)
rows = st.lists(st.tuples(st.integers(0, 1_000_000), ids, ids, terms), max_size=12)


def by_hand(text: str) -> str:
    shown = "".join(NAMED.get(one, f"\\u{ord(one):04x}" if one in UNSAFE else one) for one in text)
    return "'" * (shown.lstrip("'").lstrip()[:1] in tuple("=+-@")) + shown


@given(rows, st.integers(0, 5))
@settings(deadline=None)
def test_lines(told, n_skipped):
    found = [[{"term": term, "left_term": own, "share": 0.5} for term, own in row[3]] for row in told]
    table = pa.table(
        {
            "left_row": pa.array(range(len(told)), pa.int64()),
            "right_row": pa.array(range(len(told)), pa.int64())[::-1],
            "cosine": pa.array([row[0] / 1e6 for row in told], pa.float64()),
            "terms": pa.array(found, pa.list_(TERM)),
        }
    ).slice(n_skipped)
    names = [pa.array([row[side] for row in told], pa.large_string()) for side in (1, 2)]
    lines = []
    for millionths, left, right, own_terms in told[n_skipped:]:
        shown = " ".join(term if own is None else f"{own}={term}" for term, own in own_terms)
        lines.append(f"{millionths / 1e6:.6f}\t{by_hand(left)}\t{by_hand(right)}\t{shown}\n")
    assert pair_lines(table, (names[0], names[1][::-1])).decode() == "".join(lines)
