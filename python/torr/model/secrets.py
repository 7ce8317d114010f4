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
import re
from typing import TYPE_CHECKING
from urllib.parse import unquote, unquote_plus

from torr.model.redaction import redact, redact_value
from torr.model.secret_names import REDACTED, is_secret, is_secret_flag

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Cover = Callable[[str], str]

LEAST_SECRET = 4
"""The length of the shortest value that is covered where nothing but itself tells of it."""
_USER_FLAG = "--basic-auth"
_CAPTURE_FLAG = "--capture"

_HEADER_ARGUMENT = re.compile(r"^((?:-H|--header=)?\s*([\w.-]+)\s*:).+$", re.DOTALL)
# How Python holds a byte that is no UTF-8: half of a pair, which no encoding has.
_HALF = re.compile(r"[\ud800-\udfff]")


def redacted_text(text: str) -> str:
    """The text with the values of all secrets that can be told apart replaced by `***`."""
    return redact(text, lambda _: REDACTED)


def redacted_value(name: str, value: str) -> str:
    """Return the value of a name, or `***` if the name is that of a secret."""
    return redact_value(name, value, lambda _: REDACTED)


def known_secrets(texts: Iterable[str]) -> list[str]:
    """The values that `redacted_text` would cover, also as they look elsewhere; longest first."""
    found: set[str] = set()

    def cover(value: str) -> str:
        found.update((value, unquote_plus(value), value.partition(" ")[2], _password(value)))
        return REDACTED

    for text in texts:
        redact(text, cover)
    return sorted((each for each in found if len(each) >= LEAST_SECRET), key=len, reverse=True)


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
            words.append(redact(argument, cover))
        before = argument
    return words


def _password(value: str) -> str:
    """The password of a user and a password, as they are or as a header has them."""
    scheme, _, encoded = value.partition(" ")
    if scheme.lower() == "basic":
        try:
            value = base64.b64decode(encoded, validate=True).decode()
        except ValueError:  # neither base64 nor UTF-8
            return ""
    return unquote(value.partition(":")[2])
