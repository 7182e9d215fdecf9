"""Source code is compared by its tokens, text from OCR by characters; the summary names their presets."""

from __future__ import annotations

import random

import pyarrow.parquet as pq
import pytest

import nearkin
from nearkin.stages.documents.ignoring import Ignored
from nearkin.workflows.dedup.regrouping import regroup

PLUS = """RATE = 0.19
LIMIT = 2_500

def price(net):
    gross = net * (1 + RATE)
    if gross > LIMIT:
        raise ValueError("over the limit")
    return round(gross, 2)
"""
LAID_OUT = PLUS.replace("    ", "\t").replace("1 + RATE", "1+RATE").replace("\n\n", "\n\n\n")
SOURCES = [PLUS, PLUS.replace("1 + RATE", "1 - RATE"), PLUS.replace("RATE", "rate"), LAID_OUT]


@pytest.mark.parametrize(("options", "n_equal"), [({"shingle": "words:5"}, 4), ({"preset": "code"}, 1)])
def test_an_operator_and_case_make_other_code_and_white_space_does_not(options, n_equal):
    pairs = nearkin.dedup(SOURCES, threshold=0.01, **options).pairs.to_pylist()
    equal = [(pair["row_a"], pair["row_b"]) for pair in pairs if pair["jaccard"] == 1.0]
    assert len(equal) == n_equal
    assert (0, 3) in equal


WORDS = """beekeeper library postponed copper roof number crowns council wandering dismantled wagon gravel without
telling office road printing school reported contract required mountain rescue eastern breakwater harbour
measured broken although nobody asked locksmith auctioned unfinished portrait borrowed tools dentist
archive foundry engine running warehouse catalogued despite rules photographed before frost arrived
amateur astronomer insured telescope"""
PAGES = [" ".join(chance.choice(WORDS.split()) for _ in range(250)) for chance in map(random.Random, range(6))]
MISREAD = {"e": "c", "h": "b", "i": "l", "t": "f", "o": "0", "s": "5", "m": "rn", "u": "ii", "l": "1"}


def scanned(page: str, share: float, seed: int) -> str:
    chance = random.Random(seed)
    return "".join(MISREAD.get(letter, letter) if chance.random() < share else letter for letter in page)


@pytest.mark.parametrize("share", [0.04, 0.1])
def test_two_scans_of_a_page_are_found_by_the_preset_that_the_summary_names(share):
    scans = [scanned(page, share, 10 * i + j) for i, page in enumerate(PAGES) for j in range(2)]
    plain = nearkin.dedup(scans)
    assert plain.manifest["counts"]["sampled"] == 12
    assert plain.manifest["counts"]["sampled_ocr"] > 6
    pairs = nearkin.dedup(scans, preset="ocr").pairs
    assert [*zip(pairs["row_a"].to_pylist(), pairs["row_b"].to_pylist(), strict=True)] == [
        (2 * i, 2 * i + 1) for i in range(6)
    ]


SIGNS = ["☒☐", "✓✗", "✅❌", "●○", "◉◯", "■□", "★☆", "\uf0fe\uf0a8", "○×", "+-", "+−", "👍👎"]


@pytest.mark.parametrize(
    ("yes", "no"),
    [*SIGNS, ("[x]", "[ ]"), ("[X]", "[]"), ("(x)", "( )"), ("_x_", "___"), ("✓", ""), ("-2.5", "+2.5"),
     ("~~a~~ b", "a ~~b~~"), ("○ ○ ● ○ ○", "○ ● ○ ○ ○"), ("( ) ( ) (x)", "( ) (x) ( )"),
     ("yes [x] no [ ]", "yes [ ] no [x]")],
)  # fmt: skip
def test_forms_that_differ_in_their_signs_are_no_copies(yes, no):
    """Each form has as many yes as any other."""
    answers = [random.Random(i).sample([yes, no] * 6, k=12) for i in range(12)]
    questions = [" ".join(page.split()[i : i + 8]) for page in PAGES for i in (0, 8)]
    forms = ["\n".join([PAGES[0], *map(" ".join, zip(questions, signs, strict=True))]) for signs in answers]
    plain = nearkin.dedup(forms, threshold=0.5).manifest["counts"]
    assert (plain["exact_copy"], plain["dropped_numbers"]) == (0, 11)
    for n in (2, 12):
        assert nearkin.dedup(forms[:n], preset="records").manifest["counts"]["dropped"] == 0
    named = [form.replace("\n", f"\n{WORDS.split()[i]}ham ", 1) for i, form in enumerate(forms)]
    assert nearkin.dedup(named, preset="records").manifest["counts"]["dropped"] == 0


def test_invoices_of_a_large_group_are_kept_apart():
    names = WORDS.split()
    bills = [
        f"Invoice {1000 + i} for {names[i % 8]} {names[i // 8]}son. Total {37 * i} crowns. {PAGES[0]}"
        for i in range(60)
    ]
    for options in ({"keep_apart": "numbers"}, {"preset": "records"}):
        assert nearkin.dedup(bills, **options).manifest["counts"]["dropped"] == 0


