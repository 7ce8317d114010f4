"""The requests of a load, before they are divided over groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torr.model.feed import RowFeed
    from torr.model.request import Request
    from torr.model.rows import Rows


@dataclass(frozen=True, slots=True)
class RequestMix:
    """Requests in order, and their weights, if any.

    A chat has rows of prompts, or the feed of a trace. With `in_steps` each user sends them in
    order; `notes` say what of a file is not sent.
    """

    requests: tuple[Request, ...]
    weights: tuple[int, ...] = ()
    rows: Rows | RowFeed | None = None
    in_steps: bool = False
    notes: tuple[str, ...] = ()
