"""Passages against their definition, window by window, and against a suffix array."""

from __future__ import annotations

import json
import math
import random
import re
from collections import Counter, defaultdict
from itertools import pairwise

import pyarrow.parquet as pq
import pytest

import nearkin
from example_counts import examples
from unit.kernels.agreeing import served_by

LENGTHS = (2, 3, 5)


def corpus(seed):
    """Texts of few words with common runs; of some words in other forms, with other signs, or beyond ASCII."""
    chance = random.Random(seed)
    common = [[chance.choice("abcd") for _ in range(chance.randint(2, 12))] for _ in range(3)]
    texts = []
    for _ in range(chance.randint(1, 8)):
        words = []
        while len(words) < chance.randint(0, 25):
            is_common = chance.random() < 0.5
            words += (
                chance.choice(common) if is_common else [chance.choice(["a", "ü", "straße", "日", f"x{len(words)}"])]
            )
        forms = [chance.choice([word, word.upper(), word.upper() if word == "ü" else word]) for word in words]
        texts.append("".join(form + chance.choice([" ", ", ", "\n", " – ", ".\n"]) for form in forms))
    return texts


def words_of(text):
    return [(found.group().casefold(), *found.span()) for found in re.finditer(r"日|[^\W日]+", text)]


class Definition:
    """Passages by their definition."""

    def __init__(self, texts, length):
        self.words = [words_of(text) for text in texts]
        self.length = length
        self.places = defaultdict(list)
        for d, words in enumerate(self.words):
            for at in range(len(words) - length + 1):
                self.places[self.window(d, at)].append((d, at))
        self.repeated = {window for window, places in self.places.items() if len(places) > 1}
        pairs = Counter(
            (self.window(d, at), self.window(d, at + 1))
            for d, words in enumerate(self.words)
            for at in range(len(words) - length)
        )
        self.joined = {
            (a, b)
            for (a, b), n in pairs.items()
            if {a, b} <= self.repeated and 5 * n >= 4 * max(len(self.places[a]), len(self.places[b]))
        }

    def window(self, d, at):
        return tuple(word for word, _, _ in self.words[d][at : at + self.length])

    def occurrences(self):
        """Passages as sets of (document, first word, after the last word), by their first one."""
        group = {window: window for window in self.repeated}

        def root(window):
            while group[window] != window:
                window = group[window]
            return window

        for a, b in self.joined:
            group[root(a)] = root(b)
        found = defaultdict(list)
        for d, words in enumerate(self.words):
            start = None
            for at in range(len(words) - self.length + 1):
                here = self.window(d, at)
                start = at if start is None else start
                if here not in self.repeated:
                    start = None
                elif (here, self.window(d, at + 1)) not in self.joined or at == len(words) - self.length:
                    found[root(here)].append((d, start, at + self.length))
                    start = None
        return sorted(found.values())

    def inside(self, d, is_wanted):
        """Characters between the first and the last word of each run of wanted windows."""
        words, covered = self.words[d], set()
        for at in range(len(words) - self.length + 1):
            if is_wanted(d, at, self.places[self.window(d, at)]):
                covered.update(range(at, at + self.length))
        runs = [[at] for at in sorted(covered) if at - 1 not in covered]
        for run in runs:
            while run[-1] + 1 in covered:
                run.append(run[-1] + 1)
        return sum(words[run[-1]][2] - words[run[0]][1] for run in runs), covered


def is_repeated(d, at, places):
    return len(places) > 1


def is_copied(d, at, places):
    return places[0][0] < d


def is_own(length):
    return lambda d, at, places: min(p for e, p in places if e == d) + length <= at


def checked(texts, length):
    definition = Definition(texts, length)
    found = nearkin.passages(texts, min_words=length)
    rows = defaultdict(list)
    for row in found.passages.to_pylist():
        words, text = definition.words[row["row"]], texts[row["row"]]
        start = next(i for i, word in enumerate(words) if word[1] == row["start"])
        end = next(i for i, word in enumerate(words) if word[2] == row["end"])
        assert row["words"] == end - start + 1
        assert text.encode()[row["start_byte"] : row["end_byte"]].decode() == text[row["start"] : row["end"]]
        rows[row["passage"]].append((row["row"], start, end + 1))
    assert [rows[number] for number in sorted(rows)] == definition.occurrences()
    for row in found.passages.to_pylist():
        mine = rows[row["passage"]]
        assert row["occurrences"] == len(mine)
        assert row["documents"] == len({d for d, _, _ in mine})
    for d, row in enumerate(found.documents.to_pylist()):
        n = max(len(texts[d]), 1)
        assert row["n_words"] == len(definition.words[d])
        for name, wanted in (("repeated", is_repeated), ("copied", is_copied), ("own", is_own(length))):
            assert row[f"{name}_share"] == pytest.approx(definition.inside(d, wanted)[0] / n)


@pytest.mark.parametrize("kind", ["plain", "compiled"])
def test_passages_are_those_of_the_definition(kind):
    with served_by(kind):
        for seed in range(examples(100)):
            for length in LENGTHS:
                checked(corpus(seed), length)


