"""What torr knows of an API of language models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from torr.model.check import Capture
    from torr.model.request import Header
    from torr.model.stream import EventDialect
    from torr.options.stream import StreamOptions
    from torr.planning.apis.trace_parts import TraceParts

Body = tuple[str, "tuple[Capture, ...]"]
"""A body as a template in JSON, and the values to capture from the response."""

CONVERSATION = frozenset({"turns", "user", "unique_prefix"})
"""Options of APIs of conversations."""
MADE_UP = frozenset({"prompt_tokens", "prefix_tokens", "prefix_groups"})
"""Options of APIs for which texts of a chosen length are made up."""
GENERATION = MADE_UP | {"model", "max_tokens", "output_tokens", "server"}
"""Options of APIs of one model, which limit its output, and for which prompts are made up."""


def bearer(key: str) -> Header:
    """Return the header that most APIs read their key from."""
    return "authorization", f"Bearer {key}"


@dataclass(frozen=True, slots=True)
class ModelApi:
    """An API: its name in `--chat`, its usual path, and the dialect of its streams, if it has any.

    `write` returns the body of the request of a turn. `takes` are the options of chats, by their
    fields of StreamOptions, that the API has a place for: torr refuses the others, and requires
    `model` where it is one of them. `headers` are those that the API needs besides its key. With
    `has_query` the prompt is a query beside the texts of a batch. With `has_messages` the model's
    chat template adds tokens to each prompt. `trace` is how its body has the rows of a trace, if
    it can.
    """

    name: str
    path: str
    dialect: EventDialect | None
    write: Callable[[int, StreamOptions], Body]
    takes: frozenset[str]
    headers: tuple[Header, ...] = ()
    key_header: Callable[[str], Header] = bearer
    has_query: bool = False
    has_messages: bool = False
    trace: TraceParts | None = None

    @property
    def has_batches(self) -> bool:
        """Whether a request has a batch of texts, and no conversation."""
        return "batch" in self.takes
