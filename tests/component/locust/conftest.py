"""Loads the fixtures of these tests, after Locust.

Locust replaces the standard library's sockets when it is imported, which must come before anything
imports `ssl`. So these tests have a process of their own, in the checkout:

    python -m pytest -c tests/component/locust/pytest.ini tests/component/locust

With `-n 2` they have two, where pytest-xdist is installed.
"""

from __future__ import annotations

LONGER_THAN_ANY_TEST_S = 86_400


def pytest_sessionstart(session):
    plugins = session.config.pluginmanager
    if plugins.hasplugin("dsession"):
        return  # pytest-xdist's first process plays no scenario, and its threads need real sockets
    import locust  # noqa: F401  (first, see above)

    # isort: split

    import gevent

    plugins.import_plugin("scenarios")
    # A thread brings pytest-xdist its tests. gevent raises LoopExit where the main greenlet waits
    # for a thread and no other greenlet is left.
    gevent.spawn(gevent.sleep, LONGER_THAN_ANY_TEST_S)
