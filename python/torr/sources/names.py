"""What the name of a file says of it."""

from __future__ import annotations


def is_plan_file(text: str) -> bool:
    """Whether an argument names a plan file, and no URL."""
    return text.endswith(".toml") and "://" not in text
