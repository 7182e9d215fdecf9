"""A service under load: many clients open pages, ask, search, check and store at once; and checks, one by one.

The collection is made of made-up prose with versions of each text, once. The service is a process of its own::

    python benchmarks/service.py --data FOLDER --documents 20000 --clients 50 --seconds 60 --long 30
    python benchmarks/service.py --data FOLDER --documents 10000 --checks 100
"""

from __future__ import annotations

import argparse
import asyncio
import random
import re
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

import httpx
import numpy as np

from nearkin.collection.collection import Collection

TOKEN = "t" * 40
_WORDS, _LENGTH, _EACH = 20_000, 120, 4
KINDS = "page", "similar", "search", "check", "check and store"
AS_TEXT, RUN = {"content-type": "text/plain"}, f"{time.time():.0f}"


def made_up(n_documents: int) -> list[tuple[str, str]]:
    """Texts of words by Zipf's law; each fourth one is new, and those after it differ in a few words."""
    chance = np.random.default_rng(7)
    words = [f"w{i:x}" for i in range(_WORDS)]
    found = list[tuple[str, str]]()
    for i in range(n_documents):
        if i % _EACH == 0:
            base = np.minimum(chance.zipf(1.2, _LENGTH), _WORDS) - 1
        numbers = base.copy()
        numbers[chance.integers(0, _LENGTH, i % _EACH)] = chance.integers(0, _WORDS, i % _EACH)
        found.append((f"d{i}", " ".join(words[j] for j in numbers)))
    return found


def collection_of(data: Path, n_documents: int) -> Path:
    place = data / f"service-{n_documents}"
    if not place.exists():
        with Collection.open(place, create=True) as collection:
            documents = made_up(n_documents)
            for first in range(0, n_documents, 20_000):
                collection.add(documents[first : first + 20_000], wave="made up", threads=2)
            collection.similar("d0")
            collection.check("some words that are asked for, so that the keys of all texts are made")
    return place


def told(name: str, times_s: list[float], n_failed: int = 0) -> None:
    p50, p95, p99 = np.percentile(np.array(times_s) * 1000, (50, 95, 99))
    print(
        f"{name:28} {len(times_s):7,} asked  p50 {p50:7.1f} ms  p95 {p95:7.1f} ms  p99 {p99:7.1f} ms  {n_failed} failed"
    )


