"""One exchange: the request that `--once` sends, its response, and how it ended."""

from __future__ import annotations

from msgspec import field

from torr.results.base import Count, Number, ResultPart

Fields = list[tuple[str, str]]
"""Names and values of fields, in the order in which they were received."""


class ResponseHead(ResultPart, kw_only=True):
    """The head of a response: HTTP version, status, reason phrase and fields."""

    version: str
    status: Count
    reason: str = ""
    fields: Fields = field(default_factory=list)


class Exchange(ResultPart, kw_only=True):
    """A request as it was sent, and its response; times that were not measured are null.

    `body` is without chunked framing, but compressed as it was received. `excerpt` has the first
    bytes of a response whose head could not be read.
    """

    error_class: str = field(name="class")
    reason: str | None = None
    detail: str = ""
    status: Count | None = None
    address: str | None = None
    request: bytes = b""
    head: ResponseHead | None = None
    trailers: Fields = field(default_factory=list)
    body: bytes = b""
    excerpt: bytes = b""
    connect_ms: Number | None = None
    tls_ms: Number | None = None
    ttfb_ms: Number | None = None
    service_ms: Number | None = None

    @property
    def is_ok(self) -> bool:
        """Whether the response is complete and right."""
        return self.error_class == "ok"

    @property
    def is_answered(self) -> bool:
        """Whether the response is complete."""
        return self.error_class in {"ok", "status", "check"}
