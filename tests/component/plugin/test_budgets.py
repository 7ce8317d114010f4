"""Budgets of tests: held, broken, not to be read, without a measurement."""

from __future__ import annotations

import pytest

BUDGETS = """
    import pytest, time

    def sleeps():
        time.sleep(0.002)

    @pytest.mark.budget(ops=">10/s", p50="<1s", errors="<1%")
    def test_met(measure):
        measure(sleeps, n=30, rounds=6)

    @pytest.mark.budget(ops=">100k/s", p50="<0.1ms")
    def test_missed(measure):
        measure(sleeps, n=30, rounds=6)

    @pytest.mark.budget(p99="<1s")
    def test_untold(measure):
        measure(sleeps, n=5, rounds=6)
"""


def test_a_budget_that_is_surely_broken_fails_its_test(pytests):
    ended = pytests(BUDGETS)
    assert (ended.code, ended.counts) == (1, {"failed": 1, "passed": 2})
    assert "budget missed:" in ended.out
    assert "test_it.py::test_missed: ops >100k/s, measured" in ended.out
    rows = [line for line in ended.out.splitlines() if "::test_" in line and " >" in line]
    words = {line.split()[0].rpartition("_")[2]: line.split()[-1] for line in rows}
    assert words["met"] == "met"
    assert words["missed"] == "missed"
    assert "cannot be told: too few operations for p99" in ended.out


def test_budgets_may_be_reported_only(pytests):
    ended = pytests(BUDGETS, "--torr-budgets", "report")
    assert (ended.code, ended.counts) == (0, {"passed": 3})
    assert "missed" in ended.out


@pytest.mark.parametrize(
    ("marks", "message"),
    [
        ('ops=">>1"', "ops='>>1'"),
        ('p99="fast"', "p99='fast'"),
        ('speed="<1ms"', "speed='<1ms'"),
        ("ops=1000", "ops=1000 is no text"),
        ('ops=">1", scale="laptop"', "scale='laptop' is no scale"),
        ('scale="machine"', "a budget without a limit"),
        ('">1k/s"', "limits have names"),
        ('ttft_p50="<1ms"', "is no budget of a function"),
        ('errors_timeout="<1%"', "is no budget of a function"),
    ],
)
def test_a_budget_that_cannot_be_read_is_named_with_its_line(pytests, marks, message):
    ended = pytests(
        f"""
        import pytest

        @pytest.mark.budget({marks})
        def test_it(measure):
            measure(int)
        """
    )
    assert ended.code == 4
    assert "test_it.py:4: " in ended.out
    assert message in ended.out
    assert "write ops=" in ended.out


MEASURES = "def test_before(measure): measure(int, n=50, rounds=1)"


@pytest.mark.parametrize("arguments", ["measure", ""])
@pytest.mark.parametrize("before", ["", MEASURES])
def test_a_budget_of_a_test_that_measures_nothing_fails(pytests, before, arguments):
    ended = pytests(
        f"""
        import pytest

        {before}

        @pytest.mark.budget(ops=">1/s")
        def test_it({arguments}):
            pass
        """
    )
    assert ended.counts == {"failed": 1, **({"passed": 1} if before else {})}
    assert "it has a budget, and measured nothing" in ended.out


def test_a_budget_may_be_scaled_by_the_machine(pytests):
    ended = pytests(
        """
        import pytest

        @pytest.mark.budget(ops=">1/s", scale="machine")
        def test_it(measure):
            measure(lambda: sorted(range(100)), n=100, rounds=6)
        """,
        *("--torr-save", "scaled"),
    )
    assert ended.code == 0
    assert "ops >1/s, here " in ended.out
    found = ended.result
    (budget,) = found["budgets"]
    assert budget["limit"] == pytest.approx(budget["scaled_by"])
