"""The bilingual example is the same everywhere, and is what its page says."""

from __future__ import annotations

import hashlib
import json
import re
import runpy
from pathlib import Path

import pytest

from docs.pages import ROOT
from generator.bulletins import FORMS, read_prose
from generator.similarity import words

SHA256 = {
    "bulletins.de.jsonl": "ec086e18250873ef16bb5752ed70460dad5863d0be28406364a3f2740db7d1d9",
    "bulletins.en.jsonl": "fd6b3121fa5538a9d5818d035f22ea684ae5274ef6de8992674bdbedc955c758",
    "sentences.tsv": "9f06424022c4e47573cc000650232bbf4c06b1148d1ae7716a3db62e6fc9efcf",
}


@pytest.fixture(scope="module")
def translations(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("translations")
    runpy.run_path(str(ROOT / "examples/translations.py"))["write_translations"](folder)
    return folder


def _bulletins(folder: Path, language: str) -> dict[str, str]:
    lines = (folder / f"bulletins.{language}.jsonl").read_text(encoding="utf-8").splitlines()
    return {line["id"]: line["text"] for line in map(json.loads, lines)}


def _sentence_pairs(folder: Path) -> list[tuple[str, ...]]:
    lines = (folder / "sentences.tsv").read_text(encoding="utf-8").splitlines()
    return [tuple(line.split("\t")) for line in lines]


def _sentences(texts: dict[str, str]) -> set[str]:
    return {part for text in texts.values() for part in re.split(r"(?<=[a-zß]\.)\s+|\n\n", text)}


def test_bytes_are_pinned(translations: Path) -> None:
    assert {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in translations.iterdir()} == SHA256


def test_every_slot_is_filled_and_every_pair_is_whole(translations: Path) -> None:
    pairs = _sentence_pairs(translations)
    assert pairs[0] == ("de", "en")
    assert len(pairs) == len(set(pairs)) == 601
    assert all(len(pair) == 2 and all(pair) for pair in pairs)
    assert not any(set("{}") & set(path.read_text(encoding="utf-8")[1:]) for path in translations.glob("*.tsv"))
    texts = [text for language in ("de", "en") for text in _bulletins(translations, language).values()]
    assert not any(set("{}|=") & set(text) for text in texts)


def test_most_bulletins_are_on_both_sides(translations: Path) -> None:
    german, english = _bulletins(translations, "de"), _bulletins(translations, "en")
    assert (len(german), len(english), len(german.keys() & english.keys())) == (55, 55, 50)
    paragraphs = {
        name: (german[name].count("\n\n"), english[name].count("\n\n")) for name in german.keys() & english.keys()
    }
    assert sorted(paragraphs.values()).count((4, 3)) == 4
    assert sorted(paragraphs.values()).count((3, 2)) == 3


def test_no_sentence_of_a_bulletin_is_one_to_learn_from(translations: Path) -> None:
    pairs = _sentence_pairs(translations)
    for side, language in enumerate(("de", "en")):
        found = _sentences(_bulletins(translations, language))
        assert len(found) > 400
        assert not found & {pair[side] for pair in pairs}


def test_some_compounds_are_in_the_bulletins_only(translations: Path) -> None:
    learned = {word for pair in _sentence_pairs(translations) for word in words(pair[0])}
    used = {word for text in _bulletins(translations, "de").values() for word in words(text)}
    compounds = {"hafenmauer": "mauer", "blumenmarkt": "markt", "kirchendach": "dach", "schiffsglocke": "glocke"}
    assert compounds.keys() <= used - learned
    assert set(compounds.values()) <= learned


def test_forms_are_those_that_the_sentences_ask_for() -> None:
    prose = read_prose()
    asked = {
        (side, name.rstrip("0123456789"), form)
        for pairs in prose.blocks.values()
        for pair in pairs
        for side, sentence in enumerate(pair)
        for name, form in re.findall(r"\{(\w+)(?::(\w+))?\}", sentence)
    }
    for side, name, form in asked:
        for value in prose.slots.get(name, []):
            forms = value[side]
            assert len(forms) == 1 or -len(forms) <= FORMS[side][form] < len(forms), (name, form)
            assert len(forms) > 1 or name in ("town", "street", "ship", "thing", "who", "group", "goods"), (name, form)
    declined = ("place", "thing", "who", "group", "goods")
    assert {len(value[0]) for name in declined for value in prose.slots[name]} == {3, 4}
    assert all(form for side, name, form in asked if side == 0 and name in declined)
