"""Which conditions can be told of a load: refused before it are those that never could."""

from __future__ import annotations

from contextlib import nullcontext
from difflib import get_close_matches
from typing import TYPE_CHECKING

from torr.errors import UsageError, require
from torr.sources.entry import errors_at
from torr.sources.toml_table import line_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from torr.model.condition import Condition
    from torr.model.request import Request
    from torr.sources.plan_file import PlanFile


def check_conditions(conditions: Sequence[Condition], requests: Sequence[Request]) -> None:
    """Refuse a condition on what is not sent, is no stream, or has nothing that says good."""
    for condition in conditions:
        about = _about(condition, requests)
        if condition.is_of_streams:
            _check_streams(condition, about)
        if condition.metric in ("goodput", "good/s"):
            require(
                any(request.limits for request in about),
                f"{_said(condition)}: no SLO of latency says what is good",
                "add one, such as --slo 'ttft p95 < 800ms'",
            )


def check_at_lines(
    file: PlanFile, conditions: Sequence[Condition], requests: Sequence[Request]
) -> None:
    """The same for a plan file: a condition that stands there is refused at its line."""
    for condition in conditions:
        with _where(file, condition):
            check_conditions([condition], requests)


def _about(condition: Condition, requests: Sequence[Request]) -> list[Request]:
    if condition.name is None:
        return list(requests)
    about = [request for request in requests if request.name == condition.name]
    if about:
        return about
    names = sorted({request.name for request in requests})
    near = get_close_matches(condition.name, names, 1)
    raise UsageError(
        f"{_said(condition)!r}: no request is named {condition.name!r}",
        f"did you mean {near[0]}?" if near else f"there is {', '.join(names)}",
    )


def _check_streams(condition: Condition, about: Sequence[Request]) -> None:
    what = "no answer" if condition.name is None else f"no answer of {condition.name}"
    own = "say so where the request is written: stream"
    require(
        any(request.stream for request in about),
        f"{_said(condition)}: {what} is a stream, only they have {condition.metric}",
        "add --stream, or --chat" if condition.name is None else own,
    )


def _said(condition: Condition) -> str:
    return condition.text or str(condition)


def _where(file: PlanFile, condition: Condition) -> AbstractContextManager[None]:
    for key in ("slo", "abort_on"):
        value = file.flags.get(key, [])
        texts = value if isinstance(value, list) else [value]
        for number, text in enumerate(texts):
            if " ".join(str(text).split()) == condition.text:
                return errors_at(file.path, line_of(file.lines, f"{key}.{number}"))
    return nullcontext()
