"""The plain loops of `nearkin.kernels.letters`."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from nearkin.kernels.characters import ALONE, WORD
from nearkin.kernels.letters import LATIN, MAX_COUNT, N_LATIN
from nearkin.kernels.plain.mixing import mix


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
