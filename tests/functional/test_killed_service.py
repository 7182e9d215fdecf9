"""A service that is killed while it answers: every tag and decision that it acknowledged is stored."""

from __future__ import annotations

import re
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import httpx
import pytest

from commands import quick_command
from nearkin.collection.collection import Collection
from nearkin.collection.decisions.log import PRINCIPAL
from nearkin.results import DocumentFilter
from prefork import KILL

_N_CLIENTS, _N_DOCUMENTS = 4, 40


@dataclass
class Clients:
    """Clients that send changes until the service does not answer; and the changes that it acknowledged."""

    address: str
    token: str
    link: str
    numbers: count[int]
    tags: dict[str, str] = field(default_factory=dict)
    principals: list[str] = field(default_factory=list)
    changed: threading.Condition = field(default_factory=threading.Condition)

    def run(self, client: int) -> None:
        """Set tags by the API, or decide by a form of a session."""
        try:
            with httpx.Client(base_url=self.address, timeout=20) as session:
                self._decide(session) if client == 0 else self._tag(session)
        except httpx.TransportError:
            return  # the service was killed

    def _tag(self, session: httpx.Client) -> None:
        while True:
            name, doc_id = f"t{next(self.numbers)}", f"d{next(self.numbers) % _N_DOCUMENTS}"
            body = {"field": name, "tag_value": "yes", "ids": [doc_id]}
            answer = session.post("/api/v1/tags", json=body, headers={"authorization": f"Bearer {self.token}"})
            if answer.status_code != 503:  # another client is writing: nothing is acknowledged
                assert answer.json()["n_changed"] == 1, answer.text
                self._note(lambda name=name, doc_id=doc_id: self.tags.update({name: doc_id}))  # type: ignore[misc]

    def _decide(self, session: httpx.Client) -> None:
        page = session.get(self.link, follow_redirects=True)
        assert page.status_code == 200, page.text
        csrf = re.findall(r'name="csrf" value="([^"]*)"', session.get("/groups").text)[0]
        while True:
            doc_id = f"d{next(self.numbers) % _N_DOCUMENTS}"
            fields = {"csrf": csrf, "principal": doc_id, "back": "/groups"}
            answer = session.post("/group/principal", data=fields, headers={"origin": self.address})
            if answer.status_code == 303:
                self._note(lambda doc_id=doc_id: self.principals.append(doc_id))  # type: ignore[misc]

    def _note(self, what: object) -> None:
        with self.changed:
            what()  # type: ignore[operator]
            self.changed.notify_all()

    @property
    def n_acknowledged(self) -> int:
        return len(self.tags) + len(self.principals)


def killed(place: Path, token: Path, numbers: count[int], n_before: int) -> Clients:
    """Start a service, send changes, and kill it as soon as it acknowledged so many."""
    served = quick_command("serve", place, "--by", "ada", "--token-file", token)
    with subprocess.Popen(served, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        link = next(found[0] for line in process.stdout if (found := re.search(r"http://\S+link=\S+", line)))
        clients = Clients(link.partition("/sign-in")[0], token.read_text("ascii"), link, numbers)
        with ThreadPoolExecutor(_N_CLIENTS) as pool:
            running = [pool.submit(clients.run, client) for client in range(_N_CLIENTS)]
            try:
                with clients.changed:
                    assert clients.changed.wait_for(lambda: clients.n_acknowledged >= n_before, 60)
            finally:
                process.send_signal(KILL)
                process.wait()
            for one in running:
                one.result()
    return clients


@pytest.mark.parametrize("n_kills", [2, pytest.param(40, marks=pytest.mark.soak)])
def test_nothing_that_was_acknowledged_is_lost(tmp_path: Path, n_kills: int) -> None:
    place, token, numbers = tmp_path / "matter", tmp_path / "token", count()
    token.write_text("a" * 40, "ascii")
    token.chmod(0o600)
    lease = "The tenant shall keep the garden in good order and return every key to the owner on the last day of {}."
    with Collection.open(place, create=True) as collection:
        collection.add([(f"d{i}", lease.format(i)) for i in range(_N_DOCUMENTS)])
        collection.groups()
    n_tags = n_decisions = 0
    for kill in range(n_kills):
        clients = killed(place, token, numbers, 1 + 7 * kill % 20)
        with Collection.open(place) as collection:
            log = collection.log()
            logged = {change.other: change.subject for one in log for change in one.changes if one.kind == "tag"}
            assert clients.tags.items() <= logged.items()
            for name, doc_id in clients.tags.items():
                assert collection.documents(DocumentFilter(tag=f"{name}=yes")).table["doc_id"].to_pylist() == [doc_id]
            n_tags += len(clients.tags)
            decided = [one for one in log if one.kind == PRINCIPAL]
            n_decisions += len(clients.principals)
            assert len(decided) >= n_decisions
            assert collection.fsck().is_whole
    assert n_tags > n_kills
