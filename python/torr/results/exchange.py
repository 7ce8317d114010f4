"""One exchange: the request that `--once` sends, its answer, and how it ended."""

from __future__ import annotations

from msgspec import field

from torr.results.base import Count, Number, ResultPart


class Exchange(ResultPart, kw_only=True):
    """A request and its answer as bytes of the wire; times that were not measured are null."""

    error_class: str = field(name="class")
    reason: str | None = None
    detail: str = ""
    status: Count | None = None
    address: str | None = None
    request: bytes = b""
    response: bytes = b""
    connect_ms: Number | None = None
    tls_ms: Number | None = None
    ttfb_ms: Number | None = None
    service_ms: Number | None = None

    @property
    def is_ok(self) -> bool:
        """Whether the answer is complete and right."""
        return self.error_class == "ok"

    @property
    def is_answered(self) -> bool:
        """Whether the answer is complete."""
        return self.error_class in {"ok", "status", "check"}
