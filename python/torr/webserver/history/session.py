"""A tuning session, read from the store: the runs of a name in order, beside a baseline."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from torr.errors import ResultError
from torr.messages.message import from_object, message
from torr.store.runs.store import Filter
from torr.verdicts import history
from torr.verdicts.history import MeasuredRun

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.model.json import JsonObject
    from torr.results.level import Level
    from torr.store.runs.store import Store
    from torr.store.runs.stored_run import StoredRun


KINDS = ("run", "ladder", "locust")
"""What has one setting a run: comparisons and diffs are no rounds of a session."""

_LABELS = ("started", "kind", "git_commit", "note", "tags", "health")


@dataclass(frozen=True, slots=True)
class TuningSelection:
    """Which session is meant: `runs` names it, and narrows it down.

    `request` is the request whose numbers count, None for all; `concurrency` the level, None for
    the best of each run; `baseline` a tag, whose newest run the others are set beside.
    """

    runs: Filter
    request: str | None = None
    concurrency: int | None = None
    baseline: str | None = None


class TuningSession:
    """The runs that are meant, the oldest first, at most so many of the newest.

    `levels` and `requests` are what any of them has, once the ledger is made.
    """

    def __init__(self, store: Store, wanted: TuningSelection, most: int | None = None) -> None:
        self._store = store
        self._wanted = wanted
        self.runs = store.find(replace(wanted.runs, kinds=KINDS), most)[::-1]
        self.levels: set[int] = set()
        self.requests: dict[str, None] = {}

    def ledger(self) -> JsonObject:
        """Return its ledger; `others` says whether an empty one leaves out runs of the name."""
        wanted, known = self._wanted, {run.id: run for run in self.runs}
        baseline = self._baseline()
        measured = None if baseline is None else self._measured(baseline)
        entries = history.ledger((self._measured(run, noted=True) for run in self.runs), measured)
        return {
            "name": wanted.runs.name,
            "request": wanted.request,
            "concurrency": wanted.concurrency,
            "baseline": measured and baseline and {**measured.as_json(), **_labels(baseline)},
            "entries": [{**entry, **_labels(known[entry["run"]])} for entry in entries],
            "others": not entries and bool(self._store.find(Filter(wanted.runs.name), most=1)),
        }

    def _measured(self, run: StoredRun, *, noted: bool = False) -> MeasuredRun:
        """What a run says; one that cannot be read claims nothing, and takes no other with it.

        What it has is noted where it is to be offered.
        """
        request, concurrency = self._wanted.request, self._wanted.concurrency
        try:
            result = self._store.result(run.id)
            if noted:
                self._note(result.levels)
            return MeasuredRun.of(run.id, result, request, concurrency)
        except ResultError as error:
            why = from_object(error.message)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            why = message(
                "result.broken",
                "run {run} is not as torr writes it: {error}",
                run=run.id,
                error=f"{type(error).__name__}: {error}",
            )
        return MeasuredRun(run.id, (), request, why)

    def _note(self, levels: Sequence[Level]) -> None:
        for level in levels:
            self.levels.add(level.concurrency)
            self.requests |= {step.name: None for step in level.requests}

    def _baseline(self) -> StoredRun | None:
        """The newest run of the name with the tag, whatever else the runs are narrowed down by."""
        tag, runs = self._wanted.baseline, self._wanted.runs
        if tag is None:
            return None
        tagged = replace(runs, tags=(tag,), commit=None, since=None, kinds=KINDS)
        return next(iter(self._store.find(tagged, most=1)), None)


def _labels(run: StoredRun) -> JsonObject:
    known = run.as_json()
    return {key: known[key] for key in _LABELS}
