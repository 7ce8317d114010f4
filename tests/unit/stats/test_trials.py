import typed
from torr.model.condition import Condition
from torr.stats.trials import Cell, by_cell, candidates, error_rate
from torr.verdicts.comparison import discard


def test_trials_are_put_in_order_by_cell_round_and_candidate(trial):
    levels = [
        trial("b", 2, 1.0),
        trial("a", 1, 2.0),
        trial("a", 1, 3.0, factors={"processes": 4}),
        trial("b", 1, 4.0),
    ]
    first, second = by_cell(levels).items()
    assert first[0].factors == {"processes": 1}
    assert {n: list(names) for n, names in first[1].items()} == {1: ["a", "b"], 2: ["b"]}
    assert second[0] == Cell.of(levels[2])
    assert candidates(levels) == ["b", "a"]


def test_the_order_of_factors_makes_no_other_cell(trial):
    one, other = ({"x": 1, "y": 2}, {"y": 2, "x": 1})
    assert Cell.of(trial("a", 1, 1.0, factors=one)) == Cell.of(trial("a", 1, 1.0, factors=other))


def test_a_trial_measured_again_stands_for_the_first(trial):
    (rounds,) = by_cell([trial("a", 1, 1.0), trial("a", 1, 5.0)]).values()
    assert rounds[1]["a"].ok_per_s == 5


def test_a_rule_takes_the_whole_round_whoever_failed(trial):
    levels = [trial(name, at, 100.0) for at in range(1, 6) for name in "ab"]
    counts = {"attempted": 1000, "ok": 900, "errors": {"read": 100}}
    for at in (2, 3, 8):
        levels[at] = typed.changed(levels[at], success_rate=90.0, counts=counts)
    (rounds,) = by_cell(levels).values()
    kept, gone = discard(rounds, Condition.parse("failures > 99"))
    assert list(kept) == [1, 3, 4]
    assert gone.rule == "failures > 99"
    assert gone.rounds == [2, 5]
    assert gone.because_of == {"a": 2, "b": 1}


def test_a_rule_that_nothing_meets_takes_nothing(trial):
    (rounds,) = by_cell([trial("a", 1, 1.0), trial("b", 1, 1.0)]).values()
    kept, gone = discard(rounds, Condition.parse("errors > 5%"))
    assert kept == rounds
    assert (gone.rounds, gone.because_of) == ([], {})


def test_error_rates_are_of_all_attempts_together(trial):
    trials = [trial("a", 1, 1.0, failed=3, attempts=10), trial("a", 2, 1.0, attempts=20)]
    assert error_rate([level.counts for level in trials]) == 10
    assert error_rate([]) is None
