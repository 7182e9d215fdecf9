"""Loops of `nearkin.kernels.lines`."""

from __future__ import annotations

from functools import reduce

import numpy as np

from nearkin.kernels.compiled.basics import decoded, njit
from nearkin.kernels.plain.hashing import MASK
from nearkin.kernels.plain.lines import JOINING

_SOFT, _HARD = 2, 1
_JOINED, _COMPOUND, _FIRST, _SECOND = range(4)  # what the words of a text are compared with, for each break
_BASIS, _PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)
_BLOCK = 128  # bytes that are looked at together
_DASH, _SLASH = np.uint8(45), np.uint8(47)
_JOINING = np.array(
    [reduce(lambda value, byte: (value ^ byte) * int(_PRIME) & MASK, word, int(_BASIS)) for word in JOINING], np.uint64
)


@njit(nogil=True, cache=True)
def flag_many(data, offsets, flags):
    for i in range(len(offsets) - 1):
        start, end = offsets[i], offsets[i + 1]
        has_hyphen, has_digits = _has_hyphen(data, start, end), _has_digits(data, start, end)
        if not (has_hyphen and has_digits) and _has_blank(data, start, end):
            hyphen_too, digits_too = _before_blanks(data[start:end])
            has_hyphen, has_digits = has_hyphen or hyphen_too, has_digits or digits_too
        flags[i] = has_hyphen + 8 * _has_hidden(data, start, end)
        if has_digits or _has_two(data, start, end):
            flags[i] |= _numbers_in(data[start:end])


@njit(nogil=True, cache=True)
def _has_hyphen(data, start, end):
    """Whether a hyphen, or a byte of one beyond ASCII, stands before a line break."""
    least, first = np.uint8(255), np.uint64(start)
    for i in range(end - start - 1):
        mark, byte = data[first + np.uint64(i)], data[first + np.uint64(i) + np.uint64(1)]
        dash, other = np.uint8(mark ^ np.uint8(45)), np.uint8(mark ^ np.uint8(0x90))
        beyond = np.uint8(np.uint8(mark | np.uint8(1)) ^ np.uint8(0xAD))
        nearest = beyond if beyond < dash else dash
        nearest = other if other < nearest else nearest
        differs = np.uint8(nearest | (np.uint8(byte - np.uint8(10)) & np.uint8(0xFC)))  # 10 to 13
        least = differs if differs < least else least
    return least == 0


@njit(nogil=True, cache=True)
def _has_hidden(data, start, end):
    """Whether a text has a raised or lowered digit, or perhaps a word in capitals beside a slash and another word."""
    for first in range(start, end, _BLOCK):
        if _has_slash_or_raised(data, first, min(first + _BLOCK, end)):
            for i in range(first, min(first + _BLOCK, end)):
                byte = data[i]
                if byte == _SLASH and _is_choice(data[start:end], i - start):
                    return True
                if (byte == 0xC2 or byte == 0xE2) and _is_raised(data[i:end]):
                    return True
    return False


@njit(nogil=True, cache=True)
def _has_slash_or_raised(data, start, end):
    """Whether there is a slash, or a byte with which raised and lowered digits begin."""
    least, first = np.uint8(255), np.uint64(start)
    for i in range(end - start):
        byte = data[first + np.uint64(i)]
        slash, raised = np.uint8(byte ^ _SLASH), np.uint8((byte & np.uint8(0xDF)) ^ np.uint8(0xC2))
        nearest = slash if slash < raised else raised
        least = nearest if nearest < least else least
    return least == 0


@njit(nogil=True, cache=True)
def _is_raised(text):
    if len(text) < 3:
        return len(text) == 2 and text[0] == 0xC2 and (text[1] == 0xB2 or text[1] == 0xB3 or text[1] == 0xB9)
    first, second, third = text[0], text[1], text[2]
    if first == 0xC2:
        return second == 0xB2 or second == 0xB3 or second == 0xB9
    return (second == 0x81 and (third == 0xB0 or 0xB4 <= third <= 0xB9)) or (second == 0x82 and 0x80 <= third <= 0x89)


@njit(nogil=True, cache=True)
def _is_choice(text, slash):
    """Whether a word in capitals and one in small letters stand at a slash; any word beyond ASCII may be either."""
    has_left, left_has_small, left_is_ascii = _word_from(text, slash, np.int64(-1))
    has_right, right_has_small, right_is_ascii = _word_from(text, slash, np.int64(1))
    may_differ = left_has_small != right_has_small or not (left_is_ascii and right_is_ascii)
    return has_left and has_right and may_differ


