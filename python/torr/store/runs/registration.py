"""Register a run that has ended in the store, after its result.json is closed.

Errors are returned as text and not raised, so that a failing store does not fail the run.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from shlex import quote
from typing import TYPE_CHECKING

from torr.errors import StoreError
from torr.messages.say import changed, say
from torr.model.printable import printable, safe_text
from torr.model.secrets import whole

if TYPE_CHECKING:
    from pathlib import Path

    from torr.results.result import RunResult


@dataclass(frozen=True, slots=True)
class Registration:
    """The id of the registered run, or the reason for the failure; neither if not requested.

    `problem` is printable, and ends with the command that registers the run later.
    """

    id: int | None = None
    problem: str | None = None


def prepare() -> None:
    """Import the modules that `register` needs for the store of the environment."""
    from torr.store.runs.database_url import DatabaseUrl

    with suppress(Exception):  # `register` reports errors
        url = DatabaseUrl.of(os.environ)
        if url is not None:
            import torr.store.runs.store  # noqa: F401
            from torr.store.runs.database import import_driver

            import_driver(url)


def register(directory: Path, result: RunResult, *, is_asked: bool = True) -> Registration:
    """Register the run of a directory in the store that the environment names.

    `result` is what its result.json holds.
    """
    if not is_asked:
        return Registration()
    from torr.store.runs.database_url import DatabaseUrl

    try:
        url = DatabaseUrl.of(os.environ)
        if url is None:
            return Registration()
        from torr.store.runs.store import Store

        with Store.open(url) as store:
            text = (directory / "result.json").read_bytes()
            return Registration(store.register(text, directory.resolve(), result=result))
    except Exception as error:  # any error: the report is still to be written
        is_expected = isinstance(error, StoreError | OSError)
        reason = f"{error}" if is_expected else f"{type(error).__name__}: {error}"
        reason = error.text if isinstance(error, StoreError) else reason
        problem = say(
            "this run is not in the store: {reason}\nadd it with: {command}",
            reason=changed(reason, safe_text),
            command=f"torr runs import {quote(printable(whole(str(directory))))}",
        )
        return Registration(problem=problem)
