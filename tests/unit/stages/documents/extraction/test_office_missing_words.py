"""Words that are missing in a text: in another order, with other spaces, few, and in long texts."""

from __future__ import annotations

from nearkin.stages.documents.extraction.office_missing_words import TextToFind


def test_words_may_have_another_order_and_other_spaces():
    text = TextToFind("a note: second FIRST third-and-last, with\u00a0spaces and oﬃce")
    assert text.n_missing(["First second", "third and last", "with spaces", "and office"]) == 0
    assert TextToFind("one two 1threefour five").n_missing(["three", "four five", "threefourfive six seven one"]) == 4


def test_few_missing_words_are_no_loss_unless_they_are_all():
    text = TextToFind("one two three")
    assert [text.n_missing([one]) for one in ("one two x y", "three x y z", "x", "7")] == [0, 3, 1, 0]


def test_paragraphs_with_other_spaces_are_found_however_many_there_are():
    paragraphs = [f"{'long' * 30}{at} {'word' * 30}{at}" for at in range(2200)]
    text = "\n".join(one.replace(" ", "") for one in paragraphs)
    assert TextToFind(text).n_missing(paragraphs) == 0
    assert TextToFind(text).n_missing([*paragraphs[::-1], paragraphs[7], *["never there"] * 50]) == 102
