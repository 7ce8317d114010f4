"""Import Locust, then load the fixtures of these tests.

Locust replaces the standard library's sockets when it is imported, which must come before anything
imports `ssl`. So these tests have a process of their own, in the checkout:

    python -m pytest -c tests/component/locust/pytest.ini tests/component/locust

With `-n 2` they run in two processes, if pytest-xdist is installed.
"""

from __future__ import annotations

LONGER_THAN_ANY_TEST_S = 86_400


def pytest_sessionstart(session):
    plugins = session.config.pluginmanager
    if plugins.hasplugin("dsession"):
        return  # pytest-xdist's controller runs no scenario, and its threads need real sockets
    import locust  # noqa: F401  (first, see above)

    # isort: split

    import gevent

    plugins.import_plugin("scenarios")
    # A worker of pytest-xdist receives its tests in a thread. gevent raises LoopExit if the main
    # greenlet waits for a thread and there is no other greenlet.
    gevent.spawn(gevent.sleep, LONGER_THAN_ANY_TEST_S)
