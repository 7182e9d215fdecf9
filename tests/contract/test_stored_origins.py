"""What is known of a file, stored alike by ``add``, ``check --store``, the service and the check-in of a browser."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest

from functional.conftest import nearkin_here
from generator import office_files as make
from made_up_prose import Prose
from nearkin.collection.collection import Collection
from review_client import OWN, Visit

PROSE = Prose(31)
PARTIAL = make.rtf([PROSE.text(30)])[:-1] + b"{\\object{\\*\\objdata 0105}}}"
MAIL = make.mail({"Subject": "Rent", "Message-ID": "<1@b.org>"}, PROSE.text(20), {"a.txt": PROSE.text(20).encode()})
FILES = {"table.rtf": PARTIAL, "1.eml": MAIL, "letter": make.docx([PROSE.text(20)]), "note.txt": b"A plain note."}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A file in part, a mail, an office file without a suffix, a text; added to the collection beside the folder."""
    made = tmp_path_factory.mktemp("origins") / "case"
    made.mkdir()
    for name, content in FILES.items():
        (made / name).write_bytes(content)
    assert nearkin_here("add", made.parent / "added", made, "-q").code == 0
    return made


def known_of(place: Path, doc_id: str):
    with Collection.open(place) as opened:
        found = opened.details(doc_id)
        return found.origin, [(one.exception, one.is_partial) for one in opened.exceptions(doc_id=doc_id).exceptions]


@pytest.mark.parametrize("name", FILES)
def test_check_stores_what_add_stores(folder, tmp_path, name):
    place = tmp_path / "checked"
    with Collection.open(place, create=True) as opened:
        opened.add([("x", "Some words.")])
    done = nearkin_here("check", place, folder / name, "--store", "--id", name, "-q")
    assert done.code in (0, 10, 11, 12, 13), done.err
    assert known_of(place, name) == known_of(folder.parent / "added", name)


def test_a_member_is_stored_with_its_parent(folder, tmp_path):
    place = tmp_path / "checked"
    with Collection.open(place, create=True) as opened:
        opened.add([("x", "Some words.")])
    nearkin_here("check", place, f"{folder / '1.eml'}!a.txt", "--store", "-q")
    with Collection.open(place) as opened:
        assert opened.details(f"{folder / '1.eml'}!a.txt").parent == str(folder / "1.eml")


@pytest.mark.parametrize("how", ["PUT", "POST", "browser"])
def test_the_service_stores_what_add_stores(folder, tmp_path, how):
    place = tmp_path / "served"
    with Collection.open(place, create=True) as opened:
        opened.add([("x", "Some words.")])
        visit = Visit(opened).sign_in()
        headers = {"authorization": f"Bearer {visit.entry.token}", "content-type": "application/octet-stream"}
        for name, content in FILES.items():
            if how == "PUT":
                path = f"/api/v1/documents/{quote(name)}"
                answer = visit.send("PUT", path, params={"name": name}, content=content, headers=headers)
            elif how == "POST":
                asked = {"name": name, "store": "true", "id": name}
                answer = visit.send("POST", "/api/v1/check", params=asked, content=content, headers=headers)
            else:
                files = {"file": (name, content)}
                sent = visit.send("POST", "/check-in/file", data={"csrf": visit.csrf}, files=files, headers=OWN)
                answer = visit.post("/check-in/store", key=sent.headers["location"].partition("key=")[2], id=name)
            assert answer.status_code in (200, 201, 303), answer.text
        visit.service.jobs.close()
    for name in FILES:
        ours, theirs = known_of(place, name), known_of(folder.parent / "added", name)
        assert ours == theirs, name
    assert known_of(place, "table.rtf")[1] == [("partial", True)]
