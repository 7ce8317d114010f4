"""What happens when a stored result is not as torr writes it."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from torr.errors import ResultError
from torr.messages.message import message

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def reading(run_id: int) -> Iterator[None]:
    """Turn errors that a broken result causes in the block into a ResultError with its run."""
    try:
        yield
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        why = message(
            "result.broken",
            "run {run} is not as torr writes it: {error}",
            run=run_id,
            error=f"{type(error).__name__}: {error}",
        )
        raise ResultError(why, f"torr runs show -o json {run_id}") from error
