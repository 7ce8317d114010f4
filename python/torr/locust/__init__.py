"""Locustfiles on the engine: replace Locust's HTTP clients by clients of the reactor."""

from __future__ import annotations


def install() -> None:
    """Replace the HTTP clients of the installed Locust in this process.

    Users that are created later use torr's clients. A second call does nothing. Raise UsageError
    where torr does not support the installed Locust.
    """
    # Import this first: gevent patches the standard library before other modules import it.
    import locust  # noqa: F401
    from locust import clients
    from locust.contrib import fasthttp
    from locust.user import users

    from torr.locust.compatibility import check

    check()
    from torr.locust.fast import FastHttpSession
    from torr.locust.session import HttpSession

    clients.HttpSession = users.HttpSession = HttpSession
    fasthttp.FastHttpSession = FastHttpSession