def long_text(mib: float) -> str:
    """One document of made-up words, as long as a production allows."""
    chance, words = np.random.default_rng(11), [f"w{i:x}" for i in range(_WORDS)]
    numbers = np.minimum(chance.zipf(1.2, int(mib * 2**18)), _WORDS) - 1
    return "\n".join(" ".join(words[j] for j in line) for line in np.array_split(numbers, len(numbers) // 12))


async def load(url: str, n_documents: int, n_clients: int, seconds: float, mib: float) -> None:
    """Each client asks, waits as a person would, and asks again; one document of ``mib`` is stored meanwhile."""
    times, failed = defaultdict[str, list[float]](list), defaultdict[str, list[str]](list)
    headers, texts = {"authorization": f"Bearer {TOKEN}"}, dict(made_up(n_documents))
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    # one for all: to make a client takes tens of milliseconds, in which this process measures nothing
    client = httpx.AsyncClient(base_url=url, headers=headers, timeout=150, limits=limits)
    end = 0.0

    async def send(kind: str, method: str, path: str, **parts: object) -> None:
        started = time.perf_counter()
        try:
            answer = await client.request(method, path, **parts)
            if answer.status_code >= 300:
                failed[kind].append(f"{answer.status_code} {answer.text[:200]}")
        except httpx.HTTPError as error:
            failed[kind].append(repr(error))
        times[kind].append(time.perf_counter() - started)

    async def one_client(number: int) -> None:
        chance, n_stored = random.Random(number), 0
        await asyncio.sleep(chance.uniform(0, THINKING_S))  # people do not begin at the same moment
        while time.perf_counter() < end:
            doc_id = f"d{chance.randrange(n_documents)}"
            kind, body = chance.choice(KINDS), {"content": f"{texts[doc_id]} and {chance.random()}".encode()}
            if kind == "page":
                await send(kind, "GET", f"/document?id={doc_id}")
            elif kind == "similar":
                await send(kind, "GET", f"/api/v1/documents/{doc_id}/similar")
            elif kind == "search":
                words = " ".join(chance.sample(texts[doc_id].split(), 3))
                await send(kind, "GET", f"/search?q={words}")
            elif kind == "check":
                await send(kind, "POST", "/api/v1/check", headers=AS_TEXT, **body)
            else:
                n_stored += 1
                stored = f"/api/v1/check?store=true&id=s{RUN}-{number}-{n_stored}"
                await send(kind, "POST", stored, headers=AS_TEXT, **body)
            await asyncio.sleep(chance.expovariate(1 / THINKING_S))

    async def long_document() -> None:
        await asyncio.sleep(seconds / 6)
        body = long_text(mib).encode()
        await send("long document", "PUT", f"/api/v1/documents/long{RUN}", headers=AS_TEXT, content=body)

    async with client:
        for path in ("/api/v1/documents/d0/similar", "/document?id=d0", "/search?q=w1"):  # these load index and kernels
            await client.get(path)
        await client.post("/api/v1/check", content=b"some words that are asked for", headers=AS_TEXT)
        end = time.perf_counter() + seconds
        await asyncio.gather(*map(one_client, range(n_clients)), *([long_document()] if mib else []))
    for kind, of_kind in sorted(times.items()):
        told(f"{kind}, {n_clients} clients", of_kind, len(failed[kind]))
        for one in failed[kind][:3]:
            print(f"  {one}")
    print(f"{sum(map(len, times.values())) / seconds:.1f} requests per second")


def checks(url: str, place: Path, n_documents: int, n: int, data: Path) -> None:
    """Checks by the service, by the command with --server, and by the command in the collection."""
    chance, texts = random.Random(3), dict(made_up(n_documents))
    asked = [texts[f"d{chance.randrange(n_documents)}"] + " and more" for _ in range(n)]
    headers = {"authorization": f"Bearer {TOKEN}", "content-type": "text/plain"}
    times, n_failed = list[float](), 0
    with httpx.Client(base_url=url, headers=headers, timeout=60) as client:
        for text in asked:
            started = time.perf_counter()
            n_failed += client.post("/api/v1/check", content=text.encode()).json()["verdict"] == "new"
            times.append(time.perf_counter() - started)
    told("POST /check", times, n_failed)
    file = data / "asked.txt"
    by_server = ["--server", url, "--token-file", str(data / "token")]
    for name, where in (("nearkin check --server", by_server), ("nearkin check COLLECTION", None)):
        times = []
        for text in asked[: max(5, n // 10)]:
            file.write_text(text, "utf-8")
            given = [str(place), str(file)] if where is None else [str(file), *where]
            started = time.perf_counter()
            done = subprocess.run([sys.executable, "-m", "nearkin", "check", *given], capture_output=True, check=False)
            times.append(time.perf_counter() - started)
            n_failed += done.returncode not in (10, 11, 12)
        told(name, times, n_failed)


def main() -> None:
    global THINKING_S
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--thinking", type=float, default=2.0, help="mean pause of a client, in seconds")
    parser.add_argument("--long", type=float, default=0.0, help="MiB of a document that is stored meanwhile")
    parser.add_argument("--checks", type=int, default=0)
    given = parser.parse_args()
    THINKING_S = given.thinking
    given.data.mkdir(parents=True, exist_ok=True)
    place, token = collection_of(given.data, given.documents), given.data / "token"
    token.write_text(TOKEN, "utf-8")
    token.chmod(0o600)
    command = [sys.executable, "-m", "nearkin", "serve", str(place), "--token-file", str(token)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        line = process.stdout.readline() if process.stdout is not None else ""
        found = re.search(r"http://[^/]+", line)
        if found is None:
            raise SystemExit(f"nearkin serve did not start: {line}")
        try:
            if given.checks:
                checks(found[0], place, given.documents, given.checks, given.data)
            else:
                asyncio.run(load(found[0], given.documents, given.clients, given.seconds, given.long))
        finally:
            process.terminate()


if __name__ == "__main__":
    main()
