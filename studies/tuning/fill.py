"""Prints a template with values: python fill.py FILE NAME=VALUE (any number of them)."""

from __future__ import annotations

import sys
from pathlib import Path

text = Path(sys.argv[1]).read_text()
for pair in sys.argv[2:]:
    name, _, value = pair.partition("=")
    text = text.replace(f"{{{name}}}", value)
sys.stdout.write(text)
