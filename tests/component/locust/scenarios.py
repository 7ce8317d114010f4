"""Fixtures: servers, and functions that run a scenario with stock Locust and with torr."""

from __future__ import annotations

import socket
import ssl
from contextlib import ExitStack
from dataclasses import replace
from functools import partial

import pytest

import surface
from answers import ROUTES
from authority import Authority
from differences import differences
from server import Site


@pytest.fixture(scope="session")
def site():
    other = Site(ROUTES).start()
    site = Site(ROUTES, other=other).start()
    other.other = site
    yield site
    site.stop()
    other.stop()


@pytest.fixture
def play(family, site):
    """Run a scenario with torr's clients only, where they differ from stock Locust's."""
    return partial(surface.play, family, "torr", site)


@pytest.fixture
def outcome(family, site):
    """Run a scenario with stock Locust and with torr; fail if anything observable differs.

    torr runs it twice, because torr has a shorter code path if only Locust's statistics listen to
    the `request` event. Stock Locust has one path, so its second run would only lack the events.
    """

    def played(scenario, *, in_words=True, **attributes):
        def run_with(kind, **more):
            return surface.play(family, kind, site, scenario, **attributes, **more)

        stock, torr = run_with("stock"), run_with("torr")
        without_listeners = run_with("torr", is_heard=False)
        pairs = {
            "torr": (stock, torr),
            "torr without listeners": (replace(stock, events=[]), without_listeners),
        }
        lines = [
            line
            for label, (expected, actual) in pairs.items()
            if actual.is_lost or not stock.is_lost  # torr may report what the oldest Locust loses
            for line in differences(expected, actual, label, in_words=in_words)
        ]
        if lines:
            pytest.fail("\n".join(lines))
        return stock if stock.is_lost else torr

    return played


@pytest.fixture
def closed_port():
    """Return a port without a listener; it stays bound, so that no other process takes it."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


@pytest.fixture
def full_port():
    """Return a port whose queue of connections is full, so that a further one times out."""
    with socket.socket() as full, ExitStack() as waiting:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for _ in range(2):
            client = waiting.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(full.getsockname())
        yield full.getsockname()[1]


@pytest.fixture(scope="session")
def authority(tmp_path_factory):
    authority = Authority(tmp_path_factory.mktemp("authority"))
    authority.sign("site")
    authority.sign("visitor")
    authority.sign("foreign", "DNS:elsewhere.invalid")
    return authority


@pytest.fixture
def secure(site, authority):
    yield from _behind_tls(site, authority, "site")


@pytest.fixture
def foreign(site, authority):
    """Start a server whose certificate is for another host."""
    yield from _behind_tls(site, authority, "foreign")


@pytest.fixture
def guarded(site, authority):
    """Start a server that requires a client certificate."""
    yield from _behind_tls(site, authority, "site", ssl.CERT_REQUIRED)


def _behind_tls(site, authority, name, asks=ssl.CERT_NONE):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*(authority.folder / f"{name}.{end}" for end in ("pem", "key")))
    context.load_verify_locations(authority.certificate)
    context.verify_mode = asks
    secure = Site(ROUTES, tls=context, other=site.other).start()
    yield secure
    secure.stop()
