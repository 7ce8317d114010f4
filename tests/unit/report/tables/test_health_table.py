"""What health was judged by can be read."""

import typed
from page import titles
from torr.report.tables import health_table


def test_each_level_shows_what_it_was_judged_by(make_level, make_result):
    late = make_level(5, 9.0, 1.0, verdict="generator-limited")
    health = {
        "intervals": 10,
        "late_intervals": 4,
        "scheduling_lag_ms": 2.5,
        "run_queue_rate": [1.5],
    }
    health |= {"worker_cpu_rate": [40.0, 61.0], "steal_rate": 0.5}
    late = typed.patched(late, health=health)
    old = make_level(9, 9.0, 1.0)
    table = health_table.judged([late, old])
    assert table.columns[2:] == (
        *("busiest worker", "waited for a core", "hypervisor took"),
        *("judged lag", "late intervals"),
    )
    assert table.rows[0] == (
        *("5", "generator-limited", "61 % of a core", "1.5 %", "0.5 %"),
        *("2.50 ms", "4 of 10"),
    )
    assert table.rows[1][-2:] == ("–", "–")
    assert "How each level was judged" in titles(make_result("run", [late]), is_folded=True)
