"""Which trials are made, in which order, and which are not made again."""

from __future__ import annotations

from dataclasses import replace

import pytest

import typed
from doubles import Truth, measured_level
from torr.experiments import matrix as matrices
from torr.experiments.context import RunContext
from torr.experiments.interrupt import Interrupt
from torr.experiments.matrix import Matrix, MatrixRun
from torr.experiments.trial import ComparisonState
from torr.results.experiment import GivenUp
from torr.results.result import RunHead, TrialFailure
from torr.servers.command import Command
from torr.servers.expectation import Expectation
from torr.sources.candidate_entry import Candidate
from torr.stats.trials import Cell
from torr.store.rundir import RunDirectory
from torr.verdicts.comparison import Procedure
from torr.verdicts.conclusions import of_trials

RATES = {"a": 1000.0, "b": 1200.0}


@pytest.fixture
def directory(tmp_path):
    with RunDirectory.create(tmp_path, "matrix", RunHead(kind="compare")) as run:
        yield run


def matrix(rounds=(6,), cells=({},), names=("a", "b")):
    candidates = [
        Candidate(name, Command(("serve",), "http://127.0.0.1:{port}/", name), Expectation(), {}, 1)
        for name in names
    ]
    return Matrix(candidates, cells, tuple(rounds), None, "a", Procedure(), seed=7)


class Bench:
    """Stands for the servers: what was made, and how each trial of a candidate ends."""

    def __init__(self, monkeypatch, directory, ok=lambda _trial: True, rate=None):
        self.made = []
        self.context = RunContext(directory, interrupt=Interrupt())
        self.ok = ok
        self.rate = rate or (lambda trial: RATES[trial.candidate.name] + trial.round)
        monkeypatch.setattr(matrices, "run_trial", self._made)

    def run(self, matrix):
        self.state = ComparisonState(matrix.count)
        return MatrixRun(matrix, self.context, self.state).run()

    def kept(self):
        return [made for made in self.made if made[2]]

    def _made(self, trial, _plan_of, context, _state):
        self.made.append((trial.candidate.name, trial.factors.get("n"), trial.round))
        if not trial.round:
            return True
        name, factors, number = trial.candidate.name, trial.factors, trial.round
        place = {"candidate": name, "factors": factors, "round": number}
        if not self.ok(trial):
            failure = TrialFailure(**place, kind="died", text="it ended")
            context.directory.keep_failure(failure)
            return False
        truth = Truth(ok_per_s=self.rate(trial))
        context.directory.keep_level(measured_level(50, truth, **place))
        return True


@pytest.fixture
def bench(monkeypatch, directory):
    def made(**settings):
        return Bench(monkeypatch, directory, **settings)

    return made


def test_every_round_has_every_candidate_once_and_an_uncounted_one_comes_before(bench):
    desk = bench()
    desk.run(matrix(cells=({"n": 1}, {"n": 2})))
    for cell in (1, 2):
        rounds = [(name, number) for name, n, number in desk.made if n == cell]
        assert [number for _, number in rounds] == [x for x in range(7) for _ in "ab"]
        assert all({name for name, each in rounds if each == x} == {"a", "b"} for x in range(7))


def test_each_candidate_goes_first_as_often_as_the_other(bench):
    desk = bench()
    desk.run(matrix())
    firsts = [name for name, _, _ in desk.kept()[::2]]
    assert (firsts.count("a"), firsts.count("b")) == (3, 3)


def test_the_same_seed_gives_the_same_order():
    orders = [matrix(rounds=(40,)).order(0) for _ in range(2)]
    assert orders[0] == orders[1]
    assert replace(matrix(rounds=(40,)), seed=8).order(0) != orders[0]


def test_what_is_kept_is_not_made_again(bench):
    first = bench()
    stopped = first.context.interrupt
    first.ok = lambda _trial: len(first.made) < 9 or stopped.press() is None
    assert first.run(matrix()).interrupted
    again = bench()
    again.run(matrix())
    made = [*first.kept(), *again.kept()]
    assert sorted(made) == sorted(set(made))
    assert len(made) == 12
    assert [number for _, _, number in again.made[:2]] == [0, 0]


def test_a_round_that_was_made_in_two_parts_is_named(bench):
    first = bench()
    first.ok = lambda _trial: len(first.made) < 9 or first.context.interrupt.press() is None
    first.run(matrix(cells=({"n": 1},)))
    again = bench()
    again.run(matrix(cells=({"n": 1},)))
    (note,) = again.state.notes
    assert note.startswith("Round 4 at n 1 began before the comparison was interrupted")
    assert again.state.trials_made == 7
    whole = bench()
    whole.run(matrix(cells=({"n": 1},)))
    assert not whole.state.notes


