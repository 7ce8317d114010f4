"""JSON that comes from outside torr: files of users, results of other machines, answers of servers.

Python's reader accepts more than JSON allows: NaN, numbers beyond the range of a float, which
become infinite, and nesting so deep that it ends in a RecursionError. This reader refuses them with
an error that says what is wrong. It does not check the meaning of a document.
"""

from __future__ import annotations

import json
import math
from typing import Any

MOST_DEPTH = 100
"""Levels of arrays and objects; documents for torr have fewer than ten."""

_MOST_INTEGER = 2**64 - 1


class JsonInputError(ValueError):
    """An error for a text that is not JSON, or that exceeds a limit; the message says which."""


def parse_json(text: str | bytes) -> Any:  # noqa: ANN401 - any JSON value
    """Return the value of a JSON document; raise JsonInputError where it cannot be read."""
    try:
        value = json.loads(
            text, parse_constant=_constant, parse_float=_finite, parse_int=_bounded_integer
        )
    except JsonInputError:
        raise
    except UnicodeDecodeError as error:
        raise JsonInputError(f"byte {error.start} is not UTF-8") from error
    except RecursionError as error:
        raise JsonInputError(_too_deep()) from error
    except ValueError as error:
        raise JsonInputError(f"not JSON: {error}") from error
    check_depth(value)
    return value


def parse_json_to_send(text: str | bytes) -> Any:  # noqa: ANN401 - any JSON value
    """Return the value of a JSON document whose texts are to be sent.

    Raises JsonInputError as `parse_json` does, and for a text that UTF-8 has no bytes for.
    """
    value = parse_json(text)
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise JsonInputError("a text has half of a character (a lone surrogate)") from error
    return value


def strict_decoder() -> json.JSONDecoder:
    """Return a decoder that refuses what `parse_json` refuses, except for too many levels."""
    return json.JSONDecoder(
        parse_constant=_constant, parse_float=_finite, parse_int=_bounded_integer
    )


def is_not_json(error: ValueError) -> bool:
    """Return whether an error of `parse_json` means a syntax error, not a limit."""
    return isinstance(error.__cause__, json.JSONDecodeError)


def is_json_number(number: float) -> bool:
    """Return whether `parse_json` reads the number: finite, and at most 64 bits if whole."""
    if isinstance(number, int):
        return abs(number) <= _MOST_INTEGER
    return math.isfinite(number)


def _constant(constant: str) -> float:
    raise JsonInputError(f"{constant} is not a number of JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not is_json_number(number):
        raise JsonInputError(f"the number {_short(text)} is too large")
    return number


def _bounded_integer(text: str) -> int:
    if len(text) > len(str(_MOST_INTEGER)) + 1 or not is_json_number(int(text)):
        raise JsonInputError(f"the number {_short(text)} is too large")
    return int(text)


def _short(text: str) -> str:
    return text if len(text) <= 30 else f"{text[:27]}..."


def check_depth(value: object) -> None:
    """Raise JsonInputError for a document of too many levels; without recursion."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(MOST_DEPTH):
        children = (
            container.values() if isinstance(container, dict) else container for container in level
        )
        level = [
            container
            for some in children
            for container in some
            if isinstance(container, dict | list)
        ]
        if not level:
            return
    raise JsonInputError(_too_deep())


def _too_deep() -> str:
    return f"it is nested more than {MOST_DEPTH} levels deep"
