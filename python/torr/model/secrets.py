"""Covering of passwords, keys and tokens, which must not be written to disk or a terminal.

The value of a secret has no fixed form, so values are found by the names before them: of headers,
of fields of a query or a form, of members of JSON, of elements of XML, of parts of a multipart
body. The user of a URL, the value of an authorization header and keys of well-known forms need no
name. `known_secrets` returns the values that were found, to cover them in other texts. A secret
under any other name is not found. Text that was cut inside of a secret is covered to its end.
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
"""The length of the shortest value that is covered in texts where no name stands before it."""
_USER_FLAG = "--basic-auth"
_CAPTURE_FLAG = "--capture"

_HEADER_ARGUMENT = re.compile(r"^((?:-H|--header=)?\s*([\w.-]+)\s*:).+$", re.DOTALL)
# Python reads a byte that is not UTF-8 as a lone surrogate, which no encoding has.
_HALF = re.compile(r"[\ud800-\udfff]")


def redacted_text(text: str) -> str:
    """Return the text with `***` for the value of each secret that can be recognised."""
    return redact(text, lambda _: REDACTED)


def text_of_bytes(data: bytes) -> str:
    """Return bytes as text: a byte that is not UTF-8 becomes a lone surrogate."""
    return data.decode("utf-8", "surrogateescape")


def redacted_bytes(data: bytes, redacted: Callable[[str], str] = redacted_text) -> bytes:
    """Return a body or a log without secrets; other bytes that are not UTF-8 stay as they are."""
    return redacted(text_of_bytes(data)).encode("utf-8", "surrogateescape")


def redacted_value(name: str, value: str) -> str:
    """Return the value of a name, or `***` if the name is that of a secret."""
    return redact_value(name, value, lambda _: REDACTED)


def known_secrets(texts: Iterable[str]) -> list[str]:
    """Return the values that `redacted_text` covers, also decoded; the longest first."""
    values: set[str] = set()

    def cover(value: str) -> str:
        values.update((value, unquote_plus(value), value.partition(" ")[2], _password(value)))
        return REDACTED

    for text in texts:
        redact(text, cover)
    return sorted((value for value in values if len(value) >= LEAST_SECRET), key=len, reverse=True)


def redacted_command(arguments: Iterable[str]) -> list[str]:
    """Return a command line without secrets: `-H 'Authorization: ***'`, `--basic-auth ***`."""
    return [whole(argument) for argument in _covered_arguments(arguments, lambda _: REDACTED)]


def secrets_of_command(arguments: Iterable[str]) -> list[str]:
    """Return the values that `redacted_command` covers, the longest first."""
    assignments: list[str] = []

    def cover(value: str) -> str:
        assignments.append(f"password={value}" if " " not in value else f'password="{value}"')
        return REDACTED

    _covered_arguments(arguments, cover)
    return known_secrets(assignments)


def whole(text: str) -> str:
    """Return text that UTF-8 can encode: a byte that was not UTF-8 becomes `�`."""
    return _HALF.sub("\ufffd", text)


def _covered_arguments(arguments: Iterable[str], cover: Cover) -> list[str]:
    covered: list[str] = []
    previous = ""
    for argument in arguments:
        header = _HEADER_ARGUMENT.match(argument)
        if previous == _USER_FLAG or is_secret_flag(previous):
            covered.append(cover(argument))
        elif previous == _CAPTURE_FLAG:
            covered.append(argument)  # names the source of a value, not the value
        elif argument.startswith(f"{_USER_FLAG}="):
            covered.append(f"{_USER_FLAG}={cover(argument.partition('=')[2])}")
        elif header is not None and is_secret(header[2]):
            covered.append(f"{header[1]} {cover(argument[header.end(1) :].strip())}")
        else:
            covered.append(redact(argument, cover))
        previous = argument
    return covered


def _password(value: str) -> str:
    """Return the password of `USER:PASSWORD`, plain or as a basic authentication header has it."""
    scheme, _, encoded = value.partition(" ")
    if scheme.lower() == "basic":
        try:
            value = base64.b64decode(encoded, validate=True).decode()
        except ValueError:  # neither base64 nor UTF-8
            return ""
    return unquote(value.partition(":")[2])
