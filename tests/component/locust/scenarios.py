"""Fixtures: sites to fire at, and scenarios played under stock Locust and under torr."""

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
    """Plays a scenario with torr's clients alone, where they differ from stock Locust's."""
    return partial(surface.play, family, "torr", site)


@pytest.fixture
def outcome(family, site):
    """Plays a scenario under stock Locust and under torr; all that can be seen must be equal.

    torr plays it twice, because it takes a shorter way where only Locust's statistics listen to
    the `request` event. Stock Locust does not, so its second play would differ in the events alone.
    """

    def played(scenario, *, in_words=True, **attributes):
        def under(kind, **more):
            return surface.play(family, kind, site, scenario, **attributes, **more)

        stock, torr, unheard = under("stock"), under("torr"), under("torr", is_heard=False)
        compared = {"torr": (stock, torr), "torr unheard": (replace(stock, events=[]), unheard)}
        found = [
            line
            for label, (expected, given) in compared.items()
            if given.is_lost or not stock.is_lost  # torr may report what the oldest Locust loses
            for line in differences(expected, given, label, in_words=in_words)
        ]
        if found:
            pytest.fail("\n".join(found))
        return stock if stock.is_lost else torr

    return played


@pytest.fixture
def closed_port():
    """A port where nobody listens; it stays bound, so that nobody else takes it."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


@pytest.fixture
def full_port():
    """A port whose queue of connections is full, so that no further one is answered."""
    with socket.socket() as full, ExitStack() as waiting:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for _ in range(2):
            knocking = waiting.enter_context(socket.socket())
            knocking.setblocking(False)
            knocking.connect_ex(full.getsockname())
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
    """A site whose certificate names another."""
    yield from _behind_tls(site, authority, "foreign")


@pytest.fixture
def guarded(site, authority):
    """A site that asks who comes."""
    yield from _behind_tls(site, authority, "site", ssl.CERT_REQUIRED)


def _behind_tls(site, authority, name, asks=ssl.CERT_NONE):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*(authority.folder / f"{name}.{end}" for end in ("pem", "key")))
    context.load_verify_locations(authority.certificate)
    context.verify_mode = asks
    secure = Site(ROUTES, tls=context, other=site.other).start()
    yield secure
    secure.stop()
