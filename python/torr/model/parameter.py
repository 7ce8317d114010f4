"""Parameters of a test as texts, which identify its results in another session.

The text of a value must differ from that of every other value of the test, and be the same in the
next process. A string that reads like another value, as `"1"` reads like `1`, is written by `repr`.
A value whose text may change, such as a function with its address, has no text.
"""

from __future__ import annotations

import re
from pathlib import PurePath

_PLAIN_TYPES = (bytes, bool, int, float, complex, type(None))
_AMBIGUOUS = re.compile(
    r"""[-+]?\(?[\d.]+([eE][-+]?\d+)?j?\)?\Z|[(\['"]|b['"]|(True|False|None|nan|inf|[-+]inf)\Z"""
)
"""Texts that read as a number or a constant, or begin as a list or a quoted text does."""


def text_of(value: object) -> str | None:
    """Return the text that identifies a value; None where there is none."""
    if isinstance(value, str):
        return repr(value) if _AMBIGUOUS.match(value) or not value else value
    if isinstance(value, PurePath):
        return repr(value)
    return str(value) if _is_plain(value) else None


def _is_plain(value: object) -> bool:
    # Exactly these types: a derived one may define another text.
    if isinstance(value, tuple | list):
        return type(value) in (tuple, list) and all(map(_is_plain, value))
    return isinstance(value, str | PurePath) or type(value) in _PLAIN_TYPES
