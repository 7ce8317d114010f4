"""The source of requests: one, several in turn or by weight, or steps of each user."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from torr.errors import UsageError, require
from torr.messages.say import say
from torr.model.json import JsonObject, PlanPart
from torr.model.template import check_names

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from torr.model.request import Request

Order = Literal["turn", "steps"]


@dataclass(frozen=True, slots=True)
class Source(PlanPart):
    """Requests and their order: in turn, by `weights`, or as the steps of each user."""

    requests: tuple[Request, ...]
    order: Order = "turn"
    weights: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        """Check what goes together."""
        require(bool(self.requests), say("there is no request to send"))
        if self.weights:
            require(
                self.order == "turn",
                say("--steps and --weights are both given"),
                say("leave one out"),
            )
            require(
                len(self.weights) == len(self.requests) and min(self.weights) >= 1,
                say(
                    "{count} weights for {count_2} requests",
                    count=len(self.weights),
                    count_2=len(self.requests),
                ),
                say("give each request a weight of at least 1"),
            )

    @classmethod
    def of(cls, request: Request) -> Source:
        """Return a source that repeats one request."""
        return cls((request,))

    @property
    def has_session(self) -> bool:
        """Return whether users keep a state from one request to the next."""
        steps = self.order == "steps" and len(self.requests) > 1
        return steps or any(request.captures for request in self.requests)

    @property
    def uses_rows(self) -> bool:
        """Return whether a template names a column."""
        return "row" in self.drawn

    @property
    def drawn(self) -> frozenset[str]:
        """Return the kinds of values that templates draw in turn, of rows and `seq`."""
        kinds = {
            expression.kind for request in self.requests for expression in request.expressions()
        }
        return frozenset(kinds & {"row", "seq"})

    def check_names(self, columns: AbstractSet[str] | None) -> None:
        """Refuse templates with names without a value; `columns` is None without a data file."""
        captured = {name for request in self.requests for name in request.captured_names}
        in_steps = self.order == "steps" and len(self.requests) > 1
        earlier: set[str] = set()
        for request in self.requests:
            used = request.expressions()
            check_names(used, columns, captured, request.name)
            names = request.captured_names
            read = {expression.name for expression in used if expression.kind == "captured"}
            _check_captured(
                read - (earlier if in_steps else names), request.name, in_steps=in_steps
            )
            earlier |= names

    def as_json(self) -> JsonObject:
        """Return the `source` of the engine's plan."""
        if len(self.requests) == 1:
            return {"kind": "one", "request": self.requests[0].as_json()}
        requests = [request.as_json() for request in self.requests]
        if len(set(self.weights)) > 1:
            return {"kind": "weighted", "requests": requests, "weights": list(self.weights)}
        return {"kind": self.order, "requests": requests}

    def redacted(self) -> Source:
        """Return the source without secrets."""
        return replace(self, requests=tuple(request.redacted() for request in self.requests))


def _check_captured(missing: AbstractSet[str], where: str, *, in_steps: bool) -> None:
    """Refuse captured names that would be empty each time they are read."""
    if not missing:
        return
    name = f"{{{{{min(missing)}}}}}"
    require(
        not in_steps,
        say("{where}: no earlier step captures {name}: it would be empty", where=where, name=name),
        say("put the step that captures it before this one"),
    )
    raise UsageError(
        say(
            "{where}: {name} is captured by another request, which may come later: add --steps",
            where=where,
            name=name,
        ),
        say("without --steps, a request reads only values that it captured itself"),
    )
