"""Words of dates and numbers, and signs of forms, which count as numbers when it is said what differs in two texts."""

from __future__ import annotations

from collections.abc import Mapping

from nearkin.kernels.characters import CURRENCIES

_DATES = """
    january february march april may june july august september october november december
    jan feb mar apr jun jul aug sep sept oct nov dec monday tuesday wednesday thursday friday saturday sunday"""
_NUMBERS = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion percent
    first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth
    sixteenth seventeenth eighteenth nineteenth twentieth thirtieth half"""
INVISIBLE = "\u2063"
"""Unicode's invisible separator, written for what words alone do not say: before a raised digit, at an answer in
capitals, in an empty cell of a table."""
TICKS = "☐☑☒✓✔✗✘"
"""Answers in forms, each a word."""
_YES_OR_NO = "yes nein oui sí sì sim nee nej tak ano áno igen evet kyllä jah jā taip нет ні ναι"
ANSWERS = frozenset({*TICKS, "x", *_YES_OR_NO.split()})
"""Ticks, and of yes and no in several languages the word that the languages have in no other sense."""
_EMPTY = "○◯◌□▢◻◽⬜❍❏❐❑❒◇☆🔲❌👎🔴\uf06f\uf071\uf072\uf0a1\uf0a3\uf0a8\uf0fb"  # the last are symbols of Wingdings
_BULLETS = "●◉◎⦿⚫■▣◼◾⬛◆★✅🔘🟢👍\uf052\uf06c\uf06e\uf0a4\uf0fc\uf0fd\uf0fe"
_BLANK = rf"[{_EMPTY}]|\[[\s_]+\]|\([\s_]+\)|\B(?:\[\]|\(\))\B"
_MARKED, _PLUS, _MINUS = r"[✕✖❎⊗⊠]|~~", r"\B\+\B", r"\B[-−](\d)"
_DIGIT = r"([०-९০-৯੦-੯૦-૯୦-୯௦-௯౦-౯೦-೯൦-൯๐-๙໐-໙༠-༩၀-၉០-៩])"  # of India and its neighbours; others are normalised
_POSITIVE = r"(\w)\+\B"
_IN_BRACKETS = r"\(((?:[a-z]{3} ?)?[^\w()]{0,2}\d[\d., ]+(?:[a-z]{3}|[^\w()]{0,2}))\)"
_UNITS = {"$": "usd", "%": "percent"}
_EMPTY_TICK, _TICK = " ☐ ", " ☒ "
Signs = Mapping[str, "str | Signs"]
_FORMS: Signs = {
    _BLANK: {_BLANK: _EMPTY_TICK, f"[×{_BULLETS}]": _TICK},
    _MARKED: _TICK,
    "[+]": {_PLUS: {_PLUS: _TICK, r"\B[-–−]\B": _EMPTY_TICK}},
    _MINUS: rf"{_EMPTY_TICK}\1",
    _DIGIT: r"\10",
}
_AMOUNTS: Signs = {
    rf"{INVISIBLE}(\d)": r"0\1",
    INVISIBLE: _TICK,
    "[+]": {_POSITIVE: rf"\1{_TICK}"},
    _IN_BRACKETS: r" 0\1 ",
    **{f"[{sign}]": f" {word} " for sign, word in _UNITS.items()},
}
_HAS_FORMS = "|".join((_BLANK, _MARKED, _PLUS, _MINUS, _DIGIT))
_HAS_AMOUNTS = "|".join((INVISIBLE, _POSITIVE, _IN_BRACKETS, r"\d ?[$%]|[$] ?\d"))
SIGNS: Signs = {f"{_HAS_FORMS}|{_HAS_AMOUNTS}": {_HAS_FORMS: _FORMS, **_AMOUNTS}}
"""Patterns of other answers in forms, digits of other scripts, amounts in brackets and with units, and what is written
for them; or, for texts that have the pattern, further ones: elsewhere they may be bullets or dashes."""
DATE_WORDS = frozenset(_DATES.split())
NUMBER_WORDS = frozenset(_NUMBERS.split())
_CODES = "usd eur gbp jpy chf inr rub aud sek nok dkk pln czk huf brl cny krw zar mxn"
MONEY_WORDS = frozenset([*_CODES.split(), *CURRENCIES])
_OTHER_DATES = """
    januar februar märz mai juni juli oktober dezember montag dienstag mittwoch donnerstag freitag samstag sonntag
    janvier février mars avril juin juillet août septembre octobre novembre décembre lundi mardi mercredi jeudi
    vendredi samedi dimanche enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
    lunes martes miércoles jueves viernes sábado domingo gennaio febbraio aprile maggio giugno luglio settembre ottobre
    novembre dicembre januari februari maart mei augustus janeiro fevereiro março maio junho julho setembro outubro
    novembro dezembro"""
OTHER_DATE_WORDS = frozenset(_OTHER_DATES.split())
"""Those of German, French, Spanish, Italian, Dutch and Portuguese that English does not have."""
_FURTHER_DATES = """
    januar//a/ja februar//a/ja mart//a/s/ā mars maj//a juni juli augusti январ/ь/я феврал/ь/я март//а апрел/ь/я ма/й/я
    июн/ь/я июл/ь/я август//а сентябр/ь/я октябр/ь/я ноябр/ь/я декабр/ь/я січ/ень/ня лют/ий/ого берез/ень/ня квіт/ень/ня
    трав/ень/ня черв/ень/ня лип/ень/ня серп/ень/ня верес/ень/ня жовт/ень/ня листопад//а груд/ень/ня януари февруари
    април//а юни юли септември октомври ноември декември јануар//а фебруар//а мај//а јун//а јул//а септемб/ар/ра
    октоб/ар/ра новемб/ар/ра децемб/ар/ра aprila jun//a jul//a avgust//a septemb/ar/ra oktob/ar/ra novemb/ar/ra
    decemb/ar/ra mar/ec/ca junij//a julij//a siječ/anj/nja veljač/a/e ožuj/ak/ka trav/anj/nja svib/anj/nja lip/anj/nja
    srp/anj/nja kolovoz//a ruj/an/na listopad//a/u studen/i/og/oga prosin/ac/ca led/en/na únor//a břez/en/na dub/en/na
    květ/en/na červ/en/na červen/ec/ce srp/en/na září říj/en/na prosin/ec/ce január//a február//a apríl//a máj//a jún//a
    júl//a október októbra augusta styczeń stycznia lut/y/ego marzec kwie/cień/tnia czerw/iec/ca lip/iec/ca
    sierp/ień/nia wrze/sień/śnia październik//a grud/zień/nia március április május június július augusztus szeptember
    jaanuar//i veebruar//i märts//i aprill//i juuni juuli augusti septembri oktoob/er/ri novembri detsemb/er/ri desember
    oktobri janvār/is/a/ī februār/is/a/ī aprīl/is/ī aprīļa maij/s/a/ā jūnij/s/a/ā jūlij/s/a/ā august/s/ā septembr/is/ī
    oktobr/is/ī novembr/is/ī decembr/is/ī saus/is/io vasar/is/io kov/as/o baland/is/žio geguž/ė/ės biržel/is/io
    liep/a/os rugpjū/tis/čio rugsėj/is/o spal/is/io lapkri/tis/čio gruod/is/žio ianuarie februarie martie aprilie iunie
    iulie septembrie octombrie noiembrie decembrie ιανουάριοσ φεβρουάριοσ μάρτιοσ απρίλιοσ μάιοσ ιούνιοσ ιούλιοσ
    αύγουστοσ σεπτέμβριοσ οκτώβριοσ νοέμβριοσ δεκέμβριοσ ιανουαρίου φεβρουαρίου μαρτίου απριλίου μαΐου ιουνίου ιουλίου
    αυγούστου σεπτεμβρίου οκτωβρίου νοεμβρίου δεκεμβρίου ocak şubat nisan mayis haziran temmuz ağustos eylül ekim kasim
    aralik tammikuu//n/ta helmikuu//n/ta maaliskuu//n/ta huhtikuu//n/ta toukokuu//n/ta kesäkuu//n/ta heinäkuu//n/ta
    elokuu//n/ta syyskuu//n/ta lokakuu//n/ta marraskuu//n/ta joulukuu//n/ta"""
_INFLECTED = (month.split("/") for month in _FURTHER_DATES.split())
EVERY_DATE_WORD = DATE_WORDS | OTHER_DATE_WORDS | {stem + end for stem, *ends in _INFLECTED for end in ends or [""]}
"""These, and months of Slavic, Scandinavian, Baltic and other languages of Europe, folded, in the cases of dates."""
_OTHER_NUMBERS = """
    zwei drei vier fünf sechs sieben acht neun zehn elf zwölf zwanzig dreißig vierzig fünfzig sechzig hundert tausend
    ersten zweiten dritten deux trois quatre cinq sept huit dix onze douze quinze vingt trente quarante cinquante
    soixante cent mille premier première deuxième troisième"""
OTHER_NUMBER_WORDS = frozenset(_OTHER_NUMBERS.replace("ß", "ss").split())
"""Those of German and French, folded; only for the differences of two texts."""
