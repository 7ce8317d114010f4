"""The meaning of each error reason, which the engine has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr import engine
from torr.messages.advice import text_of_reason
from torr.messages.say import chain

if TYPE_CHECKING:
    from torr.messages.message import Message
    from torr.results.level import ErrorSample


def meaning(reason: str) -> Message:
    """Return what a reason means, an empty text for an unknown one; `status.503` is a `status`."""
    return text_of_reason("reason", engine.reasons(), reason)


def detail(sample: ErrorSample) -> str:
    """Return the detail of a sample, of which the meaning of its reason can be translated."""
    known = meaning(sample.reason or sample.error_class)
    rest = sample.detail.removeprefix(known)
    return chain("", [known, rest]) if len(rest) < len(sample.detail) else sample.detail
