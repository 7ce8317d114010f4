"""One text from outside torr, made safe to keep and print.

It is without secrets and control characters; `outside` does the same for whole results.
"""

from __future__ import annotations

import re

from torr.model.secrets import redacted_text

# Control characters except tabs and line feeds, characters that change the direction of writing,
# and lone surrogates, which UTF-8 cannot encode. A carriage return stays at the end of a line.
_MOVING = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]|\r(?!\n)"
)


def printable(text: str) -> str:
    r"""Return the text with each control character as an escape sequence: `\x1b`."""
    return _MOVING.sub(lambda match: ascii(match[0])[1:-1], text)


def safe_text(text: str) -> str:
    """Return a text from outside, safe to keep and print."""
    return printable(redacted_text(text))
