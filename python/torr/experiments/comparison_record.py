"""The record of a comparison at its end: answers and their differences, rules, who was given up."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from msgspec import structs

from torr.experiments.rules import rules
from torr.model.secret_names import REDACTED, is_secret
from torr.model.secrets import redacted_text
from torr.servers.differences import ALIKE, GENERATED, differences_in_cells
from torr.units import show_setting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.experiments.matrix import Matrix
    from torr.experiments.trial import ComparisonState
    from torr.messages.message import Message
    from torr.model.json import JsonObject
    from torr.model.plan import Plan
    from torr.results.experiment import Experiment
    from torr.servers.answer import ResponseDigest
    from torr.store.rundir import RunDirectory


def record_of(
    matrix: Matrix, state: ComparisonState, plan: Plan, directory: RunDirectory
) -> Experiment:
    """Return the experiment of a comparison with its record; `plan` is the load of one trial.

    A resumed comparison adds to the record of its earlier sessions.
    """
    earlier = directory.head.experiment
    all_rules = [*earlier.rules, *rules(matrix, state, plan, directory.failures)]
    return structs.replace(
        earlier,
        # A resumed comparison may have asked only some of the candidates again.
        answers={**earlier.answers, **_answers(state)},
        differences=_differences(state, earlier.differences),
        rules=list(dict.fromkeys(all_rules)),
        given_up=state.given_up,
    )


def _answers(state: ComparisonState) -> dict[str, JsonObject]:
    """Return the response of each candidate in its first cell."""
    answers: dict[str, JsonObject] = {}
    for (name, _), answer in state.answers.items():
        if name not in answers:
            answers[name] = _redacted(answer)
    return answers


def _differences(state: ComparisonState, earlier: Sequence[Message]) -> list[Message]:
    """Return how the responses differ within cells with several of them.

    Earlier differences stay, since a resumed comparison does not ask in every cell again.
    """
    cells: dict[str, dict[str, ResponseDigest]] = {}
    for (name, cell), answer in state.answers.items():
        cells.setdefault(show_setting(json.loads(cell)), {})[name] = answer
    new = differences_in_cells(cells)
    before = [text for text in earlier if text not in (ALIKE, GENERATED) or not new]
    return list(dict.fromkeys([*before, *new]))


def _redacted(answer: ResponseDigest) -> JsonObject:
    """Return a response as result.json has it, without secrets."""
    start = redacted_text(answer.body_start.decode("utf-8", "replace"))
    headers: dict[str, str] = {}
    for name, value in answer.headers:
        shown = REDACTED if is_secret(name) else value
        headers[name] = f"{headers[name]}, {shown}" if name in headers else shown
    return {**asdict(answer), "headers": headers, "body_start": start}
