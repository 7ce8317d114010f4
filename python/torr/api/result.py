"""`torr.load` and what every call gives: result.json as types, with the directory that holds it.

Nothing is measured or judged here: words come from report, claims from what stats wrote.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from torr.errors import LevelError
from torr.results import result as results
from torr.store.level_lines import recovered

if TYPE_CHECKING:
    import os

    import pandas as pd

    from torr.results.capacity import Knee, Peak, SloCapacity
    from torr.results.level import AttemptCounts, Latency, Level

Health = Literal["healthy", "contended", "generator-limited", "unknown"]


def load(directory: str | os.PathLike[str]) -> Result:
    """The result in a run's directory, or of a `result.json`; UsageError if there is none."""
    file = recovered(Path(directory))
    found = results.read_as(Result, file)
    vars(found)["file"] = file
    return found


class Result(results.RunResult, kw_only=True, dict=True):
    """What a run, a ladder or a diff left: everything in result.json, and where it lies.

    Of a run with one level, that level's numbers are here too: `latency`, `counts`, `ok_per_s`,
    `success_rate`. Made by `torr.run`, `torr.ladder` and `torr.load`.
    """

    @property
    def directory(self) -> Path:
        """The run's directory."""
        file: Path = vars(self)["file"]
        return file.resolve().parent

    @property
    def verdict(self) -> str:
        """What was found, in one sentence."""
        from torr.report.text.sentence import verdict

        return str(verdict(self))

    @property
    def trust(self) -> str:
        """How far to trust it, in one line."""
        from torr.report.text.trust import trust

        return str(trust(self))

    @property
    def health(self) -> Health:
        """The generator's health at its worst level; a limited level claims nothing."""
        from torr.report.text.trust import health

        return cast("Health", health(self))

    @property
    def passed(self) -> bool:
        """Whether its SLOs may pass and no abort condition ended it: a command would not exit 1."""
        from torr.verdicts.exit import gate

        return gate(self).error is None

    @property
    def level(self) -> Level:
        """The only level; raises LevelError where there are more or none."""
        if len(self.levels) != 1:
            count = f"{len(self.levels)} levels"
            raise LevelError(f"{self.name} has {count}, not one", "say which: result.levels[0]")
        return self.levels[0]

    @property
    def latency(self) -> Latency:
        """The times of ok answers at the only level, in milliseconds."""
        return self.level.latency

    @property
    def counts(self) -> AttemptCounts:
        """The attempts of the only level, by how they ended."""
        return self.level.counts

    @property
    def ok_per_s(self) -> float:
        """Ok answers a second at the only level."""
        return self.level.ok_per_s

    @property
    def success_rate(self) -> float | None:
        """Percent of the attempts of the only level that were ok; None where none ended."""
        return self.level.success_rate

    @property
    def peak(self) -> Peak | None:
        """A ladder's highest ok/s; None where that cannot be told: see `capacity.reasons`."""
        return self.capacity.peak if self.capacity else None

    @property
    def knee(self) -> Knee | None:
        """A ladder's best trade of ok/s and time; None where that cannot be told."""
        return self.capacity.knee if self.capacity else None

    @property
    def under_slo(self) -> SloCapacity | None:
        """A ladder's highest level that holds every SLO, as all below it do; None without one."""
        return self.capacity.slo if self.capacity else None

    def report(self) -> Path:
        """The page of the run, report.html, drawn now with tables and pictures if it is not yet."""
        page = self.directory / "report.html"
        if not page.exists():
            from torr import report

            report.write_all(self, self.directory)
        return page

    def to_pandas(self, rows: Literal["levels", "intervals"] = "levels") -> pd.DataFrame:
        """A table with one row a level, or an interval; columns are named as in levels.csv.

        Needs pandas: raises UsageError without it.
        """
        from torr.api.frames import frame

        return frame(self, rows)

    def __str__(self) -> str:
        return f"{self.verdict}\n{self.trust}"

    def __repr__(self) -> str:
        return f"<torr.Result {self.kind} {self.name!r}, {self.status}: {self.verdict}>"

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from torr.report.files.notebook import fragment

        return fragment(self)
