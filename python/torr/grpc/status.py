"""The status of a call: its number, its name and the message of the server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote

from torr.model.printable import safe_text

if TYPE_CHECKING:
    from torr.results.exchange import Exchange

NAMES = (
    *("OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND"),
    *("ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION"),
    *("ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS"),
    "UNAUTHENTICATED",
)
"""The names of statuses; the number of each is its place."""

OK = 0
NOT_FOUND = 5
UNIMPLEMENTED = 12


@dataclass(frozen=True, slots=True)
class GrpcStatus:
    """The status of a call, and the message of the server, which may be empty."""

    code: int
    message: str = ""

    @property
    def label(self) -> str:
        """Return name and number: `NOT_FOUND (5)`."""
        return f"{name_of(self.code)} ({self.code})"

    @property
    def text(self) -> str:
        """Return name, number and message: `NOT_FOUND (5): no such cart`."""
        return f"{self.label}: {safe_text(self.message)}" if self.message else self.label


def name_of(code: int) -> str:
    """Return the name of a status, `UNKNOWN` for a number that is not one, as gRPC has it."""
    return NAMES[code] if 0 <= code < len(NAMES) else "UNKNOWN"


def code_of(name: str) -> int | None:
    """Return the number of a status by its name; None if there is none."""
    return NAMES.index(name) if name in NAMES else None


def status_of(exchange: Exchange) -> GrpcStatus | None:
    """Return the status of a call, None where the response has none.

    It is in the trailers, or in the head of a response without a body.
    """
    head = [] if exchange.head is None or exchange.body else exchange.head.fields
    fields = {name.lower(): value for name, value in (*head, *exchange.trailers)}
    code = fields.get("grpc-status", "")
    if not (code.isascii() and code.isdigit() and len(code) <= 9):
        return None
    return GrpcStatus(int(code), unquote(fields.get("grpc-message", "")))
