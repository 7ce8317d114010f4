"""Search for the secrets of a text in each notation that may hold one.

The notations are headers, fields of a query or a form, members of JSON, elements of XML, parts of a
multipart body, users of a URL, and keys of well-known forms. A function that is passed in returns
the replacement of each value.

The time of each search is linear in the length of the text, whatever the text is.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

from torr.model.secret_names import REDACTED, is_secret, is_secret_value

if TYPE_CHECKING:
    from collections.abc import Callable

    Cover = Callable[[str], str]

# A name and its equals sign. A name begins where no letter of a name stands before it, so that a
# long text is read once.
_FIELD = re.compile(r"(?<![\w.%~\[\]-])([\w.%~\[\]-]+)[ \t]?=>?[ \t]?(?!=)")
# A piece of a value without quotes; an expression of a template, `{{ row.token }}`, is one.
_PIECE = re.compile(r"""\{\{[^{}]*\}\}|[^&\s#'"<\\{]+|\{|\\(?!["'])""")
# In a text between quotes: an escape, or a quote that may end it.
_IN_TEXT = {quote: re.compile(rf"\\.|{quote}", re.DOTALL) for quote in "\"'"}
_LINE = re.compile(r"""^([<>*\s"'-]{0,8}([\w.-]+)[ \t]*:[ \t]*)([^\s].*?)(?=\r?$)""", re.MULTILINE)
# Names behind which a colon in the middle of a line is followed by a secret.
_NAMED_IN_LINE = re.compile(
    r"\b((?:password|passwd|passphrase|secret|(?:api|access|private|secret)[-_ ]?key|"
    r"(?:access|auth|api|refresh|bearer)[-_ ]?token)[ \t]*(?::|=>)[ \t]*)"
    r"""(?:"([^"]*)"?|'([^']*)'?|([^\s'",;\\]+))""",
    re.IGNORECASE,
)
_KEY_OF_MEMBER = re.compile(r'(?<!\\)(\\*)"((?:[^"\\]|\\u[0-9a-fA-F]{4}){1,200})\1"\s*:\s*')
# As `repr` and some formats write a name and its value: 'token': 'x', ["token", "x"], {"name":
# "token", "value": "x"}.
_NAMED = re.compile(
    r"""'([\w.-]{1,100})'\s*:\s*|(\[)"([\w.-]{1,100})"\s*,\s*(?=["'])|"name"\s*:\s*"""
    r"""\"([\w.-]{1,100})"\s*,\s*"value"\s*:\s*""",
)
_WORD = re.compile(r"[\w.+-]+")
_END_OF_ARRAY = re.compile(r"\s*\]")
_MOST_NESTED = 8
_COVERED = (REDACTED, f"'{REDACTED}", f'"{REDACTED}')
# No encoding has half of a character (a lone surrogate); JSON writes it as an escape.
_HALF = re.compile(r"[\ud800-\udfff]")
_UNICODE = re.compile(r"\\u([0-9a-fA-F]{4})")
_STRUCTURE = re.compile(r'(?<!\\)(\\*)"|[\[\]{}]')
_LITERAL = re.compile(r'[^\s,}\]"\\]+')
_NO_VALUES = {"null", "true", "false"}
_ELEMENT = re.compile(
    r"<((?:[\w-]+:)?[\w.-]+)((?:\s[^<>]*)?)>(?!\s*<(?!!\[CDATA))"
    r"((?:<!\[CDATA\[.*?(?:\]\]>|\Z)|[^<]+)+)",
    re.DOTALL,
)
# The whole line at once, so that one with many of these words is read once.
_DISPOSITION = re.compile(r"content-disposition:([^\r\n]*)", re.IGNORECASE)
_NAME_OF_PART = re.compile(r'\bname="?([^";]+)', re.IGNORECASE)
_REST_OF_HEAD = re.compile(r"\r?\n(?:[^\r\n]+\r?\n){0,8}\r?\n")
_END_OF_PART = re.compile(r"\r?\n--|\Z")
_USER = re.compile(r"(://)([^/?#\s@'\"]*(?:@[^/?#\s@'\"]*)*)@")
# Passwords of databases are often written as they are, also with what ends a host elsewhere.
_DATABASE_USER = re.compile(
    r"((?<![a-z0-9+.-])(?!https?:|wss?:|grpcs?:)[a-z][a-z0-9+.-]{0,20}://)"
    r"([^\s@'\"<>/:]{0,256}:[^\s'\"<>]{0,512})@",
    re.IGNORECASE,
)
_SCHEME = re.compile(
    r"\b(bearer|basic|negotiate|apikey|token)([ \t]+)([\w.~+/=-]{6,})", re.IGNORECASE
)
# Where a run of letters begins that has two full stops behind it: what was read once is not read
# again for each `eyJ` in it.
_WEB_TOKEN = re.compile(r"(?<![\w-])(?=[\w-]+\.[\w-]+\.)([\w-]*?)(\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*)")
_SHAPES = re.compile(
    r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bgh[oprsu]_\w{20,}"
    r"|\bsk-[\w-]{16,}|\bxox[abeoprs]-[\w-]{10,}|\bAIza[\w-]{30,}"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
    re.DOTALL,
)
# A text without one of these has no secret. This search of a text in small letters takes a tenth of
# the time of one that ignores case, which finds no first letters.
_HINT_OF_SECRET = re.compile(
    r"://|-----begin|eyj|a[ks]ia|aiza|sk-|xox|gh[oprsu]_|%[0-9a-f]{2}|\\u00|basic|negotiate"
    r"|auth|cookie|token|secret|pass|pwd|credential|key|sess|csrf|xsrf|sig|jwt|bearer|code|otp"
)
# Letters that a search which ignores case takes for those of ASCII; small letters leave them apart.
_LIKE_ASCII = str.maketrans("İıſ", "iis")


def redact(text: str, cover: Cover, depth: int = 0) -> str:
    """Return the text with each secret as `cover` writes it."""
    small = (text if text.isascii() else text.translate(_LIKE_ASCII)).lower()
    if _HINT_OF_SECRET.search(small) is None:
        return text
    text = _DATABASE_USER.sub(lambda m: f"{m[1]}{cover(m[2])}@", text)
    text = _USER.sub(lambda m: f"{m[1]}{cover(m[2])}@", text)
    text = _without_members(text, cover)
    if depth < _MOST_NESTED:
        text = _without_texts(text, cover, depth)
    text = _without_named(text, cover)
    text = _ELEMENT.sub(lambda m: _element(m, cover), text)
    text = _without_parts(text, cover)
    text = _LINE.sub(lambda m: m[1] + redact_value(m[2], m[3], cover), text)
    text = _without_fields(text, cover)
    text = _NAMED_IN_LINE.sub(lambda m: _named_in_line(m, cover), text)
    text = _SCHEME.sub(lambda m: m[0] if _is_plain_word(m[3]) else m[1] + m[2] + cover(m[3]), text)
    text = _WEB_TOKEN.sub(lambda m: m[1] + cover(m[2]), text)
    return _SHAPES.sub(lambda m: cover(m[0]), text)


def redact_value(name: str, value: str, cover: Cover) -> str:
    """Return the value of a name, covered if it is a secret."""
    return cover(value) if is_secret_value(name, value) else value


def _is_plain_word(text: str) -> bool:
    """Return whether the text behind `Bearer` or `Basic` is a word of a sentence."""
    return len(text) < 20 and text.isascii() and text.isalpha() and text[1:].islower()


def _end_of_text(text: str, start: int) -> tuple[int, int, bool]:
    """Return where a text between quotes ends, where its quotes end, and whether it has escapes.

    `start` is its first quote. Both ends of a text that was cut are the end of the input.
    """
    quote, has_escapes = text[start], False
    for match in _IN_TEXT[quote].finditer(text, start + 1):
        if match[0] == quote:
            return match.start(), match.end(), has_escapes
        has_escapes = True
    return len(text), len(text), has_escapes


def _without_texts(text: str, cover: Cover, depth: int) -> str:
    """Cover secrets inside of JSON strings that may hold another notation, such as JSON."""
    parts, end = [], 0
    start = text.find('"')
    while start >= 0:
        inside, stop, has_escapes = _end_of_text(text, start)
        if has_escapes:
            parts += [text[end:start], _text_within(text[start:inside], cover, depth)]
            end = inside
        # Without an escape, a quote that ends a text may as well begin the next one.
        start = text.find('"', stop if has_escapes else max(start + 1, inside))
    return "".join((*parts, text[end:]))


def _text_within(opened: str, cover: Cover, depth: int) -> str:
    """Return a JSON string without its last quote, after its decoded text was covered."""
    try:
        text = json.loads(f'{opened}"')
    except ValueError:
        return opened
    saved = redact(text, cover, depth + 1)
    if saved == text:
        return opened
    return json.dumps(saved, ensure_ascii=_HALF.search(saved) is not None)[:-1]


def _without_named(text: str, cover: Cover) -> str:
    """Cover values as `repr` and some formats write them, with their names."""
    parts, end = [], 0
    for match in _NAMED.finditer(text):
        start, name = match.end(), match[1] or match[3] or match[4]
        if match.start() < end or not is_secret(name):
            continue
        if text[start : start + 1] in _IN_TEXT:
            inside, stop, _ = _end_of_text(text, start)
            start += 1
        else:
            match_of_word = _WORD.match(text, start)
            inside = stop = start if match_of_word is None else match_of_word.end()
        if match[2] and _END_OF_ARRAY.match(text, stop) is None:
            continue  # an array of more than a name and its value
        if is_secret_value(name, text[start:inside]):
            parts += [text[end:start], cover(text[start:inside])]
            end = inside
            if stop == inside and text[start - 1] in _IN_TEXT:
                parts.append(text[start - 1])  # the text was cut
    return "".join((*parts, text[end:]))


def _element(match: re.Match[str], cover: Cover) -> str:
    name, attributes, inside = match[1], match[2], match[3]
    if not inside.strip() or not is_secret_value(name.rpartition(":")[2], inside.strip()):
        return match[0]
    return f"<{name}{attributes}>{cover(inside)}"


def _named_in_line(match: re.Match[str], cover: Cover) -> str:
    quote = '"' if match[2] is not None else "'" if match[3] is not None else ""
    value = match[2] or match[3] or match[4] or ""
    return match[0] if value.startswith(REDACTED) else f"{match[1]}{quote}{cover(value)}{quote}"


def _without_parts(text: str, cover: Cover) -> str:
    """Cover the bodies of parts of a multipart body."""
    parts, end = [], 0
    for match in _DISPOSITION.finditer(text):
        if match.start() < end:
            continue
        name, head = _NAME_OF_PART.search(match[1]), _REST_OF_HEAD.match(text, match.end())
        if name is None or head is None or not is_secret(name[1]):
            continue
        stop = _END_OF_PART.search(text, head.end())
        if stop is not None and stop.start() > head.end():
            parts += [text[end : head.end()], cover(text[head.end() : stop.start()])]
            end = stop.start()
    return "".join((*parts, text[end:]))


def _without_fields(text: str, cover: Cover) -> str:
    parts, end = [], 0
    for match in _FIELD.finditer(text):
        if match.start() < end or not is_secret(match[1]):
            continue
        if text.startswith(_COVERED, match.end()):
            continue  # other fields may begin within this one
        start = match.end()
        if text[start : start + 1] in _IN_TEXT:
            stop, _, _ = _end_of_text(text, start)
            start += 1
        else:
            stop = _end_of_value(text, start)
        if is_secret_value(unquote(match[1]), text[start:stop]):
            parts += [text[end:start], cover(text[start:stop])]
            end = stop
    return "".join((*parts, text[end:]))


def _end_of_value(text: str, start: int) -> int:
    """Return the end of the value of a field that has no quotes."""
    while (piece := _PIECE.match(text, start)) is not None:
        start = piece.end()
    return start


def _without_members(text: str, cover: Cover) -> str:
    """Cover members of JSON, also of JSON within a JSON string, and of JSON that was cut."""
    parts, end = [], 0
    for match in _KEY_OF_MEMBER.finditer(text):
        if match.start() < end:
            continue
        name = _UNICODE.sub(lambda escape: chr(int(escape[1], 16)), match[2])
        if not is_secret(name):
            continue
        start, slashes = match.end(), match[1]
        stop, inside = _value_of_member(text, start, len(slashes))
        if inside in _NO_VALUES or not is_secret_value(name, inside):
            continue
        quote = f'{slashes}"'
        parts += [text[end:start], quote, cover(inside), quote]
        end = stop
    return "".join((*parts, text[end:]))


def _value_of_member(text: str, start: int, slashes: int) -> tuple[int, str]:
    """Return the end of a JSON value and the value, that of a string without its quotes."""
    depth, is_text = 0, False
    # JSON in a JSON string has one backslash before its quotes, in a string of that three, seven, …
    levels = (slashes + 1).bit_length() - 1
    opening = text[start : start + slashes + 1]
    if opening != "\\" * slashes + '"' and opening[:1] not in {"{", "["}:
        literal = _LITERAL.match(text, start)
        return (start, "") if literal is None else (literal.end(), literal[0])
    is_text_alone = opening[:1] not in {"{", "["}
    for match in _STRUCTURE.finditer(text, start):
        if match[1] is None:
            if is_text:
                continue
            depth += 1 if match[0] in "[{" else -1
        else:
            closes = _closes(len(match[1]), levels)
            if closes is None:  # the string around it ends
                return match.start(), text[start : match.start()]
            is_text = is_text is not closes
        if is_text_alone and match.start() > start and match[1] is not None and not is_text:
            return match.end(), text[start + slashes + 1 : match.end() - slashes - 1]
        if not is_text_alone and depth == 0 and not is_text:
            return match.end(), text[start : match.end()]
    return len(text), text[start + (slashes + 1 if is_text_alone else 0) :]


def _closes(slashes: int, levels: int) -> bool | None:
    """Return whether a quote behind this many backslashes closes a string inside of this level.

    None where it ends the string that holds this level.
    """
    for _ in range(levels):
        if slashes % 2 == 0:
            return None
        slashes = (slashes - 1) // 2
    return slashes % 2 == 0
