"""Options that `torr locust` adds to Locust's: where the run is stored, its note and tags."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torr.options import readers
from torr.options.definition import RESULT, many, option, switch
from torr.options.readers import Reader
from torr.store.rundir import check_name

NO_RUN = "none"


def _name(text: str) -> str:
    check_name(text, "--torr-name")
    return text


@dataclass(frozen=True, slots=True)
class LocustOptions:
    """What torr stores of a test, in addition to Locust."""

    group: ClassVar[str] = RESULT

    folder: str = option(
        "--torr-out",
        Reader("DIR", str, "results"),
        "write the run below DIR; none: write no run",
        default="_output/torr",
        variable="TORR_OUT",
    )
    name: str = option(
        "--torr-name",
        Reader("NAME", _name, "api"),
        "name the run and its files",
        default="locust",
        variable="TORR_NAME",
    )
    note: str | None = option(
        "--torr-note", readers.NOTE, "store a note with the run", variable="TORR_NOTE"
    )
    tag: tuple[str, ...] = many(
        "--torr-tag", readers.TAG, "tag the run (repeatable)", variable="TORR_TAG"
    )
    no_store: bool = switch(
        "--torr-no-store", "do not add the run to the store", variable="TORR_NO_STORE"
    )

    @property
    def is_recorded(self) -> bool:
        """Whether the tests are recorded as runs."""
        return self.folder != NO_RUN
