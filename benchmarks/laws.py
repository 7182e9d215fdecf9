"""Versions of laws, labelled by law: the history of https://github.com/bundestag/gesetze as a table.

    git clone https://github.com/bundestag/gesetze
    python benchmarks/laws.py gesetze laws.parquet
    python -m labs.collections laws.parquet --label law --documents 1504 --out laws

Every version is a text that the law had, without the header that names the law. Of each law there are two to five
versions that differ in their words. The texts of German laws have no copyright.
"""

from __future__ import annotations

import random
import re
import subprocess
import sys
from collections import defaultdict

import pyarrow as pa
import pyarrow.parquet as pq

N_LAWS, N_DOCUMENTS, MAX_VERSIONS = 1_600, 1_500, 5
_HEADER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)


def blobs_of_laws(repository: str) -> dict[str, dict[str, str]]:
    """Return the blobs that each law had, with the dates of their commits, the newest first."""
    log = ["log", "--raw", "--no-abbrev", "--no-renames", "--format=C %ad", "--date=short", "-m", "--first-parent"]
    blobs, date = defaultdict[str, dict[str, str]](dict), ""
    for line in subprocess.check_output(["git", "-C", repository, *log], text=True).splitlines():
        if line.startswith("C "):
            date = line[2:]
        elif line.startswith(":"):
            fields, path = line.split("\t", 1)
            blob = fields.split()[3]
            if path.endswith("index.md") and set(blob) != {"0"}:
                blobs[path.split("/")[-2]].setdefault(blob, date)
    return dict(blobs)


def texts_of(repository: str, blobs: list[str]) -> list[str]:
    """Return the texts of blobs, without the header."""
    command = ["git", "-C", repository, "cat-file", "--batch"]
    out = subprocess.run(command, input="\n".join([*blobs, ""]).encode(), stdout=subprocess.PIPE, check=True).stdout
    texts, place = list[str](), 0
    for _ in blobs:
        end = out.index(b"\n", place)
        length = int(out[place:end].split()[2])
        texts.append(_HEADER.sub("", out[end + 1 : end + 1 + length].decode("utf-8", "replace")))
        place = end + 2 + length
    return texts


def versions(repository: str) -> list[dict[str, str]]:
    """Draw laws, and versions of each that differ in their words."""
    chance, blobs = random.Random(18), blobs_of_laws(repository)
    laws = [law for law, own in blobs.items() if len(own) >= 3]
    chance.shuffle(laws)
    asked = [(law, blob, date) for law in laws[:N_LAWS] for blob, date in blobs[law].items()]
    of_law = defaultdict[str, dict[str, dict[str, str]]](dict)
    for (law, blob, date), text in zip(asked, texts_of(repository, [blob for _, blob, _ in asked]), strict=True):
        words = " ".join(re.findall(r"\w+", text.lower()))
        if len(words) > 200:
            of_law[law].setdefault(words, {"id": f"{law}@{blob[:8]}", "law": law, "date": date, "text": text})
    drawn = list[dict[str, str]]()
    for law in laws[:N_LAWS]:
        own = list(of_law[law].values())
        if len(own) >= 2 and len(drawn) < N_DOCUMENTS:
            drawn += chance.sample(own, MAX_VERSIONS) if len(own) > MAX_VERSIONS else own
    return drawn


if __name__ == "__main__":
    found = versions(sys.argv[1])
    pq.write_table(pa.Table.from_pylist(found), sys.argv[2])
    print(f"{len(found):,} versions of {len({one['law'] for one in found}):,} laws in {sys.argv[2]}")
