"""Files of labels for ``nearkin conflicts``: which column is meant, and the forms in which such files come."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from functional.conftest import Ended, nearkin_done, nearkin_here, write_jsonl
from nearkin.errors import SourceError
from nearkin.workflows.collection.id_files import read_ids
from nearkin.workflows.collection.labels import read_labels

LEASE = (
    "This lease is made between the owner and the tenant for the house at Mill Lane. The rent of {} crowns is due on "
    "the first day of each month, and the tenant keeps the house in good repair until the lease ends. The owner sees "
    "to the roof, the drains and the chimney. Neither side may end the lease in the first year."
)


@pytest.fixture(scope="module")
def matter(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("labels")
    records = [{"id": f"Bäume-{i}", "text": LEASE.format(900 + i)} for i in range(3)]
    nearkin_done("add", folder / "matter", write_jsonl(folder / "r.jsonl", records), "--quiet")
    return str(folder / "matter")


def run(*arguments: str | Path) -> Ended:
    ended = nearkin_here("conflicts", *arguments)
    ended.assert_clean()
    return ended


def told(*arguments: str | Path) -> dict[str, Any]:
    ended = run(*arguments, "--json")
    assert ended.code == 0, ended.err
    return json.loads(ended.out)


def labels(folder: Path, text: str, encoding: str = "utf-8", name: str = "labels.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return path


TWO = "control_number,responsive,privilege\nBäume-0,yes,none\nBäume-1,yes,attorney\nBäume-2,yes,none\n"


def test_of_several_label_columns_one_must_be_named(matter: str, tmp_path: Path) -> None:
    path = labels(tmp_path, TWO)
    ended = run(matter, path)
    assert ended.code == 3
    for name in ("'responsive' or 'privilege'", "--label", "control_number, responsive, privilege"):
        assert name in ended.err
    assert told(matter, path, "--label", "responsive")["n_found"] == 0
    found = told(matter, path, "--label", "privilege")
    assert (found["n_found"], found["label_column"], found["id_column"]) == (1, "privilege", "control_number")


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Bäume-0,a\nBäume-1,b\nBäume-2,c\n", "utf-8"),  # the first id is a document's
        ("unknown,a\nBäume-0,a\nBäume-1,b\n", "utf-8"),  # the first label comes again
        ("Bäume-0\ta\nBäume-1\tb\n", "utf-16"),
        ("Bäume-0;a\r\nBäume-1;b\r\n", "utf-8-sig"),
    ],
)
def test_two_columns_need_no_header(matter: str, tmp_path: Path, text: str, encoding: str) -> None:
    found = told(matter, labels(tmp_path, text, encoding))
    assert ("Bäume-1", "b", "Bäume-0", "a") in [
        (one["id_a"], one["label_a"], one["id_b"], one["label_b"]) for one in found["conflicts"]
    ]
    assert (found["id_column"], found["label_column"]) == ("column 1", "column 2")
    assert "labels from column 2, ids from column 1" in run(matter, labels(tmp_path, text, encoding)).out


ROWS = "id{0}label\nBäume-0{0}Ämter\nBäume-1{0}Höfe\n"


@pytest.mark.parametrize(("quote", "separator"), [("þ", "\x14"), ("^", "|"), ("", "\x14")])
def test_a_load_file_has_labels_and_ids(tmp_path: Path, quote: str, separator: str) -> None:
    rows = [["CONTROL NUMBER", "CUSTODIAN", "NOTE"], ["A-1", "Keller, A", "one, two; three"], ["A-2", "Rowe", ""]]
    text = "\r\n".join(separator.join(f"{quote}{value}{quote}" for value in row) for row in rows)
    path = labels(tmp_path, text + "\r\n", name="loaded.dat")
    assert read_labels(path, label="CUSTODIAN").pairs == (("A-1", "Keller, A"), ("A-2", "Rowe"))
    found = read_labels(path, doc_id="CUSTODIAN", label="NOTE")
    assert (found.pairs, found.n_without_label) == ((("Keller, A", "one, two; three"),), 1)
    assert read_ids(path) == ["A-1", "A-2"]
    labels(tmp_path, text + f"\r\n{quote}A-3{quote}\r\n", name="loaded.dat")
    with pytest.raises(SourceError, match=r"loaded\.dat:4: "):
        read_ids(path)
