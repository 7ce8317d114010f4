"""The response that is expected of a candidate, and the error for a different one."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torr.messages.message import Message, message, message_list
from torr.model.secrets import redacted_text
from torr.servers.answer import SHOWN_BYTES
from torr.servers.failure import TrialError

if TYPE_CHECKING:
    from torr.servers.answer import ResponseDigest

SWITCHED = 101
"""The status of a message of WebSocket that was answered: that of its handshake."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """Status, whole body and content type (without its parameters); None for any."""

    status: int | None = 200
    body: bytes | None = None
    content_type: str | None = None

    def as_json(self) -> dict[str, object]:
        """Return the expectation as it is written to result.json, without secrets."""
        body = None if self.body is None else redacted_text(self.body.decode("utf-8", "replace"))
        return {"status": self.status, "body": body, "content_type": self.content_type}

    def check(self, answer: ResponseDigest, name: str, log_tail: tuple[str, ...] = ()) -> None:
        """Raise TrialError (wrong_answer) that names all deviations."""
        wrong = self.deviations(answer)
        if wrong:
            raise TrialError(
                "wrong_answer",
                name,
                message_list("; ", wrong),
                message(
                    "hint.expectation",
                    "compare it with `expect`, or look at the log of the server",
                ),
                log_tail,
            )

    def deviations(self, answer: ResponseDigest) -> list[Message]:
        """Return a sentence for each aspect that is not as expected."""
        deviations = []
        if self.status is not None and answer.status != self.status:
            deviations.append(
                message(
                    "trial.status",
                    "expected status {expected}, found {found}",
                    expected=self.status,
                    found=answer.status,
                )
            )
        if self.body is not None and _sha256(self.body) != answer.body_sha256:
            expected = repr(self.body[:SHOWN_BYTES].decode("utf-8", "replace"))
            more = "…" if len(self.body) > SHOWN_BYTES else ""
            deviations.append(
                message(
                    "trial.body",
                    "expected body {expected}, found {found}",
                    expected=f"{expected}{more}",
                    found=answer.shown_body,
                )
            )
        if self.content_type is not None and _media_type(answer.content_type) != _media_type(
            self.content_type
        ):
            deviations.append(
                message(
                    "trial.content_type",
                    "expected content type {expected}, found {found}",
                    expected=self.content_type,
                    found=str(answer.content_type),
                )
            )
        return deviations


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _media_type(content_type: str | None) -> str | None:
    """Return `text/plain` for `Text/Plain; charset=utf-8`."""
    return None if content_type is None else content_type.partition(";")[0].strip().lower()