@njit(nogil=True, cache=True)
def _word_from(text, slash, step):
    """Tell whether there is a word, whether it has small letters of ASCII, and whether it has no others."""
    i = slash + step
    while 0 <= i < len(text) and (text[i] == 32 or 9 <= text[i] <= 13):
        i += step
    has_word, has_small, is_ascii = False, False, True
    while 0 <= i < len(text):
        byte = text[i]
        if byte < 0x80 and not 97 <= (byte | 0x20) <= 122:
            break
        has_word = True
        has_small |= 97 <= byte <= 122
        is_ascii &= byte < 0x80
        i += step
    return has_word, has_small, is_ascii


@njit(nogil=True, cache=True)
def _has_two(data, start, end):
    """Whether a line, or what follows a tab or two spaces, begins with 2 or 02 before white space; or a 2 is last."""
    least, first = np.uint8(255), np.uint64(start)
    for i in range(end - start - 3):
        at = first + np.uint64(i)
        a, b, c, d = data[at], data[at + np.uint64(1)], data[at + np.uint64(2)], data[at + np.uint64(3)]
        space = np.uint8(((b & np.uint8(0xEF)) ^ np.uint8(32)) | (a & np.uint8(0xD0)))  # or 0; after a control, a space
        before = np.uint8(np.uint8(b - np.uint8(9)) & np.uint8(0xFE))  # 9 or 10
        before = space if space < before else before
        after, control = np.uint8(d ^ np.uint8(32)), np.uint8(np.uint8(d - np.uint8(9)) & np.uint8(0xF8))
        after = control if control < after else after
        differs = np.uint8(before | (c ^ np.uint8(50)) | after)
        least = differs if differs < least else least
    return least == 0 or (end > start and data[end - 1] == 50)


@njit(nogil=True, cache=True)
def _has_digits(data, start, end):
    """Whether a line ends in four characters, the first and last digits, after a capital, a digit or a sign."""
    least, first = np.uint8(255), np.uint64(start)
    for i in range(end - start - 5):
        at = first + np.uint64(i)
        first_digit = np.uint8(data[at + np.uint64(1)] - np.uint8(48))
        last_digit = np.uint8(data[at + np.uint64(4)] - np.uint8(48))
        largest = first_digit if first_digit > last_digit else last_digit
        largest = largest if largest > np.uint8(9) else np.uint8(9)
        before = np.uint8(np.uint8(data[at] - np.uint8(33)) & np.uint8(0xC0))
        space = np.uint8((data[at] ^ np.uint8(32)) | first_digit)
        before = space if space < before else before
        line_end = np.uint8(np.uint8(data[at + np.uint64(5)] - np.uint8(10)) & np.uint8(0xFC))
        differs = np.uint8((largest - np.uint8(9)) | before | line_end)
        least = differs if differs < least else least
    return least == 0


@njit(nogil=True, cache=True)
def _has_blank(data, start, end):
    least, first = np.uint8(255), np.uint64(start)
    for i in range(end - start - 1):
        mark, byte = data[first + np.uint64(i)], data[first + np.uint64(i) + np.uint64(1)]
        space, tab = np.uint8(mark ^ np.uint8(32)), np.uint8(mark ^ np.uint8(9))
        nearest = space if space < tab else tab
        differs = np.uint8(nearest | (np.uint8(byte - np.uint8(10)) & np.uint8(0xFC)))
        least = differs if differs < least else least
    return least == 0


@njit(nogil=True, cache=True)
def _before_blanks(text):
    has_hyphen, has_digits = False, False
    for line_end in range(1, len(text)):
        if np.uint8(text[line_end] - np.uint8(10)) >= 4 or not (text[line_end - 1] == 32 or text[line_end - 1] == 9):
            continue
        last = line_end - 1
        while last >= 0 and (text[last] == 32 or text[last] == 9):
            last -= 1
        if last >= 0:
            mark = text[last]
            has_hyphen |= mark == _DASH or mark == 0xAD or mark == 0xAC or mark == 0x90
        if last >= 4 and _is_digit(text[last]) and _is_digit(text[last - 3]):
            before = text[last - 4]
            has_digits |= 33 <= before <= 96 or (before == 32 and text[last - 3] == 48)
    return has_hyphen, has_digits


