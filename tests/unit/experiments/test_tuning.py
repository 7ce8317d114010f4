"""Which trials a tuning makes, what it does without the default, and how it goes on."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from msgspec import structs

from doubles import Truth, measured_level
from torr.errors import NothingMeasuredError
from torr.experiments import tuning as tunings
from torr.experiments.context import ExperimentListener, RunContext
from torr.experiments.interrupt import Interrupt
from torr.experiments.trial import ComparisonState
from torr.experiments.tuning import DefaultAnswers, SettingTrials, TuneRun
from torr.experiments.tuning_time import TuningTime
from torr.messages.message import message
from torr.model.condition import Condition
from torr.results.monitor import MonitorSeries
from torr.results.result import RunHead, TrialFailure
from torr.results.tuning import TrialPlace
from torr.servers.answer import ResponseDigest
from torr.servers.command import Command
from torr.servers.expectation import Expectation
from torr.servers.failure import TrialError
from torr.sources.candidate_entry import Candidate
from torr.stats.metric import Metric
from torr.store.rundir import RunDirectory
from torr.tuning.budget import TuneBudget
from torr.tuning.measured import TrialReader
from torr.tuning.procedure import TuneProcedure

SETTINGS = [{"n": number} for number in range(6)]
DEFAULT = 2
SERVER = Candidate(
    "api", Command(("serve",), "http://127.0.0.1:{port}/", "api"), Expectation(), {}, 1
)
PROCEDURE = TuneProcedure(DEFAULT, TuneBudget(len(SETTINGS), 40, (10, 20)))


class Killed(BaseException):
    """Stands for the end of the process."""


class Clock:
    """Stands for the clock: each trial takes so many seconds."""

    def __init__(self, seconds):
        self.now, self.seconds = 0.0, seconds

    def monotonic(self):
        return self.now


class Noting(ExperimentListener):
    def __init__(self, notes):
        self.notes = notes

    def noted(self, note):
        self.notes.append(str(note))


class Servers:
    """Stand for the servers: which trials were made, and how each one ends."""

    def __init__(self, monkeypatch, folder):
        self.made, self.tried = [], 0
        self.most = 10**9
        self.dies_before_the_monitor = self.is_server_dead = False
        self.fails = lambda _trial: None
        self.default_error = None
        self.default_level = measured_level(50, Truth(ok_per_s=40.0))
        self.notes, self.slos = [], ()
        self.folder = folder
        self.interrupt = Interrupt()
        self.clock, self.budget_s, self.looks = Clock(1.0), None, []
        monkeypatch.setattr(tunings, "time", self.clock)
        monkeypatch.setattr(tunings, "run_trial", self._trial)
        monkeypatch.setattr(tunings, "run_protocol", self._default)

    def run(self, directory=None):
        directory = directory or RunDirectory.create(self.folder, "t", RunHead(kind="tune"))
        reader = TrialReader(Metric("ok_per_s"), self.slos)
        trials = SettingTrials(SETTINGS, DEFAULT, lambda _setting: SERVER, None, reader)
        context = RunContext(directory, Noting(self.notes), self.interrupt)
        state = ComparisonState(0)
        spent = TuningTime(self.budget_s, self.looks.append, self.clock.monotonic)
        run = TuneRun(trials, self._procedure, context, state, spent)
        with directory:
            self.outcome = run.run()
        self.trials = reader.trials(directory.levels, directory.failures)
        self.failures = directory.failures
        looks = self.looks[-1] if self.looks else PROCEDURE.budget.looks
        budget = replace(PROCEDURE.budget, looks=looks)
        return replace(PROCEDURE, budget=budget).replay(self.trials)

    def _procedure(self, trial_s):
        self.trial_s = trial_s
        return PROCEDURE

    def _default(self, trial, _plan_of, _context, _state, around):
        assert (trial.round, trial.factors) == (0, SETTINGS[DEFAULT])
        self.tried += 1
        self.clock.now += 1.0
        around(None, lambda: self.default_level)
        if self.default_error is not None:
            raise self.default_error

    def _trial(self, trial, _plan_of, context, _state):
        self.made.append(trial.place)
        self.clock.now += self.clock.seconds
        if len(self.made) > self.most:
            raise Killed
        assert SETTINGS[trial.place.setting] == trial.factors
        kind = self.fails(trial)
        if kind is not None:
            failure = TrialFailure(
                candidate="api", round=trial.round, place=trial.place, kind=kind, text="it ended"
            )
            context.directory.keep_failure(failure)
            return
        noise = Random(f"{trial.place}").gauss(1.0, 0.02)
        truth = Truth(ok_per_s=(1000.0 + 100 * trial.factors["n"]) * noise)
        level = measured_level(50, truth, candidate="api", factors=trial.factors, round=trial.round)
        level = structs.replace(level, place=trial.place)
        context.directory.keep_level(level)
        if len(self.made) == self.most and self.dies_before_the_monitor:
            if self.is_server_dead:
                died = TrialFailure(
                    candidate="api",
                    round=trial.round,
                    place=trial.place,
                    measured=True,
                    kind="died",
                    text="it ended",
                )
                context.directory.keep_failure(died)
            raise Killed
        context.directory.replace_level(structs.replace(level, monitor=MonitorSeries()))


@pytest.fixture
def servers(monkeypatch, tmp_path):
    def made():
        return Servers(monkeypatch, tmp_path)

    return made


def test_the_best_settings_become_finalists_and_every_trial_is_kept(servers):
    bench = servers()
    replay = bench.run()
    assert replay.findings.finalists == (5, 4, 3)
    assert replay.following is None
    assert (replay.findings.verdict.recommended, bench.outcome.status) == (5, "complete")
    assert set(bench.trials) == set(bench.made)
    assert bench.tried == 2


@pytest.mark.parametrize(
    ("budget_s", "seconds", "looks"),
    [
        (None, 1.0, []),
        # 2 trials of the default, 40 of the search, 80 of the fresh rounds.
        (123, 1.0, [(10, 20)]),
        (120, 1.0, [(10,)]),
        (123, 1.5, [(10,)]),
        (10, 1.0, [(10,)]),
    ],
)
def test_looks_for_which_there_is_no_time_are_left_out(servers, budget_s, seconds, looks):
    bench = servers()
    bench.budget_s, bench.clock.seconds = budget_s, seconds
    replay = bench.run()
    assert bench.looks == looks
    assert replay.following is None
    assert replay.findings.verdict.rounds <= (looks[-1] if looks else (20,))[-1]


def test_a_tuning_that_goes_on_in_its_fresh_rounds_keeps_its_looks(servers):
    first = servers()
    first.most, first.budget_s = 45, 1000
    directory = RunDirectory.create(first.folder, "late", RunHead(kind="tune"))
    with pytest.raises(Killed):
        first.run(directory)
    assert first.looks == [(10, 20)]
    again = servers()
    again.budget_s = 1
    again.run(RunDirectory.reopen(directory.path))
    assert again.looks == []


def test_too_few_responses_of_the_default_are_said_before_the_search(servers):
    bench = servers()
    bench.slos = tuple(map(Condition.parse, ["p99 < 1s", "p95 < 1s", "errors < 1%"]))
    bench.run()
    assert bench.notes == [
        "p99 < 1s needs 1,000 responses in a trial, which has about 400: duration = '28s' would do"
    ]


def test_a_default_that_does_not_start_ends_the_tuning(servers):
    bench = servers()
    bench.default_error = TrialError("not_ready", "api", message("a", "no response in 30 s"))
    with pytest.raises(TrialError):
        bench.run()
    assert bench.made == []


@pytest.mark.parametrize("kind", ["left_behind", "did_not_stop", "bad_end"])
def test_what_a_default_does_after_its_load_does_not_end_the_tuning(servers, kind):
    bench = servers()
    bench.default_error = TrialError(kind, "api", message("a", "a file"))
    assert bench.run().following is None


def test_settings_that_fail_twice_are_out_with_the_reason(servers):
    bench = servers()
    bench.fails = lambda trial: "died" if trial.factors["n"] == 5 else None
    findings = bench.run().findings
    assert findings.finalists == (4, 3, 1)
    assert [(out.setting, out.problem, str(out.why)) for out in findings.out] == [
        (5, "died", "it ended")
    ]


@pytest.mark.parametrize("seed", range(10))
def test_a_tuning_that_was_killed_goes_on_to_the_same_end(servers, seed):
    whole = servers()
    expected = whole.run()
    killed = servers()
    killed.most = Random(seed).randrange(len(whole.made))
    directory = RunDirectory.create(killed.folder, f"killed{seed}", RunHead(kind="tune"))
    with pytest.raises(Killed):
        killed.run(directory)
    again = servers()
    if killed.most:
        directory = RunDirectory.reopen(directory.path)
    replay = again.run(directory if killed.most else None)
    assert again.made == whole.made[killed.most :]
    assert replay == expected


def test_a_trial_whose_server_was_not_checked_is_repeated(servers):
    whole = servers()
    whole.run()
    killed = servers()
    killed.most, killed.dies_before_the_monitor = 9, True
    directory = RunDirectory.create(killed.folder, "unchecked", RunHead(kind="tune"))
    with pytest.raises(Killed):
        killed.run(directory)
    again = servers()
    again.run(RunDirectory.reopen(directory.path))
    assert again.made == whole.made[8:]


def test_a_last_trial_whose_server_was_found_to_have_died_is_not_repeated(servers):
    whole = servers()
    whole.run()
    killed = servers()
    killed.most, killed.dies_before_the_monitor, killed.is_server_dead = 9, True, True
    directory = RunDirectory.create(killed.folder, "died", RunHead(kind="tune"))
    with pytest.raises(Killed):
        killed.run(directory)
    again = servers()
    again.run(RunDirectory.reopen(directory.path))
    assert killed.made[-1] not in again.made


@pytest.mark.parametrize(
    ("truth", "why"),
    [
        (Truth(ok_per_s=0.0, errors={"connect": 9}), "no request succeeded"),
        (Truth(ok_per_s=40.0, health="generator-limited"), "the generator was the limit"),
    ],
)
def test_a_default_without_a_number_ends_the_tuning(servers, truth, why):
    bench = servers()
    bench.default_level = measured_level(50, truth)
    with pytest.raises(NothingMeasuredError, match=f"the default have no number: {why}"):
        bench.run()
    assert bench.made == []


def test_an_interrupted_tuning_says_so_and_makes_no_further_trial(servers):
    bench = servers()
    bench.fails = lambda _trial: bench.interrupt.press() if len(bench.made) == 7 else None
    replay = bench.run()
    assert bench.outcome.status == "interrupted"
    assert len(bench.made) == 7
    assert replay.following is not None


def answer(body=b"ok", status=200):
    return ResponseDigest(
        status=status,
        version="1.1",
        headers=(("content-type", "text/plain"),),
        framing="content-length",
        body_bytes=len(body),
        body_sha256=body.hex(),
        body_start=body,
        is_reused=True,
        says_close=False,
    )


def checked(known, other, setting=1, later=()):
    """Return what is wrong with the response of a setting, given those of the default."""
    reader = TrialReader(Metric("ok_per_s"))
    trials = SettingTrials(SETTINGS, DEFAULT, lambda _setting: SERVER, None, reader)
    answers = DefaultAnswers(DEFAULT)
    for each in known:
        answers.check(trials.trial(DEFAULT), each)
    for number, each in enumerate(later, 1):
        answers.check(trials.trial(DEFAULT, TrialPlace("fresh", 0, number, DEFAULT)), each)
    try:
        answers.check(trials.trial(setting, TrialPlace("fresh", 0, 9, setting)), other)
    except TrialError as error:
        return error
    return None


def test_a_response_other_than_the_defaults_is_wrong():
    error = checked([answer(), answer()], answer(b"no"))
    assert error.kind == "wrong_answer"
    assert "Bodies differ: 'ok' by default; 'no' by api." in error.message
    assert error.hint == "if it is right, write what you expect: expect = { status = 200 }"


def test_bodies_that_differ_by_themselves_are_not_compared():
    assert checked([answer(b"1"), answer(b"2")], answer(b"3")) is None
    error = checked([answer(b"1"), answer(b"2")], answer(b"3", 404))
    assert "Status differ: 200 by default; 404 by api." in error.message


def test_a_body_of_the_default_that_changes_later_is_not_compared_from_then_on():
    stable = [answer(b"1"), answer(b"1")]
    assert checked(stable, answer(b"2"), setting=DEFAULT) is None
    assert checked(stable, answer(b"3"), later=[answer(b"2")]) is None
    assert checked(stable, answer(b"3")).kind == "wrong_answer"
    error = checked(stable, answer(b"1", 503), setting=DEFAULT)
    assert "Status differ: 200 by default; 503 by api." in error.message


def test_without_a_response_of_the_default_nothing_is_compared():
    assert checked([], answer()) is None
