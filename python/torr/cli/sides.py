"""The sides of a diff from the command line: a path, a run in the store, or the newest of a tag.

    12                    run 12 of the store
    12:gin,processes=4    one candidate of it, at one setting of its factors

A name that exists as a path is a path.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from torr.cli.streams import show_notes
from torr.errors import UsageError
from torr.messages.say import say
from torr.store.rundir import LATEST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.verdicts.diff_side import Side

_ID = re.compile(r"\d{1,9}")
_KINDS = ("run", "ladder", "compare", "locust")


def sides_of(names: Sequence[str], baseline: str | None, folder: Path) -> tuple[Side, Side]:
    """Return baseline and candidate; raise UsageError.

    `names` are both sides, or the candidate only if `baseline` is a tag; the default candidate is
    the newest run under `folder`. A note on stderr tells that the baseline has another name.
    """
    if baseline is None:
        if len(names) != 2:
            raise UsageError(
                say("a diff has two sides"), say("torr diff A B, or torr diff --baseline TAG [B]")
            )
        return side_of(names[0]), side_of(names[1])
    if len(names) > 1:
        raise UsageError(say("--baseline and two sides are given"), say("leave A out"))
    after = side_of(names[0]) if names else side_of(str(folder / LATEST))
    before = _tagged(baseline, after.run_name or after.name)
    if before.run is not None and before.run == after.run:
        raise UsageError(
            say(
                "--baseline {baseline}: its newest run is the other side itself", baseline=baseline
            ),
            say("give the baseline's tag to an older run: torr runs tag ID TAG"),
        )
    return before, after


def side_of(text: str) -> Side:
    """Return the side that a word of the command line names."""
    from torr.planning.diff_sides import load
    from torr.verdicts.diff_side import RunReference, of_result

    reference = RunReference.parse(text)
    if not _ID.fullmatch(reference.run) or Path(text).exists():
        return load(Path(text))
    from torr.store.runs.store import open_store

    with open_store() as store:
        result = store.result(int(reference.run))
    return of_result(result, reference)


def _tagged(text: str, name: str) -> Side:
    """Return the newest run with a tag, preferably of the same name; a candidate follows a colon.

    Runs of many names can have a tag such as `baseline`.
    """
    from torr.store.runs.store import Filter, open_store
    from torr.verdicts.diff_side import RunReference, of_result

    reference = RunReference.parse(text)
    tag = reference.run
    wanted = Filter(tags=(tag,), kinds=_KINDS)
    with open_store() as store:
        own = store.find(replace(wanted, name=name), most=1)
        runs = own or store.find(wanted, most=1)
        if not runs:
            raise UsageError(
                say("--baseline {tag}: no stored run has this tag", tag=tag),
                f"torr runs tag ID {tag}",
            )
        result = store.result(runs[0].id)
    if not own:
        note = say(
            "--baseline {tag}: no run of {name} has this tag; torr uses run {id} of {other}",
            tag=tag,
            name=name,
            id=runs[0].id,
            other=runs[0].name,
        )
        show_notes([note])
    return of_result(result, replace(reference, run=f"{runs[0].id}"))
