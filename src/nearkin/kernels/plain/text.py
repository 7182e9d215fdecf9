"""The plain twins of the loops of `nearkin.kernels.text`."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from nearkin.kernels.characters import ALONE, INERT, NEEDS_LIBRARY, REPLACED, SPACE, WORD
from nearkin.kernels.plain.hashing import mix
from nearkin.kernels.text import LATIN, MAX_COUNT, N_LATIN


def check_many(data, offsets, invalid_at, n_characters):
    for i, (start, end) in enumerate(pairwise(offsets)):
        text = data[start:end].tobytes()
        try:
            n_characters[i], invalid_at[i] = len(text.decode()), -1
        except UnicodeDecodeError as error:
            n_characters[i], invalid_at[i] = len(text[: error.start].decode()), error.start


def visible_many(data, offsets, n_visible):
    for i, (start, end) in enumerate(pairwise(offsets)):
        n_visible[i] = len(data[start:end].tobytes().decode().replace(" ", ""))


def fold_many(data, offsets, tables, to_lower, collapse, folded, folded_offsets, is_left):
    for i, (start, end) in enumerate(pairwise(offsets)):
        text = _fold_one(data[start:end].tobytes().decode(), tables, to_lower, collapse)
        is_left[i] = text is None
        own = np.frombuffer((text or "").encode(), np.uint8)
        folded_offsets[i + 1] = folded_offsets[i] + len(own)
        folded[folded_offsets[i] : folded_offsets[i + 1]] = own


def _fold_one(text, tables, to_lower, collapse):
    classes, form, *replacements = tables
    last_class = 0
    folded = []
    for character in text:
        kind = int(form[ord(character)]) if ord(character) >= 128 else INERT
        if kind == NEEDS_LIBRARY or (0 < kind < REPLACED and kind < last_class):
            return None
        last_class = kind if kind < REPLACED else 0
        if collapse and classes[ord(character)] == SPACE:
            folded.append(" ")
        elif ord(character) < 128:
            folded.append(character.lower() if to_lower else character)
        else:
            folded.append(_becomes(character, *replacements) if kind == REPLACED else character)
    joined = "".join(folded)
    return " ".join(word for word in joined.split(" ") if word) if collapse else joined


def _becomes(character, replaced, offsets, data):
    place = np.searchsorted(replaced, np.uint32(ord(character)))
    return data[offsets[place] : offsets[place + 1]].tobytes().decode()


def count_many(data, offsets, classes, counts, n_counted, n_others):
    has_buckets = counts.shape[1] > N_LATIN
    for i, (start, end) in enumerate(pairwise(offsets.tolist())):
        own = [0] * counts.shape[1]
        for character in data[start:end].tobytes().decode():
            if character in LATIN:
                own[LATIN.index(character)] += 1
            elif ord(character) >= 128 and classes[ord(character)] in (WORD, ALONE):
                if has_buckets:
                    own[N_LATIN + (mix(ord(character)) >> 58)] += 1
                else:
                    n_others[i] += 1
        n_counted[i] = sum(own)
        counts[i] = np.minimum(own, MAX_COUNT)
