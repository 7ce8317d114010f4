"""What decides the rows of benches/micro, on figures whose answer is known."""

from __future__ import annotations

import json

import pytest

from common.table import keep, line
from micro import agreement, comparing, emptiness, leaving, starting, tools
from micro.functions import FUNCTIONS
from micro.row import FULL, QUICK, Effort, Finding, Row, measured, stolen
from micro.rows import ROWS
from torr.procfs.totals import Core


def test_each_way_must_leave_little():
    rounds = [{"batches": 12.0, "single": 29.0}, {"batches": 90.0, "single": 31.0}]
    rounds += [{"batches": 14.0, "single": 30.0}]
    assert emptiness.medians(rounds) == {"batches": 14.0, "single": 30.0}
    assert emptiness.is_little({"batches": 14.0, "single": 30.0})
    assert not emptiness.is_little({"batches": 14.0, "single": 30.1})


def test_torr_must_lie_within_the_range_of_the_others():
    torr = [{"f": 100.0}, {"f": 140.0}, {"f": 104.0}]
    others = {"one": [{"f": 103.0}, {"f": 106.0}], "other": [{"f": 110.0}, {"f": 120.0}]}
    (place,) = agreement.places(torr, 5.0, others)
    assert place == agreement.Place("f", 104.0, 109.0, 103.0, 120.0)
    assert place.is_within
    assert place.words() == "f 104 ns (103 ns–120 ns)"


def test_a_loops_turn_is_told_where_torr_is_out_of_the_range():
    place = agreement.Place("f", 100.0, 105.0, 103.0, 120.0)
    assert not place.is_within
    assert place.words() == "f 100 ns (103 ns–120 ns) **out**, within with the loop's turn 105 ns"
    assert "out with the loop's turn" in agreement.Place("f", 10, 15, 20, 30).words()


def test_a_tool_that_is_missing_leaves_the_row_open(tmp_path, monkeypatch):
    monkeypatch.setattr(tools, "ROOT", tmp_path)
    monkeypatch.setattr(tools, "VENVS", tmp_path / "python")
    found = agreement.measure(QUICK)
    assert found.within is None
    assert list(found.words) == [
        f"no python/{name}/bin/python: scripts/bench-tools.sh --python {name} installs it"
        for name in ("pytest-benchmark", "pyperf")
    ]


def test_what_other_tools_wrote_is_read_in_nanoseconds():
    said = {"benchmarks": [{"extra_info": {"name": "f"}, "stats": {"median": 2e-6}}]}
    assert tools.of_pytest_benchmark(said) == {"f": pytest.approx(2_000)}
    runs = [{"warmups": [[1, 9.0]]}, {"values": [1e-6, 3e-6]}, {"values": [2e-6]}]
    said = {"benchmarks": [{"metadata": {"name": "f"}, "runs": runs}]}
    assert tools.of_pyperf(said) == {"f": pytest.approx(2_000)}


def test_comparisons_that_were_not_measured_are_drawn():
    words = {"better": 2, "worse": 1, "same": 15, "inconclusive": 2}
    assert comparing.had_a_word(words, [True] * 4 + [False] * 996) == 7
    assert comparing.had_a_word({"better": 2, "same": 198}, [True] * 1_000) == 2


def test_a_slower_function_must_be_found_where_rounds_are_alike():
    nine, eight = ["worse"] * 9 + ["same"], ["worse"] * 8 + ["inconclusive"] * 2
    assert comparing.judged(nine, 4.0)[0] is True
    assert comparing.judged(nine, 9.0)[0] is True
    assert comparing.judged(eight, 4.0)[0] is False
    assert comparing.judged(eight, 9.0)[0] is None
    assert comparing.judged(["worse"] * 9 + ["better"], 9.0)[0] is False


def test_every_leak_is_found_and_no_other():
    clean = {f"clean {number}": ["no growth", "growth that ends"] for number in range(20)}
    leaky = {"leak": ["growth that goes on"] * 2}
    within, words = leaving.judged(clean, leaky)
    assert within
    assert words == [
        "2 of 2 leaks found in 1 functions",
        "0 alarms in 40 watches of 20 clean functions",
    ]
    assert leaving.judged({**clean, "clean 3": ["growth that goes on"]}, leaky)[1][-1] == (
        "**false**: clean 3"
    )
    assert leaving.judged(clean, {"leak": ["growth that goes on", "no growth"]})[1][-1] == (
        "**missed**: leak"
    )
    assert not leaving.judged({"few": ["no growth"]}, leaky)[0]


def test_a_start_is_judged_by_the_interval_of_what_its_pairs_add():
    assert starting.added([(300.0, 304.0), (500.0, 380.0)]) == [4.0, -120.0]
    assert starting.is_little(-2.0, 9.5) is True
    assert starting.is_little(10.5, 20.0) is False
    assert starting.is_little(-200.0, 74.0) is None
    assert starting.is_little(9.0, 11.0) is None


def test_stolen_time_is_a_share_of_all_cores():
    before = [Core(idle=100), Core(idle=100, steal=10)]
    after = [Core(idle=150), Core(idle=130, steal=30)]
    assert stolen(before, after) == 20.0
    assert stolen(before, before) == 0.0


def test_a_row_keeps_what_the_machine_did_beside_it():
    row = Row("it", "≤ 1", lambda effort: Finding(None, [f"{effort.rounds} rounds"], {"x": 1}))
    found = measured(row, Effort(3, 0, 0, 0, 0))
    assert (found.within, found.kept) == (None, {"x": 1})
    assert found.note.startswith("3 rounds, load ")


@pytest.mark.parametrize(
    ("within", "word"), [(True, "yes"), (False, "**no**"), (None, "not shown")]
)
def test_a_table_says_whether_a_row_meets_its_bar(tmp_path, within, word):
    row = {"name": "it", "bar": "≤ 1", "within": within, "note": "2"}
    assert line(row) == f"| it | ≤ 1 | {word} | 2 |"
    keep({"rows": [row]}, tmp_path / "run.json", "row")
    assert json.loads((tmp_path / "run.json").read_text()) == {"rows": [row]}
    assert (tmp_path / "run.md").read_text().splitlines()[0] == "| row | bar | met | found |"


def test_what_is_timed_can_be_called():
    assert len(FUNCTIONS) == 5
    for timed in FUNCTIONS.values():
        assert timed.call() is not None


def test_rows_tell_themselves_apart_and_a_whole_run_measures_what_its_bars_ask_for():
    assert len({row.name for row in ROWS}) == len(ROWS) == 6
    assert FULL.same == 200
    assert FULL.slower == 10
    assert FULL.rounds >= 5
    assert QUICK.same >= 20