@njit(nogil=True, cache=True)
def _numbers_in(text):
    n_lines, n_numbered, n_bates, number = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    n_right, at_right = np.int64(0), np.int64(0)
    start = np.int64(0)
    while start < len(text):
        end = start
        while end < len(text) and text[end] != 10:
            end += 1
        n_lines += _has_visible(text[start:end])
        first, last = start, end
        while first < last and (text[first] == 32 or text[first] == 9):
            first += 1
        n_digits, value = np.int64(0), np.int64(0)
        while n_digits < 3 and first + n_digits < last and _is_digit(text[first + n_digits]):
            value = 10 * value + np.int64(text[first + n_digits]) - 48
            n_digits += 1
        after = first + n_digits
        ends_there = after == last or text[after] == 32 or text[after] == 9 or (text[after] == 13 and after + 1 == last)
        if 1 <= n_digits <= 2 and ends_there and (value == 1 or value == number + 1):
            number = value
            n_numbered += 1
        while first < last and _is_blank(text[first]):
            first += 1
        while last > first and _is_blank(text[last - 1]):
            last -= 1
        n_digits = np.int64(0)
        while n_digits < 3 and last - n_digits > start and _is_digit(text[last - n_digits - 1]):
            n_digits += 1
        if 1 <= n_digits <= 2 and _is_gap(text[start : last - n_digits]):
            value = np.int64(text[last - 1]) - 48 + (10 * (np.int64(text[last - 2]) - 48) if n_digits == 2 else 0)
            if value == 1 or value == at_right + 1:
                at_right = value
                n_right += 1
        n_bates += _may_be_bates(text[first:last])
        start = end + 1
    n_numbered = max(n_numbered, n_right)
    return 2 * (n_numbered >= 10 and 5 * n_numbered >= 2 * n_lines) + 4 * (n_bates >= 2)


@njit(nogil=True, cache=True)
def _is_gap(before):
    n = len(before)
    return n > 0 and (before[n - 1] == 9 or (n > 1 and before[n - 1] == 32 and before[n - 2] == 32))


@njit(nogil=True, cache=True)
def _has_visible(line):
    n_visible = np.int64(0)
    for byte in line:
        n_visible += 32 < byte < 127
    return n_visible > 0


@njit(nogil=True, cache=True)
def _may_be_bates(line):
    if not 5 <= len(line) <= 48 or not (line[0] == 48 or np.uint8(line[0] - np.uint8(65)) < 26):
        return False
    n_others = np.int64(0)
    for j in range(len(line)):
        n_others += line[j] > 95 or line[j] == 9 or (j >= len(line) - 4 and not _is_digit(line[j]))
    return n_others == 0


@njit(nogil=True, cache=True)
def _is_blank(byte):
    return byte == 32 or byte == 9 or byte == 13


@njit(nogil=True, cache=True)
def _is_digit(byte):
    return np.uint8(byte - np.uint8(48)) < 10


@njit(nogil=True, cache=True)
def join_many(data, offsets, is_small, joined, joined_offsets):
    out = np.int64(0)
    for i in range(len(offsets) - 1):
        out = _join_one(data[offsets[i] : offsets[i + 1]], is_small, joined, out)
        joined_offsets[i + 1] = out


@njit(nogil=True, cache=True)
def _join_one(text, is_small, joined, out):
    n_lines = np.int64(1)
    for byte in text:
        n_lines += byte == 10
    breaks = np.empty((n_lines, 5), np.int64)  # first part, hyphen, second part, its end, kind
    n_breaks = _find_breaks(text, is_small, breaks)
    seen = _words_seen(text, breaks, n_breaks)
    at = np.int64(0)
    for k in range(n_breaks):
        first, hyphen, second, end, kind = breaks[k]
        in_chain = (first > 0 and text[first - 1] == _DASH) or (
            end + 1 < len(text) and text[end] == _DASH and _is_letter(text[end + 1])
        )
        are_words = min(hyphen - first, end - second) >= 3 and seen[k, _FIRST] and seen[k, _SECOND]
        is_suspended = (_hashed(text, second, end, _BASIS) == _JOINING).any()
        is_compound = in_chain or seen[k, _COMPOUND] or 100 * n_breaks < 3 * n_lines or are_words or is_suspended
        if kind == _SOFT or seen[k, _JOINED] or not is_compound:
            joined[out : out + hyphen - at] = text[at:hyphen]
            out += hyphen - at
            at = second
    joined[out : out + len(text) - at] = text[at:]
    return out + len(text) - at


