import pytest

from versus import report
from versus.bars import Limit, judge
from versus.lag import _by_the_log
from versus.lateness import SETTLED_S


def shot(tool, number, cost):
    figures = {"cpu_us": cost, "per_s": 1000.0, "client_core": 0.5, "target_core": 0.9, "failed": 0}
    return {"tool": tool, "round": number, **figures}


def row(name, *bars, shots=(), left_out=None):
    kept = [bar.kept() for bar in bars]
    about = f"about {name}"
    return {
        "name": name, "about": about, "took_s": 1.0,
        "bars": kept, "shots": list(shots), "left_out": left_out or {},
    }  # fmt: skip


HELD = judge("torr ÷ wrk", [0.7], Limit(0.8))
MISSED = judge("torr ÷ bare", [1.38], Limit(1.15))


def test_the_summary_counts_bars_and_names_those_that_were_missed():
    kept = {"rows": [row("small-64", HELD, MISSED)]}
    assert report.summary(kept) == "1 of 2 bars hold. Missed: small-64 torr ÷ bare by 20%."


def test_what_torr_cannot_do_yet_is_not_passed_over():
    kept = {
        "rows": [row("small-64", HELD), row("templates", left_out={"torr-templates": "no flag"})]
    }
    assert report.summary(kept) == "1 of 1 bars hold. Not measured: templates (no flag)."


def test_a_tool_that_is_left_out_is_not_a_bar_of_torrs():
    kept = {"rows": [row("small-64", HELD, left_out={"k6": "not installed"})]}
    assert report.not_measured(kept) == []
    assert "left out: k6 (not installed)" in report.row(kept["rows"][0])


def test_tools_stand_cheapest_first_by_their_median():
    shots = [shot("wrk", 0, 8), shot("torr", 0, 9), shot("wrk", 1, 9), shot("torr", 1, 5)]
    shots += [shot("wrk", 2, 8), shot("torr", 2, 5)]
    one = row("small-64", shots=shots)
    assert report.names(one) == ["torr", "wrk"]
    assert "| torr | 5.00 µs | 5.00 … 9.00 | 1,000 | 50% | 90% | 0 |" in report.tools(one)


def test_a_row_that_compares_no_tools_has_no_table_of_them():
    one = row("memory", HELD, shots=[{"round": 0, "each": 400}])
    assert report.names(one) == []
    assert "CPU a request" not in report.row(one)


@pytest.mark.parametrize(
    ("value", "text"), [(1024, "1,024"), (0.7512, "0.751"), (99.94, "99.9"), (151.4, "151")]
)
def test_figures_have_three_digits_and_no_exponents(value, text):
    assert report.number(value) == text


def test_a_shot_at_a_constant_rate_is_counted_by_the_log():
    stamps = [number * 1_000_000 for number in range(2001)]
    kept = {"seconds": 2.0, "cpu_s": 0.2, "target_cpu_s": 0.1}
    found = _by_the_log(stamps, 1000, kept)
    assert found["requests"] == found["target_requests"] == 2001
    assert found["cpu_us"] == pytest.approx(100, rel=0.001)
    assert found["target_core"] == pytest.approx(0.05)
    assert found["arrivals"] == 2001 - SETTLED_S * 1000
    assert found["p99_us"] == 0
