"""Plays a scenario with the clients of stock Locust or of torr and keeps all that is seen of it."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from unittest import mock

import locust.clients
import locust.contrib.fasthttp
import locust.user.users
from locust.env import Environment
from locust.event import Events

from plain import failure, over_the_wire, plain

# By family: the user, where its client's class is looked up, and that class in torr.
FAMILIES = {
    "http": (locust.HttpUser, (locust.user.users, "HttpSession"), "torr.locust.session"),
    "fast": (
        locust.FastHttpUser,
        (locust.contrib.fasthttp, "FastHttpSession"),
        "torr.locust.fast",
    ),
}


# What the newest Locust does and the oldest does not yet: it reports errors that know no request,
# which raise AttributeError in the oldest; and a with-block must have asked for catch_response.
REPORTS_ALL = not hasattr(locust.clients, "LocustResponse")


@dataclass
class Outcome:
    """What a scenario gave or raised, what it reported, and what the server read."""

    value: object = None
    raised: dict | None = None
    events: list[dict] = field(default_factory=list)
    wire: list[dict] = field(default_factory=list)

    @property
    def event(self):
        """The one event of a scenario that fires one."""
        (event,) = self.events
        return event

    @property
    def trouble(self):
        """Why the one request failed, as reported; where the oldest Locust cannot, as raised."""
        if self.raised and not REPORTS_ALL:
            return self.raised
        return self.event["exception"]

    @property
    def request(self):
        """The one request of a scenario that sends one."""
        (request,) = self.wire
        return request


def play(family, kind, site, scenario, **attributes):
    """Run a scenario with the client of a user that has these attributes."""
    events = []
    environment = Environment(events=Events())
    environment.events.request.add_listener(lambda **given: events.append(_event(given)))
    for one in (site, site.other):
        one.forget()
    outcome = Outcome(events=events)
    with client_class(family, kind):
        visitor = type("Visitor", (FAMILIES[family][0],), {"host": site.url, **attributes})
        client = visitor(environment).client
        try:
            outcome.value = plain(scenario(client))
        except Exception as error:
            outcome.raised = failure(error)
    outcome.wire = over_the_wire([*site.seen, *site.other.seen])
    return outcome


@contextmanager
def client_class(family, kind):
    """Users that are made meanwhile have clients of this kind."""
    _, (module, name), replacement = FAMILIES[family]
    if kind == "stock":
        yield
        return
    with mock.patch.object(module, name, getattr(import_module(replacement), name)):
        yield


def _event(given):
    """The arguments of a `request` event, times as whether they are times."""
    response = given["response"]
    took = given["response_time"]
    return {
        **{name: given[name] for name in ("request_type", "name", "response_length", "url")},
        "arguments": sorted(given),
        "context": dict(given["context"]),
        "exception": failure(given["exception"]),
        "took": isinstance(took, float) and took >= 0,
        "started": isinstance(given["start_time"], float),
        "response": (type(response).__name__, response.status_code, response.url),
    }
