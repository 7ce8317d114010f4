"""What must not be written to disk or a terminal: passwords, keys and tokens, wherever they stand.

A secret's value looks like anything, so values are found by the names before them: of headers, of
fields of a query or a form, of members of JSON, of elements of XML, of parts of a multipart body.
The user of a URL, what an authorization header holds, and keys of well-known shapes need no name.
A value that was found once can be covered wherever it comes back: `known_secrets` finds them. A
secret under an innocent name is not found. Text that was cut inside of a secret is covered to its
end.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import unquote, unquote_plus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Cover = Callable[[str], str]

REDACTED = "***"
LEAST_SECRET = 4
"""The length of the shortest value that is covered where nothing but itself tells of it."""
_USER_FLAG = "--basic-auth"
_CAPTURE_FLAG = "--capture"

PARTS_OF_NAMES = (
    *("authorization", "authentication", "x-auth", "cookie", "token", "secret", "passw", "pwd"),
    *("passphrase", "credential", "api-key", "access-key", "private-key", "subscription-key"),
    *("account-key", "shared-key", "signing-key", "encryption-key", "master-key"),
    *("functions-key", "session", "sessid", "csrf", "xsrf", "signature", "jwt", "bearer"),
)
"""A name that contains one of these holds a secret; hyphens, case and such do not count."""
WHOLE_NAMES = ("auth", "code", "key", "otp", "pass", "sig")
"""And so does a name that is one of these."""

_PARTS = re.compile("|".join(part.replace("-", "") for part in PARTS_OF_NAMES))
_NO_LETTER = re.compile(r"[\W_]+")
# They tell of a token, or name an error, and hold none.
_NO_SECRETS = re.compile(r"tokenizers?|tokentypes?|\w*(?:error|exception|warning)")
_SECRET_FLAG = re.compile(
    r"--?(?:[\w.]+[-_.])*(?:authorization|cookie|token|secret|passw(?:or)?d|passphrase|pwd|"
    r"credentials?|api[-_]?key|access[-_]?key|secret[-_]?key|signature)",
    re.IGNORECASE,
)
_COUNT = re.compile(r"-?[\d.,]+")
# An error code, the name of a setting: nobody would take such a word for a secret.
_PLAIN_WORD = re.compile(r"[a-zA-Z]?[a-z_ -]{0,31}|\d{1,4}")

_HEADER_ARGUMENT = re.compile(r"^((?:-H|--header=)?\s*([\w.-]+)\s*:).+$", re.DOTALL)
# A name and its equals sign. Names begin where no letter of a name stands before them: so a long
# text is read once.
_FIELD = re.compile(r"(?<![\w.%~\[\]-])([\w.%~\[\]-]+)[ \t]?=>?[ \t]?(?!=)")
# What stands for a value, `{{ row.token }}`, is covered as one.
_FIELD_VALUE = re.compile(
    r"""(?:\{\{[^{}]*\}\}|[^&\s#'"<\\]|\\(?!["']))+"""
    r"""|(?P<quote>["'])(?P<quoted>(?:\\.|(?!(?P=quote))[^\\])*)""",
    re.DOTALL,
)
_LINE = re.compile(r"""^([<>*\s"'-]{0,8}([\w.-]+)[ \t]*:[ \t]*)([^\s].*?)(?=\r?$)""", re.MULTILINE)
# In the middle of a line a colon behind such a word tells of a secret, behind others of anything.
_SAID = re.compile(
    r"\b((?:password|passwd|passphrase|secret|(?:api|access|private|secret)[-_ ]?key|"
    r"(?:access|auth|api|refresh|bearer)[-_ ]?token)[ \t]*(?::|=>)[ \t]*)"
    r"""(?:"([^"]*)"?|'([^']*)'?|([^\s'",;\\]+))""",
    re.IGNORECASE,
)
_KEY_OF_MEMBER = re.compile(r'(?<!\\)(\\*)"((?:[^"\\]|\\u[0-9a-fA-F]{4}){1,200})\1"\s*:\s*')
# As `repr` and some formats write a name and its value: 'token': 'x', ["token", "x"], {"name":
# "token", "value": "x"}.
_TEXT = r"""(?:"(?:[^"\\]|\\.)*(?:"|\Z)|'(?:[^'\\]|\\.)*(?:'|\Z))"""
_NAMED = re.compile(
    rf"""('([\w.-]{{1,100}})'\s*:\s*|\["([\w.-]{{1,100}})"\s*,\s*(?={_TEXT}\s*\])|"name"\s*:\s*"""
    rf"""\"([\w.-]{{1,100}})"\s*,\s*"value"\s*:\s*)({_TEXT}|[\w.+-]+)""",
    re.DOTALL,
)
# A text of JSON that may hold another notation, such as JSON; cut short or not.
_QUOTING_TEXT = re.compile(r'"[^"\\]*\\.(?:[^"\\]|\\.)*("|\Z)', re.DOTALL)
_MOST_NESTED = 8
_UNICODE = re.compile(r"\\u([0-9a-fA-F]{4})")
_STRUCTURE = re.compile(r'(?<!\\)(\\*)"|[\[\]{}]')
_LITERAL = re.compile(r'[^\s,}\]"\\]+')
_NO_VALUES = {"null", "true", "false"}
_ELEMENT = re.compile(
    r"<((?:[\w-]+:)?[\w.-]+)((?:\s[^<>]*)?)>(?!\s*<(?!!\[CDATA))"
    r"((?:<!\[CDATA\[.*?(?:\]\]>|\Z)|[^<])+)",
    re.DOTALL,
)
_PART = re.compile(
    r"(content-disposition:[^\r\n]*?\bname=\"?([^\";\r\n]+)\"?[^\r\n]*\r?\n(?:[^\r\n]+\r?\n){0,8}\r?\n)"
    r"(.*?)(?=\r?\n--|\Z)",
    re.IGNORECASE | re.DOTALL,
)
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
_SHAPES = re.compile(
    r"\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bgh[oprsu]_\w{20,}"
    r"|\bsk-[\w-]{16,}|\bxox[abeoprs]-[\w-]{10,}|\bAIza[\w-]{30,}"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
    re.DOTALL,
)
# Without one of these there is nothing to be found.
_TELLING = re.compile(
    r"://|-----BEGIN|eyJ|A[KS]IA|AIza|sk-|xox|gh[oprsu]_|%[0-9a-f]{2}|\\u00|basic|negotiate"
    r"|auth|cookie|token|secret|pass|pwd|credential|key|sess|csrf|xsrf|sig|jwt|bearer|code|otp",
    re.IGNORECASE,
)
# How Python holds a byte that is no UTF-8: half of a pair, which no encoding has.
_HALF = re.compile(r"[\ud800-\udfff]")


@lru_cache(maxsize=4096)
def is_secret(name: str) -> bool:
    """Whether a header, field, member or variable of this name holds a secret."""
    letters = _NO_LETTER.sub("", unquote(name)).lower()
    if _NO_SECRETS.fullmatch(letters):
        return False
    return letters in WHOLE_NAMES or _PARTS.search(letters) is not None


def is_secret_flag(word: str) -> bool:
    """Whether the word behind this one is a secret: `--api-key`, but not `--api-key=…`.

    Its name ends with what it holds: `--tokens` and `--tokenizer` hold none.
    """
    return _SECRET_FLAG.fullmatch(word) is not None


def redacted_text(text: str) -> str:
    """The text with the values of all secrets that can be told apart replaced by `***`."""
    return _redacted(text, lambda _: REDACTED)


def redacted_value(name: str, value: str) -> str:
    """Return the value of a name, or `***` if the name is that of a secret."""
    return _value(name, value, lambda _: REDACTED)


def known_secrets(texts: Iterable[str]) -> list[str]:
    """The values that `redacted_text` would cover, also as they look elsewhere; longest first."""
    found: set[str] = set()

    def cover(value: str) -> str:
        found.update((value, unquote_plus(value), value.partition(" ")[2], _password(value)))
        return REDACTED

    for text in texts:
        _redacted(text, cover)
    return sorted((each for each in found if len(each) >= LEAST_SECRET), key=len, reverse=True)


def covered(text: str, secrets: Iterable[str]) -> str:
    """The text without the secrets that it names, and without these, wherever they stand."""
    for secret in secrets:
        text = text.replace(secret, REDACTED)
    return redacted_text(text)


def redacted_command(arguments: Iterable[str]) -> list[str]:
    """A command line fit to be saved: `-H 'Authorization: ***'`, `--basic-auth ***`."""
    return [whole(word) for word in _words(arguments, lambda _: REDACTED)]


def secrets_of_command(arguments: Iterable[str]) -> list[str]:
    """The values that `redacted_command` would cover, longest first."""
    found: list[str] = []

    def cover(value: str) -> str:
        found.append(f"password={value}" if " " not in value else f'password="{value}"')
        return REDACTED

    _words(arguments, cover)
    return known_secrets(found)


def whole(text: str) -> str:
    """Return text that any file can hold: a byte of an argument that is no UTF-8 becomes `�`."""
    return _HALF.sub("\ufffd", text)


def _words(arguments: Iterable[str], cover: Cover) -> list[str]:
    words: list[str] = []
    before = ""
    for argument in arguments:
        header = _HEADER_ARGUMENT.match(argument)
        if before == _USER_FLAG or is_secret_flag(before):
            words.append(cover(argument))
        elif before == _CAPTURE_FLAG:
            words.append(argument)  # says where a value stands, not which it is
        elif argument.startswith(f"{_USER_FLAG}="):
            words.append(f"{_USER_FLAG}={cover(argument.partition('=')[2])}")
        elif header is not None and is_secret(header[2]):
            words.append(f"{header[1]} {cover(argument[header.end(1) :].strip())}")
        else:
            words.append(_redacted(argument, cover))
        before = argument
    return words


def _redacted(text: str, cover: Cover, depth: int = 0) -> str:
    if _TELLING.search(text) is None:
        return text
    text = _DATABASE_USER.sub(lambda m: f"{m[1]}{cover(m[2])}@", text)
    text = _USER.sub(lambda m: f"{m[1]}{cover(m[2])}@", text)
    text = _without_members(text, cover)
    if depth < _MOST_NESTED:
        text = _QUOTING_TEXT.sub(lambda m: _text_within(m, cover, depth), text)
    text = _NAMED.sub(lambda m: _named(m, cover), text)
    text = _ELEMENT.sub(lambda m: _element(m, cover), text)
    text = _PART.sub(lambda m: m[1] + cover(m[3]) if is_secret(m[2]) else m[0], text)
    text = _LINE.sub(lambda m: m[1] + _value(m[2], m[3], cover), text)
    text = _without_fields(text, cover)
    text = _SAID.sub(lambda m: _said(m, cover), text)
    text = _SCHEME.sub(lambda m: m[0] if _is_word(m[3]) else m[1] + m[2] + cover(m[3]), text)
    return _SHAPES.sub(lambda m: cover(m[0]), text)


def _value(name: str, value: str, cover: Cover) -> str:
    """The value of a name, covered if it is a secret."""
    return cover(value) if _is_secret_value(name, value) else value


def _is_secret_value(name: str, value: str) -> bool:
    if not value or value.startswith(REDACTED) or not is_secret(name):
        return False
    if _COUNT.fullmatch(value) and ("tokens" in name.lower() or "count" in name.lower()):
        return False
    return name.lower() not in {"code", "key"} or _PLAIN_WORD.fullmatch(value) is None


def _is_word(text: str) -> bool:
    """Whether what stands behind `Bearer` or `Basic` is a word of a sentence."""
    return len(text) < 20 and text.isascii() and text.isalpha() and text[1:].islower()


def _password(value: str) -> str:
    """The password of a user and a password, as they are or as a header has them."""
    scheme, _, encoded = value.partition(" ")
    if scheme.lower() == "basic":
        try:
            value = base64.b64decode(encoded, validate=True).decode()
        except (binascii.Error, UnicodeDecodeError):
            return ""
    return unquote(value.partition(":")[2])


def _text_within(match: re.Match[str], cover: Cover, depth: int) -> str:
    """A text of JSON, covered as it reads."""
    try:
        text = json.loads(match[0] if match[1] else f'{match[0]}"')
    except ValueError:
        return match[0]
    saved = _redacted(text, cover, depth + 1)
    if saved == text:
        return match[0]
    written = json.dumps(saved, ensure_ascii=False)
    return written if match[1] else written[:-1]


def _named(match: re.Match[str], cover: Cover) -> str:
    before, name, value = match[1], match[2] or match[3] or match[4], match[5]
    quote = value[0] if value[0] in "\"'" else ""
    inside = value[1:].removesuffix(quote) if quote else value
    return f"{before}{quote}{_value(name, inside, cover)}{quote}" if inside else match[0]


def _element(match: re.Match[str], cover: Cover) -> str:
    name, attributes, inside = match[1], match[2], match[3]
    if not inside.strip() or not _is_secret_value(name.rpartition(":")[2], inside.strip()):
        return match[0]
    return f"<{name}{attributes}>{cover(inside)}"


def _said(match: re.Match[str], cover: Cover) -> str:
    quote = '"' if match[2] is not None else "'" if match[3] is not None else ""
    value = match[2] or match[3] or match[4] or ""
    return match[0] if value.startswith(REDACTED) else f"{match[1]}{quote}{cover(value)}{quote}"


def _without_fields(text: str, cover: Cover) -> str:
    parts, end = [], 0
    for match in _FIELD.finditer(text):
        if match.start() < end or not is_secret(match[1]):
            continue
        value = _FIELD_VALUE.match(text, match.end())
        if value is None:
            continue
        inside = value["quoted"] if value["quote"] else value[0]
        if not _is_secret_value(unquote(match[1]), inside):
            continue
        quote = value["quote"] or ""
        parts += [text[end : match.end()], quote, cover(inside)]
        end = value.end()
    return "".join((*parts, text[end:]))


def _without_members(text: str, cover: Cover) -> str:
    """Cover members of JSON, also of JSON within a text of JSON, and where the text was cut."""
    parts, end = [], 0
    for match in _KEY_OF_MEMBER.finditer(text):
        if match.start() < end:
            continue
        name = _UNICODE.sub(lambda found: chr(int(found[1], 16)), match[2])
        if not is_secret(name):
            continue
        start, slashes = match.end(), match[1]
        stop, inside = _value_of_member(text, start, len(slashes))
        if inside in _NO_VALUES or not _is_secret_value(name, inside):
            continue
        quote = f'{slashes}"'
        parts += [text[end:start], quote, cover(inside), quote]
        end = stop
    return "".join((*parts, text[end:]))


def _value_of_member(text: str, start: int, slashes: int) -> tuple[int, str]:
    """Where a value of JSON ends, and the value; a text's is without its quotes."""
    depth, is_text = 0, False
    # JSON that is a text within JSON has a backslash before its quotes, within that three, seven, …
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
            if closes is None:  # the text around it ends
                return match.start(), text[start : match.start()]
            is_text = is_text is not closes
        if is_text_alone and match.start() > start and match[1] is not None and not is_text:
            return match.end(), text[start + slashes + 1 : match.end() - slashes - 1]
        if not is_text_alone and depth == 0 and not is_text:
            return match.end(), text[start : match.end()]
    return len(text), text[start + (slashes + 1 if is_text_alone else 0) :]


def _closes(slashes: int, levels: int) -> bool | None:
    """Whether a quote behind so many backslashes begins or ends a text at this level.

    None where it ends the text that holds this level.
    """
    for _ in range(levels):
        if slashes % 2 == 0:
            return None
        slashes = (slashes - 1) // 2
    return slashes % 2 == 0
