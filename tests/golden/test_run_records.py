"""The records that make a run resumable and say how it was made have the fields and values that they had."""

from __future__ import annotations

import json

import pytest

from golden.run_records import COMMANDS, RECORDS, copy_inputs, made

EXPECTED = json.loads(RECORDS.read_text("utf-8"))


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    folder = tmp_path_factory.mktemp("records")
    copy_inputs(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return json.loads(json.dumps(made()))


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("record", ["identity", "manifest"])
def test_records_are_those_of_before(records, name, record):
    assert records[name][record] == EXPECTED[name][record]
