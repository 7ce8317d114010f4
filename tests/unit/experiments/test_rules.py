"""What a report says of how a comparison was made: only what was so, and whose it was."""

from __future__ import annotations

from dataclasses import replace

import pytest

from torr.experiments.matrix import Matrix
from torr.experiments.rules import rules
from torr.experiments.trial import ComparisonState
from torr.model.condition import Condition
from torr.model.pace import Closed
from torr.model.pin import Pin
from torr.model.plan import Duration, Group, Plan
from torr.model.request import Request
from torr.model.source import Source
from torr.results.result import TrialFailure
from torr.servers.command import Command
from torr.servers.expectation import Expectation
from torr.servers.readiness import Ready
from torr.sources.candidate_entry import Candidate
from torr.units import SECOND_NS
from torr.verdicts.comparison import Procedure

PLAN = Plan(
    groups=(Group(pace=Closed(1), source=Source.of(Request("http://127.0.0.1:1/"))),),
    stop=Duration(SECOND_NS),
    warmup_ns=2 * SECOND_NS,
)


def candidate(name, warmup_s=None):
    command = Command(("serve",), "http://127.0.0.1:{port}/", name)
    flags = {} if warmup_s is None else {"warmup": warmup_s}
    return Candidate(name, command, Expectation(), flags, 1)


def plan_of(candidate, factors, _url):
    """Its own warm-up, that of the cell, or two seconds."""
    seconds = candidate.flags.get("warmup", factors.get("warmup", 2))
    return replace(PLAN, warmup_ns=seconds * SECOND_NS)


def said(state=None, *, candidates=(), cells=({},), rule=None, failures=()):
    several = candidates or (candidate("one"), candidate("two"))
    procedure = Procedure(rule=None if rule is None else Condition.parse(rule))
    matrix = Matrix(several, cells, (10,), plan_of, "one", procedure, seed=7)
    found = list(rules(matrix, state or ComparisonState(total=1), PLAN, failures))
    for sentence in found:
        assert sentence.render("zh") != sentence
    return found


def only(found, start):
    return [sentence for sentence in found if sentence.startswith(start)]


def test_the_order_and_its_seed_are_told_first():
    assert said()[0].endswith("in each round is a Williams square drawn from seed 7.")


def test_generator_and_target_on_cores_of_their_own():
    (cores,) = only(said(ComparisonState(1, Pin((0,), (1, 2)))), "The generator")
    assert cores == (
        "The generator ran on core 0, the target on cores 1, 2,"
        " and neither used the cores of the other."
    )


def test_one_core_for_the_target_cannot_show_what_workers_bring():
    (cores,) = only(said(ComparisonState(1, Pin((0,), (1,)))), "The generator")
    assert cores.endswith(
        " The target has one core, so additional workers add overhead but no capacity."
    )


def test_cores_that_were_shared():
    assert only(said(), "Generator") == ["Generator and target shared all cores."]


def test_a_load_of_nodes_is_not_said_to_have_shared_cores():
    found = said(ComparisonState(total=1, uses_nodes=True))
    assert len(only(found, "Nodes of a cluster sent the load")) == 1
    assert not only(found, "Generator")


def test_a_rule_that_discards_rounds():
    assert only(said(), "torr left out") == []
    (discarding,) = only(said(rule="failures > 100"), "torr left out each round in which")
    assert discarding.endswith("and shows the verdicts with these rounds as well.")


def test_workers_that_did_not_all_answer_are_named_with_their_cell():
    state = ComparisonState(1)
    state.readiness["one", '{"processes": 4}'] = [Ready(0.5, 4, (1, 2, 3, 4))]
    state.readiness["two", '{"processes": 4}'] = [
        Ready(0.5, 4, (1, 2, 3, 4)),
        Ready(3, 4, (1, 2)),
    ]
    state.readiness["two", "{}"] = [Ready(0.25, 4, None)]
    found = said(state)
    assert only(found, "one") == []
    rest = "which workers answer cannot be seen (this or a similar problem in 1 of 1 start)."
    assert only(found, "two") == [
        (
            "two at processes 4: 2 of 4 workers answered after 3.00 s"
            " (this or a similar problem in 1 of 2 starts)."
        ),
        f"two: ready after 0.25 s; {rest}",
    ]


def test_who_left_something_behind_is_named_once():
    left = TrialFailure(candidate="two", round=1, kind="left_behind", text="a file is left")
    died = TrialFailure(candidate="one", round=1, kind="died", text="it ended")
    (end,) = only(said(failures=[left, left, died]), "The load")
    assert (
        end == "The load stopped before the server; two left processes, listeners or files behind."
    )
    assert only(said(), "The load")[0].endswith("the server left nothing behind.")


@pytest.mark.parametrize(
    ("requests", "words"), [(None, "2s of load"), (500, "500 requests and 2s of load")]
)
def test_one_warm_up_is_one_sentence(requests, words):
    assert only(said(ComparisonState(1, warmup_requests=requests)), "Warm-up") == [
        f"Warm-up before each measurement window, not counted: {words}."
    ]


def test_a_warm_up_that_is_a_factor_is_told_of_each_cell():
    assert only(said(cells=({"warmup": 1}, {"warmup": 3})), "Warm-up") == [
        f"Warm-up before each measurement window of every candidate at warmup {seconds},"
        f" not counted: {seconds}s of load."
        for seconds in (1, 3)
    ]


def test_a_warm_up_of_one_candidate_is_told_with_its_name():
    several = (candidate("one"), candidate("two", 5), candidate("three"))
    assert only(said(candidates=several, cells=({"n": 1}, {"n": 2})), "Warm-up") == [
        "Warm-up before each measurement window of one, three, not counted: 2s of load.",
        "Warm-up before each measurement window of two, not counted: 5s of load.",
    ]
