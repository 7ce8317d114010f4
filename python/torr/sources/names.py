"""Recognition of a file by its name."""

from __future__ import annotations


def is_plan_file(text: str) -> bool:
    """Return whether an argument is the name of a plan file, not a URL."""
    return text.endswith(".toml") and "://" not in text
