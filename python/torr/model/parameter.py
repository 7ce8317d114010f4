"""Parameters of a test as texts, by which its numbers are found again in another session.

A text must tell a value from every other one of its test, and be the same in the next process.
Where it may not, it is written as Python has it, or there is none: `1` and `"1"` read alike, a
function has its address in it.
"""

from __future__ import annotations

import re
from pathlib import PurePath

_PLAIN = (bytes, bool, int, float, complex, type(None))
_LIKE_ANOTHER = re.compile(
    r"""[-+]?\(?[\d.]+([eE][-+]?\d+)?j?\)?\Z|[(\['"]|b['"]|(True|False|None|nan|inf|[-+]inf)\Z"""
)
"""What reads as a number, as a name of a value, or begins as a list or a quoted text does."""


def text_of(value: object) -> str | None:
    """Return what tells a value; None where nothing does."""
    if isinstance(value, str):
        return repr(value) if _LIKE_ANOTHER.match(value) or not value else value
    if isinstance(value, PurePath):
        return repr(value)
    return str(value) if _is_plain(value) else None


def _is_plain(value: object) -> bool:
    # Exactly these: what is derived from them may write itself as it likes.
    if isinstance(value, tuple | list):
        return type(value) in (tuple, list) and all(map(_is_plain, value))
    return isinstance(value, str | PurePath) or type(value) in _PLAIN
