"""Parameters of a test as texts; where none tells a value, pytest's id stands for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.model.parameter import text_of

if TYPE_CHECKING:
    import pytest


def parameters_of(item: pytest.Item) -> dict[str, str]:
    """Return a test's parameters by their names; none where it has none."""
    given = getattr(item, "callspec", None)
    if given is None:
        return {}
    return {name: text_of(value) or str(given.id) for name, value in given.params.items()}
