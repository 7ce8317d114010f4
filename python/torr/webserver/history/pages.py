"""Make the JSON data of each page of stored runs, from which the bundle draws it.

`run` is the run or overlay to show, if any; `stored` has the kind of page and its data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from torr.errors import require
from torr.messages.say import as_json, say
from torr.planning.tuning_session import TuningSelection, TuningSession
from torr.report.tables import history_table
from torr.report.view import distributions, view, view_tables
from torr.results.base import builtins
from torr.verdicts import diff_side
from torr.verdicts.diff import diff
from torr.verdicts.judgement import DELTA
from torr.webserver.history import parameters

if TYPE_CHECKING:
    from starlette.datastructures import QueryParams

    from torr.errors import TorrError
    from torr.model.json import JsonObject
    from torr.store.runs.store import Store
    from torr.verdicts.diff_side import Side


MOST_LISTED = 200
MOST_IN_A_TREND = 100


def runs(store: Store, query: QueryParams) -> JsonObject:
    """Return the list of stored runs, newest first, and the values of its filters."""
    found_runs = store.find(parameters.filter_of(query), MOST_LISTED + 1)
    return page(
        "runs",
        runs=[run.as_json() for run in found_runs[:MOST_LISTED]],
        more=len(found_runs) > MOST_LISTED,
        asked={key: parameters.text(query, key) for key in ("name", "commit", "since")}
        | {"tag": " ".join(query.getlist("tag"))},
        names=store.names(),
        tags=store.tags(),
    )


def run(store: Store, run_id: int) -> JsonObject:
    """Return a run with its report."""
    result = store.result(run_id)
    return page("run", shown=view.run(result), id=run_id, name=result.name)


def overlay(store: Store, query: QueryParams) -> JsonObject:
    """Return the overlay of two runs: the report of their diff, which is not stored."""
    a, b = (_side(store, query, key) for key in ("a", "b"))
    command = ["torr", "diff", *(query.get(key, "") for key in ("a", "b"))]
    shown = view.run(replace(diff(a, b), command=command))
    # A stored diff has no histograms, but here both runs are available.
    shown["view"]["distributions"] = distributions.of_sides((a, b))
    return page("overlay", shown=shown, a=query.get("a"), b=query.get("b"))


def trend(store: Store, query: QueryParams, tag: str) -> JsonObject:
    """Return the runs of a name in order, compared with the newest with a tag, and the ledger.

    Raises UsageError without a name, since runs of several names are not a session.
    """
    runs = parameters.filter_of(query)
    require(runs.name is not None, say("the query has no name"), say("/trend?name=NAME"))
    selection = TuningSelection(
        runs,
        parameters.text(query, "request"),
        parameters.position(query, "at"),
        parameters.text(query, "baseline") or tag,
    )
    session = TuningSession(store, selection, MOST_IN_A_TREND)
    ledger = session.ledger()
    return page(
        "trend",
        ledger=builtins(ledger),
        margin=[1 / (1 + DELTA), 1 + DELTA],
        sentence=as_json(history_table.sentence(ledger)),
        table=view_tables.as_json_table(say("The tuning ledger"), history_table.table(ledger)),
        tag=selection.baseline,
        levels=sorted(session.levels),
        requests=list(session.requests),
        tags=store.tags(),
        most=MOST_IN_A_TREND,
    )


def failure(error: TorrError) -> JsonObject:
    """Return the page of an error."""
    return page("failure", message=error.message, hint=error.hint)


def page(which: str, shown: JsonObject | None = None, **more: object) -> JsonObject:
    """Return the bootstrap data of a page."""
    return {"mode": "serve", "run": shown, "live": None, "stored": {"page": which, **more}}


def _side(store: Store, query: QueryParams, key: str) -> Side:
    reference = diff_side.RunReference.parse(parameters.text(query, key) or "")
    run_id = parameters.positive_int(reference.run, key)
    side = diff_side.of_result(store.result(run_id), reference)
    # With the id, since both runs may have the same name.
    return diff_side.renamed(side, f"{side.name} (run {run_id})")
