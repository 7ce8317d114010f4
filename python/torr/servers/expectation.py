"""What a candidate should answer, and the error that says what it answered instead."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torr.model.secrets import redacted_text
from torr.servers.answer import SHOWN_BYTES
from torr.servers.failure import TrialError

if TYPE_CHECKING:
    from torr.servers.answer import ResponseDigest


@dataclass(frozen=True, slots=True)
class Expectation:
    """Status, whole body and content type (without its parameters); None for any."""

    status: int | None = 200
    body: bytes | None = None
    content_type: str | None = None

    def as_json(self) -> dict[str, object]:
        """What is expected, as result.json says it, without secrets."""
        body = None if self.body is None else redacted_text(self.body.decode("utf-8", "replace"))
        return {"status": self.status, "body": body, "content_type": self.content_type}

    def check(self, answer: ResponseDigest, name: str, log_tail: tuple[str, ...] = ()) -> None:
        """Raise TrialError (wrong_answer) that names all that is not as expected."""
        wrong = self.misses(answer)
        if wrong:
            raise TrialError(
                "wrong_answer",
                f"{name}: {'; '.join(wrong)}",
                "compare it with `expect`, or look at the log of the server",
                log_tail,
            )

    def misses(self, answer: ResponseDigest) -> list[str]:
        """What was expected and what was found, for each that differs."""
        found = []
        if self.status is not None and answer.status != self.status:
            found.append(f"status {self.status} was expected, {answer.status} found")
        if self.body is not None and _sha256(self.body) != answer.body_sha256:
            expected = repr(self.body[:SHOWN_BYTES].decode("utf-8", "replace"))
            more = "…" if len(self.body) > SHOWN_BYTES else ""
            found.append(f"the body {expected}{more} was expected, {answer.shown_body} found")
        if self.content_type is not None and _media(answer.content_type) != _media(
            self.content_type
        ):
            found.append(
                f"content type {self.content_type} was expected, {answer.content_type} found"
            )
        return found


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _media(content_type: str | None) -> str | None:
    """`text/plain` of `Text/Plain; charset=utf-8`."""
    return None if content_type is None else content_type.partition(";")[0].strip().lower()
