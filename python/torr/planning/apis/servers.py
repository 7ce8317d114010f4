"""How servers of language models are made to generate a given number of tokens.

No API has a member for it. Servers have members of their own, which others refuse or ignore.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torr.options.stream import StreamOptions


@dataclass(frozen=True, slots=True)
class ModelServer:
    """A server: whether a model may generate beyond its end, and the member for the least length.

    `unknown` has the members that an API of this server does not have.
    """

    ignores_end: bool = False
    minimum: str | None = None
    unknown: Mapping[str, frozenset[str]] = field(default_factory=dict)


SERVERS = {
    "vllm": ModelServer(True, "min_tokens", {"responses": frozenset({"min_tokens"})}),
    "sglang": ModelServer(True, "min_tokens"),
    "trtllm": ModelServer(True, "min_tokens"),
    "llamacpp": ModelServer(True, unknown={"anthropic": frozenset({"ignore_eos"})}),
    "tgi": ModelServer(),
    "ollama": ModelServer(),
}

SERVER_NAMES = tuple(SERVERS)

OUTPUT_PLACE = 987_654_321
"""Stands in a body for a length that each row has for itself, until its template stands there."""


def limits(api: str, limit: str, options: StreamOptions) -> dict[str, Any]:
    """Return the members that limit a response, or force it to have a number of tokens.

    `limit` is the API's member for the largest number.
    """
    lengths = options.output_tokens
    if lengths is None:
        return {} if options.max_tokens is None else {limit: options.max_tokens}
    tokens = lengths.constant or OUTPUT_PLACE
    server = SERVERS.get(options.server or "", ModelServer())
    members: dict[str, Any] = {limit: tokens}
    if server.ignores_end:
        members["ignore_eos"] = True
    if server.minimum is not None:
        members[server.minimum] = tokens
    unknown = server.unknown.get(api, frozenset())
    return {name: value for name, value in members.items() if name not in unknown}
