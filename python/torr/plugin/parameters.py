"""Parameters of a test as texts, without secrets; pytest's id stands for a value without a text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torr.model.parameter import text_of
from torr.model.secrets import redacted_value

if TYPE_CHECKING:
    import pytest

    from torr.results.base import Factors


def parameters_of(item: pytest.Item) -> Factors:
    """Return a test's parameters by their names; none where it has none."""
    given = getattr(item, "callspec", None)
    if given is None:
        return {}
    return {name: _text(given, name, value) for name, value in given.params.items()}


def _text(given: Any, name: str, value: object) -> str:  # noqa: ANN401 - pytest's CallSpec2
    """Return the text of a parameter; a secret is told from others by its number."""
    text = text_of(value) or str(given.id)
    redacted = redacted_value(name, text)
    return text if redacted == text else f"{redacted} {given.indices[name] + 1}"
