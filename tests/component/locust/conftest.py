"""A site to fire at, and scenarios played under stock Locust and under torr.

Locust replaces the standard library's sockets when it is imported, which must come before anything
imports `ssl`. So these tests have a process of their own, in the checkout:

    python -m pytest -c tests/locust/pytest.ini tests/locust
"""

import locust  # noqa: F401  (first, see above)

# isort: split

import socket
import ssl
from contextlib import ExitStack
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


@pytest.fixture(params=["stock", "torr"])
def kind(request):
    return request.param


@pytest.fixture
def play(kind, family, site):
    """Plays a scenario with the clients of one kind alone, for where the two are to differ."""
    return partial(surface.play, family, kind, site)


@pytest.fixture(params=["stock", "torr", "torr unheard"])
def outcome(request, family, site):
    """Plays a scenario; under torr all that can be seen must be as under stock."""
    kind, *unheard = request.param.split()

    def played(scenario, *, in_words=True, **attributes):
        stock = surface.play(family, "stock", site, scenario, **attributes)
        if kind == "stock":
            return stock
        shown = stock
        if unheard:
            attributes["is_heard"] = False
            stock = surface.play(family, "stock", site, scenario, **attributes)
        replaced = surface.play(family, kind, site, scenario, **attributes)
        if stock.is_lost and not replaced.is_lost:
            return shown  # the oldest Locust reports nothing here; torr may do better
        if found := differences(stock, replaced, in_words=in_words):
            pytest.fail("\n".join(found))
        return shown if unheard else replaced

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
