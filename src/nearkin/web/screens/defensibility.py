"""Defensibility: the data on which answers depend, on one page to print, with a digest."""

from __future__ import annotations

import hashlib
import json
import platform
from collections import Counter
from importlib.metadata import distributions

import msgspec
from sqlalchemy import Connection

from nearkin._version import __version__
from nearkin.collection.groups.current import stored_groups
from nearkin.collection.info import info
from nearkin.collection.integrity import fsck
from nearkin.collection.stored.group_state import stored_tolerances
from nearkin.collection.tolerance import Tolerance
from nearkin.reports.facts.changed_values import kinds_in_words
from nearkin.web.current import AUDITED
from nearkin.web.screen import ChangeForm, NoQuery, Screen
from nearkin.web.service import GoTo, ReviewService, ScreenAnswer
from nearkin.web.sign_in import Visitor
from nearkin.workflows.resources import Resources

_VERIFYING = (
    """python3 -c "import hashlib, json; data = json.load(open('defensibility.json', 'rb'))['data']; """
    """told = json.dumps(data, sort_keys=True, separators=(',', ':'), ensure_ascii=False); """
    """print(hashlib.sha256(told.encode('utf-8', 'backslashreplace')).hexdigest())\""""
)
"""Command that prints the SHA-256 of downloaded data, as `digest_of` computes it."""
_USED = ("numpy", "pyarrow", "sqlalchemy", "numba", "rapidfuzz", "starlette", "jinja2", "msgspec", "uvicorn")


class DefensibilityQuery(msgspec.Struct, kw_only=True):
    """Whether to compare every stored text with its digest, which takes a while."""

    is_checked: bool = msgspec.field(default=False, name="integrity")


def defensibility(service: ReviewService, asked: DefensibilityQuery) -> ScreenAnswer:
    """Gather parameters, versions, counts, groups, the digest of the log, audits and, if asked for, the integrity."""
    listed, made = service.collection.log(), service.audits.made
    log = [one.to_dict() for one in listed]
    data = {
        "collection": service.name,
        "counts": {name: value for name, value in info(service.collection.opened).to_dict().items() if name != "place"},
        "groups": _groups(service),
        "versions": {"nearkin": __version__, "python": platform.python_version(), **_libraries()},
        "log": {
            "n_activities": len(log),
            "by_kind": dict(sorted(Counter(str(one["kind"]) for one in log).items())),
            "sha256": digest_of(log),
        },
        "integrity": _integrity(service) if asked.is_checked else None,
        "audits": None if made is None else made.to_dict() | {"is_outdated": service.audits.are_outdated(made)},
    }
    sha256 = digest_of(data)
    values = {
        "data": data,
        "sha256": sha256,
        "verifying": _VERIFYING,
        "kinds": kinds_in_words(listed),
        "audits": () if made is None else made.audits,
        "other_audits": _other_audits(service),
    }
    return ScreenAnswer("defensibility.html.j2", values, {"data": data, "sha256": sha256})


def _integrity(service: ReviewService) -> dict[str, object]:
    """Check the integrity and rebuild nothing, because opening a page must change nothing."""
    return fsck(service.collection.opened, threads=Resources().n_threads, rebuilds=False).to_dict()


def digest_of(data: object) -> str:
    """Return the SHA-256 of data as JSON: sorted keys, no white space between elements, UTF-8.

    Examples
    --------
    >>> digest_of({"b": 1, "a": "é"}) == hashlib.sha256('{"a":"é","b":1}'.encode()).hexdigest()
    True
    """
    told = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(told.encode("utf-8", "backslashreplace")).hexdigest()


def _groups(service: ReviewService) -> list[dict[str, object]]:
    """Return the figures of the stored groups at each tolerance."""
    names = ("n_groups", "n_documents", "n_not_grouped", "n_decisions")
    with service.collection.opened.store.reading() as connection:
        stored = [stored_groups(connection, one, limit=1) for one in _tolerances(connection)]
    return [{"tolerance": one.tolerance.in_words(), **{name: getattr(one, name) for name in names}} for one in stored]


def _tolerances(connection: Connection) -> list[Tolerance]:
    stored = map(Tolerance.of_stored, stored_tolerances(connection))
    return [one for one in stored if one is not None]


def _other_audits(service: ReviewService) -> list[str]:
    """Return the commands that audit the tolerances of stored groups that the audits of this page do not cover."""
    with service.collection.opened.store.reading() as connection:
        stored = _tolerances(connection)
    return [f"nearkin audit COLLECTION {one.in_options()}" for one in stored if one not in AUDITED]


def _libraries() -> dict[str, str]:
    """Return the versions of the libraries that results depend on."""
    found = {str(one.metadata["Name"]).lower(): one.version for one in distributions()}
    return {name: found[name] for name in _USED if name in found}


def audit(service: ReviewService, visitor: Visitor, _: NoQuery) -> GoTo:
    """Audit the searches by letters and by wording, in the background if that takes long."""
    job = service.jobs.run("audit", service.audits.measure, by=visitor.name)
    return GoTo("/defensibility" if job.is_over else "/jobs")


SCREENS = (Screen("/defensibility", DefensibilityQuery, defensibility),)
FORMS = (ChangeForm("/defensibility/audit", NoQuery, audit, is_change=False),)
