"""Runs a scenario with the client of stock Locust or of torr, and returns what is observable."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from unittest import mock

import gevent
import locust.clients
import locust.contrib.fasthttp
import locust.user.users
from locust.env import Environment
from locust.event import Events
from locust.stats import StatsError

from plain import class_of, failure, over_the_wire, plain, scrub

# By family: the user class, where Locust looks up the class of its client, and torr's module of it.
FAMILIES = {
    "http": (locust.HttpUser, (locust.user.users, "HttpSession"), "torr.locust.session"),
    "fast": (
        locust.FastHttpUser,
        (locust.contrib.fasthttp, "FastHttpSession"),
        "torr.locust.fast",
    ),
}


# The newest Locust reports errors that have no request; the oldest raises AttributeError for them.
# The newest also requires catch_response=True for a with block.
REPORTS_ALL = not hasattr(locust.clients, "LocustResponse")


# What the oldest raises instead of a report; for a broken body, FastHttpUser raises its cause.
LOST = (
    "builtins.AttributeError",
    "builtins.ConnectionResetError",
    "builtins.TimeoutError",
    "_parser.HTTPParseError",
)
TIMEOUT_S = 30


class HangError(Exception):
    """A scenario did not end within TIMEOUT_S."""


@dataclass
class Outcome:
    """What a scenario returned or raised, its events, Locust's counts and the server's requests."""

    value: object = None
    raised: dict | None = None
    events: list[dict] = field(default_factory=list)
    rows: list[dict] = field(default_factory=list)
    wire: list[dict] = field(default_factory=list)

    @property
    def event(self):
        """The one event of a scenario that fires one."""
        (event,) = self.events
        return event

    @property
    def is_lost(self):
        """Whether the oldest Locust raised an error that the newest reports."""
        return not REPORTS_ALL and self.raised is not None and self.raised["class"] in LOST

    @property
    def trouble(self):
        """The failure of the one request: reported, or raised by the oldest Locust."""
        raised = None if REPORTS_ALL else self.raised
        return raised or self.event["exception"]

    @property
    def request(self):
        """The one request of a scenario that sends one."""
        (request,) = self.wire
        return request


def play(family, kind, site, scenario, *, in_order=True, is_heard=True, **attributes):
    """Run a scenario with the client of a user that has these attributes.

    Without `in_order`, for scenarios whose greenlets race, events and requests are sorted. Without
    `is_heard`, only Locust's statistics listen to `request` events, and torr takes a shorter path.
    """
    events = []
    environment = Environment(events=Events())
    runner = environment.create_local_runner()
    if is_heard:
        environment.events.request.add_listener(lambda **given: events.append(_event(given)))
    else:
        import_module("torr.locust.recorder").RequestRecorder(environment).listen()
    for one in (site, site.other):
        one.forget()
    outcome = Outcome(events=events)
    with client_class(family, kind):
        visitor = type("Visitor", (FAMILIES[family][0],), {"host": site.url, **attributes})
        client = visitor(environment).client
        try:
            with gevent.Timeout(TIMEOUT_S, HangError):
                outcome.value = plain(scenario(client))
        except Exception as error:
            outcome.raised = failure(error)
    runner.greenlet.kill()
    outcome.rows = sorted(_rows(environment.stats), key=str)
    outcome.wire = over_the_wire([*site.seen, *site.other.seen])
    if not in_order:
        outcome.events.sort(key=lambda event: event["name"])
        outcome.wire.sort(key=lambda request: request["line"])
        connections = len({request["connection"] for request in outcome.wire})
        outcome.wire = [{**request, "connection": f"of {connections}"} for request in outcome.wire]
    return outcome


@contextmanager
def client_class(family, kind):
    """Let users that are made in this block have clients of this kind."""
    _, (module, name), replacement = FAMILIES[family]
    if kind == "stock":
        yield
        return
    with mock.patch.object(module, name, getattr(import_module(replacement), name)):
        yield


def _rows(stats):
    """Yield requests and failures by name, as Locust shows them."""
    for (name, method), entry in stats.entries.items():
        yield {
            "of": f"{method} {name}",
            "requests": (entry.num_requests, sum(entry.response_times.values())),
            "failures": entry.num_failures,
            "length": entry.total_content_length,
        }
    for error in stats.errors.values():
        row = scrub(StatsError.parse_error(error.error))
        yield {"of": f"{error.method} {error.name}", "times": error.occurrences, "row": row}


def _event(given):
    """Return the arguments of a `request` event; of times only whether they are valid."""
    response = given["response"]
    response_time = given["response_time"]
    return {
        **{name: given[name] for name in ("request_type", "name", "response_length", "url")},
        "arguments": sorted(given),
        "context": dict(given["context"]),
        "exception": failure(given["exception"]),
        "has_response_time": isinstance(response_time, float) and response_time >= 0,
        "started": isinstance(given["start_time"], float),
        "response": (class_of(response), response.status_code, response.url),
    }
