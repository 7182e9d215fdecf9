"""Jobs in the background: done, joined, failed with a reason, ended with the service."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from nearkin.collection.collection import Collection
from nearkin.collection.tolerance import Tolerance
from nearkin.errors import CollectionBusyError
from nearkin.web import jobs as module
from nearkin.web.jobs import Job, JobRunner
from review_client import Visit, small_collection, words_of


def begun(runner: JobRunner, threshold: float = 0.5) -> Job:
    return runner.update_groups(Tolerance.of(threshold=threshold), by="ada")


def test_equal_waiting_jobs_are_one_and_an_end_of_the_service_ends_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The real update runs, and is held at its first step until the service ends."""
    is_running, may_go_on, start = threading.Event(), threading.Event(), module.JobProgress.start

    def held(self: module.JobProgress, *given: object) -> None:
        is_running.set()
        assert may_go_on.wait(30)
        start(self, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(module.JobProgress, "start", held)
    with small_collection(tmp_path) as collection:
        runner = JobRunner(collection.opened)
        first = begun(runner)
        assert is_running.wait(30)
        assert begun(runner, 0.7) == begun(runner, 0.7)
        assert [one.state for one in runner.listed()] == ["waiting", "running"]
        threading.Timer(0.2, may_go_on.set).start()
        runner.close()
        assert runner.find(first.number).state == "failed"  # type: ignore[union-attr]
    monkeypatch.undo()
    with Collection.open(tmp_path / "matter") as collection:
        visit = Visit(collection).sign_in()
        assert "not computed yet" in words_of(visit.get("/groups").text)
        done = visit.service.jobs.wait(begun(visit.service.jobs).number, 60)
        assert (done.state, done.message) == ("done", "1 group with 3 documents")  # type: ignore[union-attr]
        visit.service.jobs.close()


def test_why_a_job_failed_is_kept(tmp_path: Path) -> None:
    with small_collection(tmp_path) as collection:
        runner = JobRunner(collection.opened)
        with collection.opened.store.writing():
            number = begun(runner).number
            with pytest.raises(CollectionBusyError):
                runner.wait(number, 60)
        failed = runner.find(number)
        assert failed is not None
        assert (failed.state, failed.ended_at is not None) == ("failed", True)
        assert failed.message
        runner.close()


def test_a_bug_in_a_job_is_shown_where_the_service_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("one by nothing")

    monkeypatch.setattr(module, "group", broken)
    with small_collection(tmp_path) as collection:
        visit = Visit(collection).sign_in()
        answer = visit.post("/groups/update")
        assert answer.headers["location"] == "/jobs"
        assert "failed" in words_of(visit.get("/jobs").text)
        visit.service.jobs.close()
    assert "one by nothing" in capsys.readouterr().err
