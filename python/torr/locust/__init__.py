"""Locustfiles, unchanged, on torr's client: `install()` puts it in the place of Locust's own.

`torr locust ARGS…` does the same, runs the real Locust with those arguments, and keeps what it
did as a run.
"""

from __future__ import annotations


def install() -> None:
    """Swap the HTTP clients of the installed Locust in this process; again does nothing."""
    import locust  # noqa: F401 - gevent patches before anything else imports ssl
