"""Read a tuning session from the store: the runs of a name in order, and their baseline."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from msgspec import UNSET, structs

from torr.errors import ResultError
from torr.messages.message import from_object
from torr.results.history import Ledger, LedgerEntry
from torr.store.runs.reading import reading
from torr.store.runs.store import Filter
from torr.verdicts import history
from torr.verdicts.history import MeasuredRun

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.results.level import Level
    from torr.results.position import Position
    from torr.store.runs.store import Store
    from torr.store.runs.stored_run import StoredRun


OF_ONE_SETTING = ("run", "ladder", "locust")
"""The kinds of runs with one setting, which can be a baseline."""
KINDS = (*OF_ONE_SETTING, "tune")
"""The kinds of runs of a session: comparisons and diffs are not part of it."""

_LABELS = ("started", "kind", "git_commit", "note", "tags", "health")


@dataclass(frozen=True, slots=True)
class TuningSelection:
    """The selection of a session: `runs` filters by name, and by other conditions.

    `request` is the request whose numbers are used, None for all; `position` the level, None for
    the best of each run; `baseline` the tag of the baseline, of which the newest run is used.
    """

    runs: Filter
    request: str | None = None
    position: Position | None = None
    baseline: str | None = None


class TuningSession:
    """The selected runs, oldest first, limited to the newest `most`.

    After `ledger`, `levels` and `requests` are those that occur in any of the runs.
    """

    def __init__(self, store: Store, selection: TuningSelection, most: int | None = None) -> None:
        self._store = store
        self._selection = selection
        self.runs = store.find(replace(selection.runs, kinds=KINDS), most)[::-1]
        self.levels: set[Position] = set()
        self.requests: dict[str, None] = {}

    def ledger(self) -> Ledger:
        """Return the ledger; `others`: it is empty, but other runs of the name exist."""
        selection, known = self._selection, {run.id: run for run in self.runs}
        stored = self._baseline()
        measured = None if stored is None else self._measured(stored)
        baseline = stored and measured and _labelled(measured.entry(), stored)
        entries = history.ledger((x for run in self.runs for x in self._rounds(run)), measured)
        return Ledger(
            name=selection.runs.name,
            request=selection.request,
            concurrency=selection.position,
            baseline=baseline or None,
            entries=[_labelled(entry, known[entry.run]) for entry in entries],
            others=not entries and bool(self._store.find(Filter(selection.runs.name), most=1)),
        )

    def _rounds(self, run: StoredRun) -> list[MeasuredRun]:
        """Return the measurements of a run; of a tuning those of its default and its finalists."""
        if run.kind != "tune":
            return [self._measured(run, collect=True)]
        try:
            with reading(run.id):
                result = self._store.result(run.id)
        except ResultError as error:
            return [MeasuredRun(run.id, (), None, from_object(error.message))]
        return MeasuredRun.of_tuning(run.id, result, self._selection.request)

    def _measured(self, run: StoredRun, *, collect: bool = False) -> MeasuredRun:
        """Return the measurements of a run; an unreadable run has none, with a reason.

        With `collect`, its levels and requests are added to those of the session.
        """
        request, position = self._selection.request, self._selection.position
        try:
            with reading(run.id):
                result = self._store.result(run.id)
                if collect:
                    self._collect(result.levels)
                return MeasuredRun.of(run.id, result, request, position)
        except ResultError as error:
            return MeasuredRun(run.id, (), request, from_object(error.message))

    def _collect(self, levels: Sequence[Level]) -> None:
        for level in levels:
            self.levels.add(level.position)
            self.requests |= {step.name: None for step in level.requests}

    def _baseline(self) -> StoredRun | None:
        """Return the newest run with name and tag, regardless of the other conditions."""
        tag, runs = self._selection.baseline, self._selection.runs
        if tag is None:
            return None
        tagged = replace(runs, tags=(tag,), commit=None, since=None, kinds=OF_ONE_SETTING)
        return next(iter(self._store.find(tagged, most=1)), None)


def _labelled(entry: LedgerEntry, run: StoredRun) -> LedgerEntry:
    known = run.as_json()
    labels = {key: known[key] for key in _LABELS}
    if entry.setting is not UNSET:
        labels["note"] = "; ".join(filter(None, [entry.setting, run.note]))
    return structs.replace(entry, **labels)
