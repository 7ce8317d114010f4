"""The pytest plugin `torr`: fixtures that measure, stress and compare functions, and their budgets.

Every pytest of an environment that has torr loads it, so nothing but this module is imported until
a test uses a fixture.

    @pytest.mark.budget(ops=">10k/s", p99="<1ms")
    def test_put(measure):
        cache = MemoryCache()
        measure(lambda key: cache.put(key, 1), n=10_000, inputs=str)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torr.plugin.fixtures import Compare, Leaks, Measure, Stress
    from torr.plugin.session import MeasurementSession

_MARK = "budget"
_CHECKED = ("torr_rounds", "torr_save", "torr_compare", "torr_profile")
_CHANGES = "torr_fail_if"
_KEY: pytest.StashKey[MeasurementSession] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add torr's options, each with its prefix."""
    group = parser.getgroup("torr", "functions under load (torr)")
    group.addoption("--torr-save", metavar="NAME", help="store the measured functions as a run")
    group.addoption(
        "--torr-compare", metavar="NAME", help="compare with the newest stored run of this name"
    )
    group.addoption(
        "--torr-fail-if",
        action="append",
        default=[],
        metavar="CHANGE",
        help="fail unless this is ruled out: 'p50 > +10%%', 'ops < -5%%' (repeatable)",
    )
    group.addoption(
        "--torr-allow-not-shown",
        action="store_true",
        help="pass budgets and limits of --torr-fail-if with the verdict 'not shown'",
    )
    group.addoption(
        "--torr-budgets",
        choices=["fail", "report"],
        default="fail",
        help="fail a test whose budget is not met, or only report it; leaks always fail [fail]",
    )
    group.addoption(
        "--torr-rounds", type=int, metavar="N", help="measure each function in N rounds"
    )
    group.addoption(
        "--torr-profile",
        choices=["cpu", "memory", "lines"],
        help="then profile each function that `measure` measured",
    )
    group.addoption(
        "--torr-dir",
        metavar="DIR",
        default="_output/torr",
        help="write runs below this directory [_output/torr]",
    )
    group.addoption(
        "--torr-tag",
        action="append",
        default=[],
        metavar="TAG",
        help="tag the run (repeatable)",
    )
    group.addoption("--torr-note", metavar="TEXT", help="store a note with the run")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, and check torr's options before any test runs."""
    if any(config.getoption(name) is not None for name in _CHECKED) or config.getoption(_CHANGES):
        from torr.plugin.option_checks import check

        check(config)
    config.addinivalue_line(
        "markers",
        f'{_MARK}(ops=">10k/s", p50="<0.1ms", p99="<1ms", errors="<1%", scale="machine"): limits of'
        " the results of the fixture measure or stress (torr)",
    )


def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    """Read all budgets before any test runs; an invalid one is reported with its line."""
    marked = [item for item in items if item.get_closest_marker(_MARK)]
    if marked:
        from torr.plugin.budgets import check

        check(marked)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Begin a test, of which plugins may make several attempts."""
    session = item.config.stash.get(_KEY, None)
    if session is not None:
        session.begin(item)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Iterator[None]:
    """Judge a test's budgets once it has run."""
    result = yield
    session = pyfuncitem.config.stash.get(_KEY, None)
    if session is not None:
        session.judge(pyfuncitem)
    elif pyfuncitem.get_closest_marker(_MARK) is not None:
        from torr.plugin.budgets import fail_unmeasured

        fail_unmeasured()
    return result


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:  # noqa: ANN401
    """Print the measurements, if there are any."""
    session = config.stash.get(_KEY, None)
    if session is not None:
        session.summarise(terminalreporter)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Compare the measurements with an earlier run and store them, if the options say so."""
    config = session.config
    is_worker = hasattr(config, "workerinput")
    if config.getoption("torr_fail_if") and not config.option.collectonly and not is_worker:
        _session_of(config)  # Limits also fail if nothing was measured.
    measured = config.stash.get(_KEY, None)
    if measured is not None:
        measured.finish(session)


@pytest.fixture
def measure(request: pytest.FixtureRequest) -> Measure:
    """Time a function in one thread: `measure(fn, n=…)`."""
    from torr.plugin.fixtures import Measure

    return Measure(_session(request), request.node)


@pytest.fixture
def stress(request: pytest.FixtureRequest) -> Stress:
    """Run a function in threads that start together: `stress(fn, threads=…, each=…)`."""
    from torr.plugin.fixtures import Stress

    return Stress(_session(request), request.node)


@pytest.fixture
def leaks(request: pytest.FixtureRequest) -> Leaks:
    """Test whether a function leaks: `leaks(fn, n=…, max_growth=…)`."""
    from torr.plugin.fixtures import Leaks

    return Leaks(_session(request), request.node)


@pytest.fixture
def compare_functions(request: pytest.FixtureRequest) -> Compare:
    """Measure functions in interleaved rounds: `compare_functions(old=f, new=g)`."""
    from torr.plugin.fixtures import Compare

    return Compare(_session(request), request.node)


def _session(request: pytest.FixtureRequest) -> MeasurementSession:
    return _session_of(request.config)


def _session_of(config: pytest.Config) -> MeasurementSession:
    """Return the session of this pytest; raise UsageError in a worker of pytest-xdist."""
    from torr.plugin.session import MeasurementSession

    if _KEY not in config.stash:
        config.stash[_KEY] = MeasurementSession(config)
    return config.stash[_KEY]
