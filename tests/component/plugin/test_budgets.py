"""Budgets of tests: held, broken, not to be read, without a measurement."""

from __future__ import annotations

import pytest

SOURCE = """
    import pytest
    from simulated_clock import SimulatedClock

    clock = SimulatedClock.installed()

    def operation():
        clock.advance(0.002)

    @pytest.mark.budget(ops=">400/s", p50="<2.1ms", errors="<2%")
    def test_met(measure):
        measure(operation, n=30, rounds=6)

    @pytest.mark.budget(ops=">600/s", p50="<1.9ms")
    def test_missed(measure):
        measure(operation, n=30, rounds=6)

    @pytest.mark.budget(p99="<1s")
    def test_unknown(measure):
        measure(operation, n=5, rounds=6)

    @pytest.mark.budget(ops=">400/s")
    def test_few(measure):
        measure(operation, n=30, rounds=2)

    @pytest.mark.budget(ops=">0.001/s", scale="machine")
    def test_scaled(measure):
        measure(operation, n=30, rounds=6)

    @pytest.mark.budget(ops=">100/s")
    def test_stressed(stress):
        stress(operation, threads=2, per_thread=10, rounds=6)
"""


@pytest.fixture(scope="module")
def ended(sessions, module_folder):
    return sessions.run(module_folder, SOURCE, "--torr-save", "budgets", "--torr-allow-not-shown")


def test_a_budget_that_is_surely_broken_fails_its_test(ended):
    assert (ended.code, ended.counts) == (1, {"failed": 1, "passed": 5}), ended.out
    assert "budget missed:" in ended.out
    assert "test_it.py::test_missed: ops >600/s, measured" in ended.out
    table = ended.out.partition("functions under load")[2].partition("test summary")[0]
    rows = [line for line in table.splitlines() if "::test_" in line and " >" in line]
    words = {line.split()[0].rpartition("_")[2]: line.split()[-1] for line in rows}
    assert words.pop("few") == "2"
    assert words == {"met": "met", "missed": "missed", "scaled": "met", "stressed": "met"}
    assert "not shown: p99 needs 1,000 measured times in a round, there are " in ended.out


def test_a_budget_may_be_scaled_by_the_machine(ended):
    assert "ops >0.001/s, here " in ended.out
    (scaled,) = (each for each in ended.result["budgets"] if each["scaled_by"])
    assert scaled["candidate"] == "test_it.py::test_scaled"
    assert scaled["limit"] == pytest.approx(0.001 * scaled["scaled_by"])


def test_a_budget_that_is_not_shown_fails_its_test(pytests):
    ended = pytests(SOURCE, "-k", "unknown or few or met")
    assert (ended.code, ended.counts["failed"], ended.counts["passed"]) == (1, 2, 1), ended.out
    assert ended.out.count("\nbudget not shown: ") == 2
    assert "::test_unknown: p99 <1s: not shown: p99 needs 1,000 measured times" in ended.out
    assert (
        "::test_few: ops >400/s: not shown: at least 5 rounds are needed; rounds measured: 2"
        in ended.out
    )
    assert ended.out.count("or pass it with --torr-allow-not-shown") == 2


def test_budgets_may_be_reported_only(pytests):
    ended = pytests(SOURCE, "--torr-budgets", "report")
    assert (ended.code, ended.counts) == (0, {"passed": 6})
    assert "missed" in ended.out
    assert "budget missed:" not in ended.out


def test_a_budget_that_cannot_be_read_is_named_with_its_line_before_anything_runs(pytests):
    ended = pytests(
        """
        import pytest

        @pytest.mark.budget(ops=">>1")
        def test_it(measure):
            measure(int)
        """
    )
    assert ended.code == 4
    assert "test_it.py:4: " in ended.out
    assert "ops='>>1'" in ended.out
    assert "write ops=" in ended.out


def test_a_budget_of_a_test_that_measures_nothing_fails(pytests):
    ended = pytests(
        """
        import pytest

        pytestmark = pytest.mark.budget(ops=">0.001/s")

        def test_first(): pass
        def test_fixture(measure): pass
        def test_measures(measure): measure(int, n=50, rounds=6)
        def test_behind(): pass
        def test_fixture_behind(measure): pass
        """
    )
    assert ended.counts == {"failed": 4, "passed": 1}
    assert ended.out.count("\nthe test has a budget, but no fixture of torr measured anything") == 4
