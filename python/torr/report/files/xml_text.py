"""Text for XML, which cannot have every character."""

from __future__ import annotations

import re

_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def xml_text(text: str) -> str:
    """Return the text with U+FFFD in place of each character that XML cannot have."""
    return _NO_XML.sub("\ufffd", text)