@njit(nogil=True, cache=True)
def _is_letter(byte):
    return byte >= 128 or np.uint8((byte | np.uint8(32)) - np.uint8(97)) < 26


@njit(nogil=True, cache=True)
def _find_breaks(text, is_small, breaks):
    n_breaks = np.int64(0)
    for newline in range(1, len(text)):
        if text[newline] != 10:
            continue
        at = newline - 1
        if text[at] == 13:
            at -= 1
        while at >= 0 and (text[at] == 32 or text[at] == 9):
            at -= 1
        kind, length = np.int64(_HARD), np.int64(1)
        if at >= 1 and text[at - 1] == 0xC2 and (text[at] == 0xAD or text[at] == 0xAC):
            kind, length = np.int64(_SOFT if text[at] == 0xAD else _HARD), np.int64(2)
        elif at >= 2 and text[at] == 0x90 and text[at - 1] == 0x80 and text[at - 2] == 0xE2:
            length = np.int64(3)
        elif at < 0 or text[at] != _DASH:
            continue
        hyphen = at + 1 - length
        second = newline + 1
        while second < len(text) and (text[second] == 32 or text[second] == 9):
            second += 1
        before = hyphen - 1
        while before > 0 and 0x80 <= text[before] < 0xC0:
            before -= 1
        if before < 0 or second == len(text):
            continue
        if not (is_small[decoded(text, before)[0]] and is_small[decoded(text, second)[0]]):
            continue
        first, end = hyphen, second
        while first > 0 and _is_letter(text[first - 1]):
            first -= 1
        while end < len(text) and _is_letter(text[end]):
            end += 1
        breaks[n_breaks] = first, hyphen, second, end, kind
        n_breaks += 1
    return n_breaks


@njit(nogil=True, cache=True)
def _hashed(text, start, end, value):
    for j in range(start, end):
        byte = text[j]
        is_capital = np.uint8(byte - np.uint8(65)) < 26
        value = (value ^ np.uint64(byte + np.uint8(is_capital) * np.uint8(32))) * _PRIME
    return value


@njit(nogil=True, cache=True)
def _words_seen(text, breaks, n_breaks):
    """Return for each break which of its four words the text has elsewhere."""
    keys = np.empty(4 * n_breaks, np.uint64)
    for k in range(n_breaks):
        first, hyphen, second, end, _ = breaks[k]
        one = _hashed(text, first, hyphen, _BASIS)
        keys[4 * k + _JOINED] = _hashed(text, second, end, one)
        keys[4 * k + _COMPOUND] = _hashed(text, second, end, (one ^ np.uint64(_DASH)) * _PRIME)
        keys[4 * k + _FIRST] = one
        keys[4 * k + _SECOND] = _hashed(text, second, end, _BASIS)
    order = np.argsort(keys)
    ordered = keys[order]
    is_seen = np.zeros(len(keys), np.bool_)
    at, k, before, before_end = np.int64(0), np.int64(0), np.uint64(0), np.int64(-2)
    while at < len(text) and n_breaks:
        if not _is_letter(text[at]):
            at += 1
            continue
        start = at
        while at < len(text) and _is_letter(text[at]):
            at += 1
        while k < n_breaks and breaks[k, 3] <= start:
            k += 1
        if k < n_breaks and breaks[k, 0] <= start:
            continue
        _note(ordered, is_seen, _hashed(text, start, at, _BASIS))
        if before_end + 1 == start and text[before_end] == _DASH:
            _note(ordered, is_seen, _hashed(text, start, at, (before ^ np.uint64(_DASH)) * _PRIME))
        before, before_end = _hashed(text, start, at, _BASIS), at
    for place in range(1, len(keys)):
        is_seen[place] |= ordered[place] == ordered[place - 1] and is_seen[place - 1]
    seen = np.zeros(len(keys), np.bool_)
    seen[order] = is_seen
    return seen.reshape((n_breaks, 4))


@njit(nogil=True, cache=True)
def _note(ordered, is_seen, key):
    place = np.searchsorted(ordered, key)
    if place < len(ordered) and ordered[place] == key:
        is_seen[place] = True