def test_nothing_repeated_is_missed_by_a_suffix_array():
    for seed in range(examples(100)):
        for length in LENGTHS:
            texts = corpus(seed)
            words = [[word for word, _, _ in words_of(text)] for text in texts]
            suffixes = sorted((one[at:], d, at) for d, one in enumerate(words) for at in range(len(one)))
            covered = set()
            for (a, d, at), (b, e, start) in pairwise(suffixes):
                if a[:length] == b[:length] and len(a) >= length <= len(b):
                    covered.update((d, at + i) for i in range(length))
                    covered.update((e, start + i) for i in range(length))
            found = set()
            for row in nearkin.passages(texts, min_words=length).passages.to_pylist():
                inside = [
                    i for i, word in enumerate(words_of(texts[row["row"]])) if row["start"] <= word[1] < row["end"]
                ]
                found.update((row["row"], i) for i in inside)
            assert found == covered


def test_what_is_cut_stands_earlier_and_can_be_put_back(tmp_path):
    for seed in range(examples(60)):
        texts = corpus(seed)
        source, out = tmp_path / f"{seed}.jsonl", tmp_path / f"out-{seed}"
        source.write_text("".join(json.dumps({"id": i, "text": text, "n": 1}) + "\n" for i, text in enumerate(texts)))
        found = nearkin.passages(source, min_words=3, out=out, cut=True)
        definition = Definition(texts, 3)
        kept = {row["id"]: row for row in map(json.loads, (out / "cut" / source.name).read_text().splitlines())}
        cuts = defaultdict(list)
        for row in pq.read_table(out / "cut.parquet").to_pylist():
            cuts[row["id"]].append(row)
        for d, text in enumerate(texts):
            _, covered = definition.inside(d, is_copied)
            left = [word for i, (word, _, _) in enumerate(definition.words[d]) if i not in covered]
            is_emptied = bool(covered) and not left
            assert found.documents["is_emptied"][d].as_py() == is_emptied == (d not in kept)
            put_back = b"" if is_emptied else kept[d]["text"].encode()
            assert [word for word, _, _ in words_of(put_back.decode())] == left
            assert is_emptied or kept[d]["n"] == 1
            for row in cuts[d]:
                put_back = put_back[: row["start_byte"]] + row["text"].encode() + put_back[row["start_byte"] :]
                assert text[row["start"] : row["end"]] == row["text"]
            assert put_back == text.encode()
            assert not covered or all(is_kept_earlier(definition, d, i) for i in covered)


def is_kept_earlier(definition, d, i):
    """Whether a copy of a word that was cut stays in an earlier document, by the windows from copy to copy."""
    for at in range(max(0, i - definition.length + 1), min(i, len(definition.words[d]) - definition.length) + 1):
        e, start = definition.places[definition.window(d, at)][0]
        if e < d:
            place = start + i - at
            is_cut = place in definition.inside(e, is_copied)[1]
            if not is_cut or is_kept_earlier(definition, e, place):
                return True
    return False


def test_scores_of_items_are_those_of_the_definition(tmp_path):
    for seed in range(examples(40)):
        length, texts, chance = 3, corpus(seed) + corpus(-seed - 1), random.Random(seed)
        fields = [(chance.choice(texts), chance.choice([None, "", chance.choice(texts)])) for _ in range(3)]
        items = [
            {"id": f"i{i}", "q": f"{i} {q}", **({"a": a} if a is not None or i == 0 else {})}
            for i, (q, a) in enumerate(fields)
        ]
        sources = {"train": [{"id": f"t{i}", "text": text} for i, text in enumerate(texts)], "eval": items}
        for name, rows in sources.items():
            (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        out = tmp_path / f"out-{seed}"
        nearkin.passages(
            tmp_path / "train.jsonl", against=tmp_path / "eval.jsonl", against_text="q,a", min_words=length, out=out
        )
        parts = {
            item["id"]: [[word for word, _, _ in words_of(item.get(name) or "")] for name in "qa"] for item in items
        }
        frequency = Counter(word for q, a in parts.values() for word in {*q, *a})
        expected = {}
        for row in sources["train"]:
            words = [word for word, _, _ in words_of(row["text"])]
            windows = {tuple(words[at : at + length]) for at in range(len(words) - length + 1)}
            for name, (q, a) in parts.items():
                covered = set()
                for at in range(len(q + a) - length + 1):
                    if tuple((q + a)[at : at + length]) in windows:
                        covered.update(range(at, at + length))
                weights = [math.log(1 + len(items) / frequency[word]) for word in q + a]
                sides = [range(len(q + a)), range(len(q)), range(len(q), len(q + a))]
                if covered:
                    expected[row["id"], name] = [
                        sum(weights[i] for i in side if i in covered) / (sum(weights[i] for i in side) or 1)
                        for side in sides
                    ]
        found = pq.read_table(out / "contamination.parquet").to_pylist()
        assert [(row["id"], row["item"]) for row in found] == sorted(
            expected, key=lambda pair: (int(pair[0][1:]), pair[1])
        )
        for row in found:
            scores = [row[name] for name in ("score", "score_q", "score_a")]
            assert scores == pytest.approx(expected[row["id"], row["item"]])
            inside = [word for word, _, _ in words_of(texts[row["row"]][row["start"] : row["end"]])]
            assert len(inside) >= length
