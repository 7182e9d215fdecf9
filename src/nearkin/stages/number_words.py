"""Words of dates and numbers, and signs of forms, which count as numbers when it is said what differs in two texts."""

from __future__ import annotations

_DATES = """
    january february march april may june july august september october november december
    jan feb mar apr jun jul aug sep sept oct nov dec monday tuesday wednesday thursday friday saturday sunday"""
_NUMBERS = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion percent
    first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth
    sixteenth seventeenth eighteenth nineteenth twentieth thirtieth half"""
TICKS = "☐☑☒✓✔✗✘x"
"""Answers in forms, each a word."""
_EMPTY = "○◯◌□▢◻◽⬜❍❏❐❑❒◇☆🔲❌👎🔴\uf06f\uf071\uf072\uf0a1\uf0a3\uf0a8\uf0fb"  # the last are symbols of Wingdings
_BULLETS = "●◉◎⦿⚫■▣◼◾⬛◆★✅🔘🟢👍\uf052\uf06c\uf06e\uf0a4\uf0fc\uf0fd\uf0fe"
_BLANK = rf"[{_EMPTY}]|\[[\s_]+\]|\([\s_]+\)|\B(?:\[\]|\(\))\B"
_MARKED, _PLUS, _MINUS = r"[✕✖❎⊗⊠]|~~", r"\B\+\B", r"\B[-−](\d)"
_DIGIT = r"([०-९০-৯੦-੯૦-૯୦-୯௦-௯౦-౯೦-೯൦-൯๐-๙໐-໙༠-༩၀-၉០-៩])"  # of India and its neighbours; others are normalised
_EMPTY_TICK, _TICK = " ☐ ", " ☒ "
SIGNS = {
    _BLANK: {_BLANK: _EMPTY_TICK, f"[×{_BULLETS}]": _TICK},
    _MARKED: {_MARKED: _TICK},
    _PLUS: {_PLUS: _TICK, r"\B[-–−]\B": _EMPTY_TICK},
    _MINUS: {_MINUS: rf"{_EMPTY_TICK}\1"},
    _DIGIT: {_DIGIT: r"\10"},
}
"""Other answers in forms, and digits of other scripts: what shows that a text has them, and what is written for them;
elsewhere they may be bullets or dashes."""
HAS_SIGNS = "|".join(SIGNS)
DATE_WORDS = frozenset(_DATES.split())
NUMBER_WORDS = frozenset(_NUMBERS.split())
_OTHER_DATES = """
    januar februar märz mai juni juli oktober dezember montag dienstag mittwoch donnerstag freitag samstag sonntag
    janvier février mars avril juin juillet août septembre octobre novembre décembre lundi mardi mercredi jeudi
    vendredi samedi dimanche enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
    lunes martes miércoles jueves viernes sábado domingo gennaio febbraio aprile maggio giugno luglio settembre ottobre
    novembre dicembre januari februari maart mei augustus janeiro fevereiro março maio junho julho setembro outubro
    novembro dezembro"""
OTHER_DATE_WORDS = frozenset(_OTHER_DATES.split())
"""Those of German, French, Spanish, Italian, Dutch and Portuguese that English does not have."""
_OTHER_NUMBERS = """
    zwei drei vier fünf sechs sieben acht neun zehn elf zwölf zwanzig dreißig vierzig fünfzig sechzig hundert tausend
    ersten zweiten dritten deux trois quatre cinq sept huit dix onze douze quinze vingt trente quarante cinquante
    soixante cent mille premier première deuxième troisième"""
OTHER_NUMBER_WORDS = frozenset(_OTHER_NUMBERS.replace("ß", "ss").split())
"""Those of German and French, folded; only for the differences of two texts."""
