"""Convert the parameters of a test to texts without secrets; else pytest's id is the text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torr.model.parameter import text_of
from torr.model.secrets import redacted_value

if TYPE_CHECKING:
    import pytest

    from torr.results.base import Factors


def parameters_of(item: pytest.Item) -> Factors:
    """Return a test's parameters by their names."""
    callspec = getattr(item, "callspec", None)
    if callspec is None:
        return {}
    return {name: _text(callspec, name, value) for name, value in callspec.params.items()}


def _text(callspec: Any, name: str, value: object) -> str:  # noqa: ANN401 - pytest's CallSpec2
    """Return the text of a parameter; a redacted secret gets a number, to be distinct."""
    text = text_of(value) or str(callspec.id)
    redacted = redacted_value(name, text)
    return text if redacted == text else f"{redacted} {callspec.indices[name] + 1}"
