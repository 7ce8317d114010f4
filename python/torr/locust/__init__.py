"""Locustfiles on the engine: Locust's HTTP clients, replaced by clients of the reactor."""

from __future__ import annotations


def install() -> None:
    """Replace the HTTP clients of the installed Locust in this process.

    Users made from now on have clients of torr's. A second call does nothing. Raises UsageError
    where torr does not work with that Locust.
    """
    # First of all: gevent patches the standard library before anything else imports it.
    import locust  # noqa: F401
    from locust import clients
    from locust.contrib import fasthttp
    from locust.user import users

    from torr.locust.fitting import check

    check()
    from torr.locust.fast import FastHttpSession
    from torr.locust.session import HttpSession

    clients.HttpSession = users.HttpSession = HttpSession
    fasthttp.FastHttpSession = FastHttpSession
