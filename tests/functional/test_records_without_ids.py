"""Records without ids: they are named after their line, so other records must not replace them unnoticed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from functional.conftest import Ended, nearkin_here, nearkin_json
from nearkin import Collection
from nearkin.errors import SourceError

MONDAY = {"ticket_no": "A1", "body": "The printer on the third floor does not print."}
TUESDAY = {"ticket_no": "A2", "body": "The door of the cellar cannot be locked."}


def lines(*records: dict[str, str | None]) -> bytes:
    return "".join(json.dumps(one) + "\n" for one in records).encode()


def add(place: Path, *arguments: str | Path, stdin: bytes = b"") -> Ended:
    return nearkin_here("add", place, *arguments, stdin=stdin)


def counts(ended: Ended) -> dict[str, int]:
    assert ended.code == 0, ended.err
    return {name: value for name, value in json.loads(ended.out).items() if isinstance(value, int)}


@pytest.mark.parametrize("dry_run", [[], ["--dry-run"]])
def test_records_of_standard_input_need_ids(tmp_path: Path, dry_run: list[str]) -> None:
    place = tmp_path / "trap"
    for record in (MONDAY, TUESDAY):
        ended = add(place, "-", *dry_run, stdin=lines(record))
        assert ended.code == 3
        assert "the id is missing" in ended.err
    if not dry_run:
        assert counts(add(place, "-", "--id", "ticket_no", "--json", stdin=lines(MONDAY)))["n_new"] == 1
        assert counts(add(place, "-", "--id", "ticket_no", "--json", stdin=lines(TUESDAY)))["n_new"] == 1


def test_a_record_of_standard_input_whose_id_is_missing_is_not_stored(tmp_path: Path) -> None:
    place = tmp_path / "tickets"
    records = lines(MONDAY, {**TUESDAY, "ticket_no": None}, {**TUESDAY, "ticket_no": ""})
    added = counts(add(place, "-", "--id", "ticket_no", "--json", "--max-unreadable", "1", stdin=records))
    assert (added["n_new"], added["n_problems"]) == (1, 2)
    listed = nearkin_json("exceptions", place)["exceptions"]
    assert [one["doc_id"] for one in listed] == ["-:2", "-:3"]
    path = tmp_path / "tickets.jsonl"
    path.write_bytes(records)
    assert counts(add(place, path, "--id", "ticket_no", "--json"))["n_new"] == 2


def test_documents_without_ids_replace_none_of_their_wave(tmp_path: Path) -> None:
    with Collection.open(tmp_path / "notes", create=True) as opened:
        assert opened.add([MONDAY["body"]], wave="march").n_new == 1
        assert opened.add([MONDAY["body"]], wave="march").n_unchanged == 1
        with pytest.raises(SourceError, match="march:1: documents without ids are named after the wave"):
            opened.add([TUESDAY["body"]], wave="march")
        assert opened.text("march:1") == MONDAY["body"]
        assert opened.add([TUESDAY["body"]], wave="april").n_new == 1
        assert opened.add([("march:1", TUESDAY["body"])], wave="march").n_new_versions == 1


def test_a_text_that_is_checked_in_from_a_pipe_needs_an_id(tmp_path: Path) -> None:
    nearkin_here("add", tmp_path / "notes", "-", stdin=b"A note.").assert_done()
    ended = nearkin_here("check", tmp_path / "notes", "-", "--store", stdin=b"Another note.")
    assert (ended.code, "Standard input requires --id with --store." in ended.err) == (2, True)
