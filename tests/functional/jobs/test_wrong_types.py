"""Values of a wrong type are refused by an error of Nearkin, whatever parameter they are given for."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nearkin
from nearkin.errors import ParameterError
from nearkin.signatures import Simhash, SimilarityIndex

TEXTS = ["to be or not to be that is the question", "To be, or not to be: that is the question!"]
ARRAY = np.array(["all", "first"])
WRONG = (5, [64], ARRAY, np.ma.masked, np.void(b"ab"), np.array(b"ab"), "\ud800")
OF_READING = ("text_root", "extraction_limits", "on_error", "encoding", "out")


def refused(call: Callable[..., object], *documents: object, **given: Any) -> None:
    with pytest.raises(ParameterError) as caught:
        call(*documents, **given)
    assert any(name in str(caught.value) for name in given) or not given


@pytest.mark.parametrize("name", [*OF_READING, "preset", "group", "drop", "ignore"])
@pytest.mark.parametrize("value", [one for one in WRONG if not isinstance(one, str)], ids=repr)
def test_options_of_dedup(name: str, value: object) -> None:
    refused(nearkin.dedup, TEXTS, **{name: value})


def test_passages() -> None:
    refused(nearkin.dedup, TEXTS, ignore=0)
    refused(nearkin.dedup, TEXTS, ignore=False)
    refused(nearkin.dedup, TEXTS, ignore="")
    refused(nearkin.dedup, TEXTS, ignore="\ud800")
    assert len(nearkin.dedup(TEXTS, ignore=[]).kept) == 1


@pytest.mark.parametrize("value", [np.ma.masked, np.array(b"ab"), np.array({}, dtype=object)], ids=repr)
def test_documents(value: object) -> None:
    for job in (nearkin.dedup, nearkin.sign, nearkin.plan):
        refused(job, value)
    refused(nearkin.dedup, TEXTS, against=value)
    refused(nearkin.pairs, TEXTS, value)


@pytest.mark.parametrize("value", WRONG, ids=repr)
def test_options_of_other_jobs(value: object, tmp_path: Path) -> None:
    refused(nearkin.sign, TEXTS, method=value)
    refused(nearkin.sign, TEXTS, extraction_limits=value)
    refused(nearkin.pairs, TEXTS, TEXTS, method=value)
    refused(nearkin.pairs, TEXTS, TEXTS, translate=value)
    refused(nearkin.plan, TEXTS, on_error=value)
    refused(nearkin.compare, *TEXTS, shingle=value)
    refused(nearkin.compare, *TEXTS, ignore=value)
    refused(nearkin.families, tmp_path, file_format=value)
    refused(nearkin.threads, tmp_path, file_format=value)
    signed = nearkin.sign(TEXTS)
    for name in ("shingle", "normalise", "equal"):
        refused(nearkin.neighbours, signed, **{name: value})


@pytest.mark.parametrize("value", WRONG, ids=repr)
def test_parameters_of_a_collection(value: object, tmp_path: Path) -> None:
    for name in ("alphabet", "ignored", "cache"):
        refused(nearkin.Collection.open, tmp_path / "new", create=True, **{name: value})
    with nearkin.Collection.open(tmp_path / "matter", create=True) as matter:
        matter.add([("a", TEXTS[0]), ("b", TEXTS[1])])
        refused(matter.check, TEXTS[0], options=value)
        refused(matter.check, TEXTS[0], store=value)
        refused(matter.check_many, [("c", TEXTS[0])], options=value)
        refused(matter.check_many, [("c", TEXTS[0])], store=value)
        refused(matter.compare, "a", "b", ignore=value)
        refused(matter.documents, sort=value)
        refused(matter.documents, which=value)
        refused(matter.exceptions, reason=value)
        refused(matter.exceptions, which=value)
        refused(matter.groups, measure=value)
        refused(matter.similar, "a", measure=value)
        if value is not WRONG[0]:
            refused(matter.fsck, threads=value)
        refused(matter.fsck, threads=0)


@pytest.mark.parametrize("value", WRONG, ids=repr)
def test_parameters_of_signatures(value: object) -> None:
    refused(Simhash, hash=value)
    refused(SimilarityIndex, stream=value)
    refused(SimilarityIndex, variation=value)
    refused(nearkin.Words(2).sets, value)
    refused(nearkin.Normalisation().apply, value)
    refused(nearkin.Normalisation.parse, value)
