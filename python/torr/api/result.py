"""`torr.load`, and the result of every call: result.json as types, with its directory."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from torr.errors import LevelError
from torr.results import result as results
from torr.store.level_lines import recover
from torr.verdicts.conclusions import completed

if TYPE_CHECKING:
    import os

    import pandas as pd

    from torr.results.capacity import Knee, Peak, SloCapacity
    from torr.results.level import AttemptCounts, Latency, Level

Health = Literal["healthy", "contended", "generator-limited", "unknown"]


def load(directory: str | os.PathLike[str]) -> Result:
    """Return the result in a run directory or of a `result.json`; raise UsageError without one."""
    file = recover(Path(directory))
    result = completed(results.read_as(Result, file))
    vars(result)["file"] = file
    return result


class Result(results.RunResult, kw_only=True, dict=True):
    """The result of a run, a ladder or a diff: all of result.json, and its directory.

    For a run with one level, `latency`, `counts`, `ok_per_s` and `success_rate` are those of the
    level. Returned by `torr.run`, `torr.ladder` and `torr.load`.
    """

    @property
    def directory(self) -> Path:
        """Return the run directory."""
        file: Path = vars(self)["file"]
        return file.resolve().parent

    @property
    def verdict(self) -> str:
        """Return the verdict in one sentence."""
        from torr.report.text.sentence import verdict

        return str(verdict(self))

    @property
    def trust(self) -> str:
        """Return how reliable the result is, in one line."""
        from torr.report.text.trust import trust

        return str(trust(self))

    @property
    def health(self) -> Health:
        """Return the generator's health at its worst level; a limited level claims nothing."""
        from torr.report.text.trust import health

        return cast("Health", health(self))

    @property
    def passed(self) -> bool:
        """Return whether SLOs hold, no abort condition ended it, and a request succeeded."""
        from torr.verdicts.exit import gate, has_success

        return gate(self).error is None and has_success(self)

    @property
    def level(self) -> Level:
        """Return the only level; raise LevelError if there are more, or none."""
        if len(self.levels) != 1:
            count = f"{len(self.levels)} levels"
            raise LevelError(f"{self.name} has {count}, not one", "choose one: result.levels[0]")
        return self.levels[0]

    @property
    def latency(self) -> Latency:
        """Return the times of ok responses at the only level, in milliseconds."""
        return self.level.latency

    @property
    def counts(self) -> AttemptCounts:
        """Return the attempts of the only level, by how they ended."""
        return self.level.counts

    @property
    def ok_per_s(self) -> float:
        """Return the ok responses per second at the only level."""
        return self.level.ok_per_s

    @property
    def success_rate(self) -> float | None:
        """Return the percentage of ok attempts at the only level; None if no attempt ended."""
        return self.level.success_rate

    @property
    def peak(self) -> Peak | None:
        """Return a ladder's highest ok/s; None if it is unknown: see `capacity.reasons`."""
        return self.capacity.peak if self.capacity else None

    @property
    def knee(self) -> Knee | None:
        """Return a ladder's best trade-off of ok/s and time; None if it is unknown."""
        return self.capacity.knee if self.capacity else None

    @property
    def under_slo(self) -> SloCapacity | None:
        """Return the highest level of a ladder up to which all hold every SLO; None without one."""
        return self.capacity.slo if self.capacity else None

    def report(self) -> Path:
        """Return the path of report.html; draw it, with tables and pictures, if it is missing."""
        page = self.directory / "report.html"
        if not page.exists():
            from torr import report

            report.write_all(self, self.directory)
        return page

    def to_pandas(self, rows: Literal["levels", "intervals"] = "levels") -> pd.DataFrame:
        """Return a table with one row per level or interval, with the columns of levels.csv.

        Raises UsageError if pandas is not installed.
        """
        from torr.api.frames import frame

        return frame(self, rows)

    def __str__(self) -> str:
        return f"{self.verdict}\n{self.trust}"

    def __repr__(self) -> str:
        return f"<torr.Result {self.kind} {self.name!r}, {self.status}: {self.verdict}>"

    def _repr_html_(self) -> str:
        """Return the HTML that a notebook shows."""
        from torr.report.files.notebook import fragment

        return fragment(self)