@pytest.mark.parametrize(
    ("one", "other", "differs"),
    [("balance -500", "balance 500", "numbers"), ("balance -500", "balance 500 thank you", "words and numbers"),
     ("ill? ■ yes □ no", "ill? □ yes ■ no please", "words and numbers"), ("pay ५००", "pay ७००", "numbers"),
     ("pay 500", "pay 500 please", "passage added"),
     ("10⁵ litres", "105 litres", "numbers"), ("m² 2", "m2 2", "numbers"),
     ("H₂O", "H2O", "numbers"),
     ("ill? YES / no", "ill? yes / NO", "numbers"), ("FEMALE/male", "Female/MALE", "numbers"),
     ("YES /\n no", "yes /\n NO", "numbers"), ("“YES/no/both”", "“yes/NO/both”", "numbers"),
     ("ill? YES / no", "ill?\u00a0YES\t /  no", "nothing"), ("pay (USD 500)", "pay USD 500", "numbers"),
     ("pay ₹ 500", "pay ₽500", "numbers"), ("ДА/нет", "да/НЕТ", "numbers"), ("due 5 січня", "due 5 лютого", "numbers"),
     ("due 5 stycznia", "due 5 lutego", "numbers"), ("5 Ιανουάριος", "5 Μάρτιος", "numbers"),
     ("5. maaliskuuta", "5. kesäkuuta", "numbers"), ("5 Mayıs", "5 Kasım", "numbers"),
     ("ill yes well no", "ill no well yes", "words and numbers"), ("krank: nein", "krank: ja", "words and numbers"),
     ("asked yes no yes yes", "asked yes yes no yes", "numbers"), ("TERMS", "Terms", "nothing"),
     ("A/B test", "a/b test", "nothing"), ("at x.org/MPL/a", "at X.org/mpl/a", "nothing"),
     ("pay (500)", "pay 500", "numbers"),
     ("pay (€ 5.50)", "pay € 5.50", "numbers"), ("pay €500", "pay $500", "numbers"),
     ("500 £ due", "500 € due", "numbers"), ("5 % of it", "5 of it", "numbers"), ("EUR 5", "USD 5", "numbers"),
     ("blood AB+", "blood AB-", "numbers"), ("sugar A+ iron A-", "sugar A- iron A+", "numbers"),
     ("(1) rent", "1. rent", "other"), ("pay (in full)", "pay in full", "other")],
)  # fmt: skip
def test_what_differs_is_said_of_signs_and_digits(one, other, differs):
    pairs = nearkin.dedup([f"{PAGES[0]} {one}", f"{PAGES[0]} {other}"], threshold=0.5).pairs
    assert pairs["differs"].to_pylist() == [differs]


def test_marks_do_not_count_as_length():
    texts = [f"{PAGES[0]} 10⁵ m² km²", f"{PAGES[0]} 105 m2 km2 x"]
    assert nearkin.dedup(texts, threshold=0.5, keep="longest").documents["keep"].to_pylist() == [False, True]


def test_bullets_are_no_answers():
    lists = [" ".join(f"{bullet} {page[:80]}" for page in PAGES) for bullet in ("●", "■", "•", "▪", "")]
    assert nearkin.dedup(lists, preset="records").manifest["counts"]["dropped_other"] == 4


def test_bills_that_differ_in_ignored_numbers_are_no_exact_copies(tmp_path):
    form = (
        "Bill {} of the harbour office to the library for the repair of the copper roof, due in thirty days: {} crowns."
    )
    bills = [form.format(n, 100 + n) for n in (1, 1, 2, 3)]
    result = nearkin.dedup(bills, ignore_numbers=True)
    assert result.documents["reason"].to_pylist() == ["unique", "exact copy", "near-duplicate", "near-duplicate"]
    assert result.documents["differs"].to_pylist() == [None, "nothing", "numbers", "numbers"]
    assert result.pairs["differs"].to_pylist() == ["nothing", "numbers", "numbers"]
    assert (result.manifest["counts"]["pairs"], result.manifest["counts"]["pairs_of_exact_copies"]) == (2, 1)
    nearkin.dedup(bills, ignore_numbers=True, out=tmp_path / "run")
    regroup(tmp_path / "run", threshold=0.8, out=tmp_path / "again", report=False)
    for table, column in (("documents", "reason"), ("documents", "differs"), ("pairs", "differs")):
        again = pq.read_table(tmp_path / "again" / f"{table}.parquet")[column]
        assert again.to_pylist() == getattr(result, table)[column].to_pylist()
    against = nearkin.dedup(bills, against=bills[:1], ignore_numbers=True)
    assert against.documents["differs"].to_pylist() == ["nothing", "nothing", "numbers", "numbers"]


def test_groups_and_checks_of_a_collection_say_what_differs(tmp_path):
    form = f"Bill {{}} of the harbour office for the repair of the roof, due in {{}} days. {PAGES[0]}"
    texts = [form.format(n, 30) for n in range(3)] + [
        form.format(0, 30) + " This sentence is one passage more.",
        PAGES[1],
    ]
    for ignores in (False, True):
        with nearkin.Collection.open(tmp_path / f"bills-{ignores}", create=True, ignored=Ignored((), ignores)) as bills:
            bills.add([*zip("abcdx", texts, strict=True)], wave="first")
            members = bills.groups(threshold=0.7).members
            assert dict(zip(members["doc_id"].to_pylist(), members["differs"].to_pylist(), strict=True)) == {
                "a": "passage added",
                "b": "words and numbers",
                "c": "words and numbers",
                "d": "nothing",
            }
            checked = bills.check(form.format(7, 30))
            assert checked.verdict == "near"
            assert {one.document.doc_id: one.differs for one in checked.documents}["a"] == "numbers"
            assert bills.check(texts[0]).documents[0].differs == "nothing"