def test_who_was_given_up_stays_so_when_the_matrix_goes_on(bench):
    first = bench(ok=lambda trial: trial.candidate.name == "a" or trial.factors["n"] == 2)
    first.run(matrix(rounds=(3,), cells=({"n": 1}, {"n": 2})))
    again = bench(ok=lambda trial: trial.candidate.name == "a" or trial.factors["n"] == 2)
    again.run(matrix(cells=({"n": 1}, {"n": 2})))
    assert ("b", 1) not in {made[:2] for made in again.kept()}
    assert again.state.given_up == first.state.given_up
    assert not again.state.notes


def test_all_cells_are_looked_at_before_any_goes_on(bench, monkeypatch):
    found = []

    def unsettled(levels, *_more, **_gone):
        found.append({(x.factors["n"], x.round) for x in levels})
        return {Cell.of(level) for level in levels}

    monkeypatch.setattr(matrices, "unsettled", unsettled)
    bench().run(matrix(rounds=(2, 4), cells=({"n": 1}, {"n": 2})))
    assert found == [{(n, number) for n in (1, 2) for number in (1, 2)}]


def test_what_was_cut_short_is_made_again(bench):
    first = bench()
    first.run(matrix(rounds=(2,)))
    directory = first.context.directory
    directory.replace_level(typed.changed(directory.levels[-1], cut_short=True))
    again = bench()
    again.run(matrix(rounds=(2,)))
    assert len(again.kept()) == 1
    assert again.kept() == first.kept()[-1:]


def test_what_was_cut_short_is_made_again_although_its_server_ended_badly(bench):
    first = bench()
    first.run(matrix(rounds=(2,)))
    directory = first.context.directory
    last = directory.levels[-1]
    directory.replace_level(typed.changed(last, cut_short=True))
    directory.keep_failure(
        TrialFailure(
            candidate=last.candidate,
            factors=last.factors,
            round=last.round,
            kind="bad_end",
            text="exit code 1",
            measured=True,
        )
    )
    again = bench()
    again.run(matrix(rounds=(2,)))
    assert again.kept() == first.kept()[-1:]


def test_a_candidate_that_fails_twice_in_a_row_in_a_cell_is_given_up_there(bench):
    desk = bench(ok=lambda trial: trial.candidate.name == "a" or trial.factors["n"] == 2)
    desk.run(matrix(cells=({"n": 1}, {"n": 2})))
    made = [(n, number) for name, n, number in desk.kept() if name == "b"]
    assert [number for n, number in made if n == 1] == [1, 2]
    assert [number for n, number in made if n == 2] == [1, 2, 3, 4, 5, 6]
    assert len(desk.context.directory.failures) == 2
    assert desk.state.given_up == [GivenUp(candidate="b", factors={"n": 1}, failures=2)]


def test_verdicts_say_who_was_given_up_while_the_matrix_goes_on_too(bench):
    rounds = matrix(cells=({"n": 1},))
    desk = bench(ok=lambda trial: trial.candidate.name == "a" or trial.round < 2)
    desk.run(rounds)
    levels, given_up = desk.context.directory.levels, desk.state.given_up
    found = of_trials(levels, rounds.baseline, rounds.procedure, (), given_up).verdicts
    assert found[0].reason == "b was given up after 2 failures in a row"


def test_one_failure_between_others_gives_nobody_up(bench):
    desk = bench(ok=lambda trial: trial.round % 2 == 0)
    desk.run(matrix())
    assert len(desk.kept()) == 12


def test_settled_cells_end_and_others_go_on(bench):
    def rate(trial):
        if trial.factors["n"] == 1 or trial.candidate.name == "a":
            return RATES[trial.candidate.name]
        return 1000.0 + (60 if trial.round % 2 else -50)

    desk = bench(rate=rate)
    desk.run(matrix(rounds=(10, 20, 40), cells=({"n": 1}, {"n": 2})))
    rounds = {n: max(number for _, each, number in desk.made if each == n) for n in (1, 2)}
    assert rounds[1] == 10
    assert rounds[2] in (20, 40)


def test_ctrl_c_ends_it_with_what_is_kept(bench):
    desk = bench()
    desk.context.interrupt.press()
    outcome = desk.run(matrix())
    assert outcome.interrupted
    assert desk.made == []
