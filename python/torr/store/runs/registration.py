"""A run that has ended goes into the store; whatever is wrong with that costs nobody the run.

Called when its result.json is closed. What cannot be kept is told as text, never raised.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from shlex import quote
from typing import TYPE_CHECKING

from torr.errors import StoreError
from torr.model.outside import printable, safe_text
from torr.model.secrets import whole

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Registered:
    """What came of it: the id of a run that is kept, or why it is not; neither if not asked for.

    `problem` is fit to be printed, and ends with the command that keeps the run later.
    """

    id: int | None = None
    problem: str | None = None


def prepare() -> None:
    """Import what `register` needs for the store that the environment names; opens nothing."""
    from torr.store.runs.database_url import DatabaseUrl

    with suppress(Exception):  # Whatever is wrong, `register` says it.
        place = DatabaseUrl.of(os.environ)
        if place is not None:
            import torr.store.runs.store  # noqa: F401
            from torr.store.runs.database import import_driver

            import_driver(place)


def register(directory: Path, *, is_asked: bool = True) -> Registered:
    """Keep the run of a directory in the store that the environment names."""
    if not is_asked:
        return Registered()
    from torr.store.runs.database_url import DatabaseUrl
    from torr.store.runs.store import Store

    try:
        place = DatabaseUrl.of(os.environ)
        if place is None:
            return Registered()
        with Store.open(place) as store:
            text = (directory / "result.json").read_bytes()
            return Registered(store.register(text, directory.resolve()))
    except Exception as error:  # Whatever it is, the run has been measured, and its report waits.
        is_told = isinstance(error, StoreError | OSError)
        why = f"{error}" if is_told else f"{type(error).__name__}: {error}"
        later = f"keep it with: torr runs import {quote(printable(whole(str(directory))))}"
        return Registered(problem=f"this run is not registered: {safe_text(why)}\n{later}")
