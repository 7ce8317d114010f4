"""What is sent: one request, several in turn or by weight, or steps that each user goes through."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from torr.errors import UsageError, require
from torr.model.template import check_names

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from torr.model.request import Request

Json = dict[str, Any]
Order = Literal["turn", "steps"]


@dataclass(frozen=True, slots=True)
class Source:
    """Requests, and which is next: in turn, by `weights`, or each user's own steps in order."""

    requests: tuple[Request, ...]
    order: Order = "turn"
    weights: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        """Check what goes together."""
        require(bool(self.requests), "there is no request to send")
        if self.weights:
            require(self.order == "turn", "--steps and --weights are both given", "leave one out")
            require(
                len(self.weights) == len(self.requests) and min(self.weights) >= 1,
                f"{len(self.weights)} weights for {len(self.requests)} requests",
                "give each request a weight of at least 1",
            )

    @classmethod
    def of(cls, request: Request) -> Source:
        """The same request each time."""
        return cls((request,))

    @property
    def has_session(self) -> bool:
        """Whether users keep something from one request to the next."""
        steps = self.order == "steps" and len(self.requests) > 1
        return steps or any(request.captures for request in self.requests)

    @property
    def uses_rows(self) -> bool:
        """Whether a template names a column."""
        return "row" in self.drawn

    @property
    def drawn(self) -> frozenset[str]:
        """What its templates take in turn: rows, `seq`, both or nothing."""
        found = {e.kind for request in self.requests for e in request.expressions()}
        return frozenset(found & {"row", "seq"})

    def check_names(self, columns: AbstractSet[str] | None) -> None:
        """Refuse templates that name what nobody gives; `columns` is None without a data file."""
        captured = {capture.name for request in self.requests for capture in request.captures}
        goes_on = self.order == "steps" and len(self.requests) > 1
        earlier: set[str] = set()
        for request in self.requests:
            found = request.expressions()
            check_names(found, columns, captured, request.name)
            own = {capture.name for capture in request.captures}
            read = {each.name for each in found if each.kind == "captured"}
            _check_captured(read - (earlier if goes_on else own), request.name, goes_on=goes_on)
            earlier |= own

    def as_json(self) -> Json:
        """The contract's `source`."""
        if len(self.requests) == 1:
            return {"kind": "one", "request": self.requests[0].as_json()}
        requests = [request.as_json() for request in self.requests]
        if len(set(self.weights)) > 1:
            return {"kind": "weighted", "requests": requests, "weights": list(self.weights)}
        return {"kind": self.order, "requests": requests}

    def redacted(self) -> Source:
        """The same without secrets."""
        return replace(self, requests=tuple(request.redacted() for request in self.requests))


def _check_captured(missing: AbstractSet[str], where: str, *, goes_on: bool) -> None:
    """Refuse captured names that would be empty each time they are read."""
    if not missing:
        return
    name = f"{{{{{min(missing)}}}}}"
    require(
        not goes_on,
        f"{where}: no earlier step captures {name}: it would be empty",
        "put the step that captures it before this one",
    )
    raise UsageError(
        f"{where}: {name} is captured by another request, which need not go before: add --steps",
        "without --steps a request reads what it captured itself",
    )
