"""What the exit code of a run says: one table of results and of errors."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

import typed
from doubles import Truth, measured_level
from torr.errors import (
    ExitCode,
    InterruptedRunError,
    OutputError,
    UsageError,
    exit_code,
)
from torr.messages.message import message
from torr.results.result import TrialFailure
from torr.results.verdict import Verdict
from torr.verdicts.exit import decide, fails, gate

PLACE = Path("_output/torr/run")
OK = measured_level(10, Truth())
LIMITED = measured_level(10, Truth(health="generator-limited"))
FAILURE = TrialFailure(candidate="a", round=1, kind="start", text="it did not start")


def slo(word):
    return Verdict(metric="p99", condition="p99 < 1ms", unit="ms", word=word, concurrency=10)


def without_success():
    level = measured_level(10, Truth())
    level.counts.ok = 0
    return level


def with_lost_log():
    level = measured_level(10, Truth())
    error = "No space left on device (os error 28)"
    lost = message("warning.log_ends_early", "the log ends early: {error}", error=error)
    return msgspec.structs.replace(level, warnings=[lost])


@pytest.mark.parametrize(
    ("members", "is_strict", "code"),
    [
        ({"levels": [OK]}, True, ExitCode.FINE),
        ({"levels": [OK], "verdicts": [slo("held")]}, False, ExitCode.FINE),
        ({"levels": [LIMITED]}, False, ExitCode.FINE),
        ({"levels": [OK], "verdicts": [slo("broken")]}, False, ExitCode.MISSED),
        ({"levels": [OK], "verdicts": [slo("not shown")]}, False, ExitCode.MISSED),
        (
            {
                "levels": [OK],
                "verdicts": [slo("not shown")],
                "experiment": {"allow_not_shown": True},
            },
            False,
            ExitCode.FINE,
        ),
        ({"levels": [OK], "ended_by": "--abort-on 'errors > 5%'"}, False, ExitCode.MISSED),
        ({"levels": [OK], "experiment": {"min_capacity": "5 users"}}, False, ExitCode.MISSED),
        ({"levels": [OK], "experiment": {"slos": ["p99 < 1ms"]}}, False, ExitCode.MISSED),
        (
            {"kind": "compare", "levels": [OK], "experiment": {"slos": ["p99 < 1ms"]}},
            False,
            ExitCode.MISSED,
        ),
        ({"levels": [without_success()]}, False, ExitCode.NOTHING_MEASURED),
        ({"levels": [without_success()], "status": "failed"}, False, ExitCode.NOTHING_MEASURED),
        ({"levels": [LIMITED]}, True, ExitCode.GENERATOR_LIMITED),
        ({"levels": [LIMITED], "status": "interrupted"}, True, ExitCode.INTERRUPTED),
        ({"kind": "compare", "failures": [FAILURE]}, False, ExitCode.NOTHING_MEASURED),
        ({"kind": "compare", "levels": [OK], "failures": [FAILURE]}, False, ExitCode.FINE),
        (
            {"kind": "compare", "levels": [OK], "failures": [FAILURE]},
            True,
            ExitCode.NOTHING_MEASURED,
        ),
        ({"kind": "compare", "levels": [LIMITED]}, True, ExitCode.GENERATOR_LIMITED),
        ({"kind": "compare", "status": "interrupted"}, False, ExitCode.INTERRUPTED),
        ({"kind": "diff"}, False, ExitCode.FINE),
        ({"levels": [with_lost_log()]}, False, ExitCode.USAGE),
        ({"levels": [with_lost_log()], "verdicts": [slo("broken")]}, False, ExitCode.MISSED),
        ({"levels": [with_lost_log()], "status": "interrupted"}, False, ExitCode.INTERRUPTED),
    ],
)
def test_a_result_has_one_exit_code(members, is_strict, code):
    result = typed.result(**members)
    assert decide(result, PLACE, is_strict=is_strict).code == code


@pytest.mark.parametrize(
    ("code", "is_unanswered"), [("failure.all_processes_lost", False), ("failure.no_answer", True)]
)
def test_requests_tell_about_the_target_unless_the_processes_that_sent_them_are_lost(
    code, is_unanswered
):
    level = msgspec.structs.replace(without_success(), failure=message(code, "why"))
    decision = decide(typed.result(levels=[level], status="failed"), PLACE)
    assert (decision.error.message, decision.is_unanswered) == ("why", is_unanswered)


def test_an_incomplete_log_is_named_with_its_reason_whatever_else_is_wrong():
    lost = "--log calls.csv: the log is incomplete: No space left on device (os error 28)"
    members = {"levels": [with_lost_log()], "plan": {"log": "calls.csv"}}
    alone = decide(typed.result(**members), PLACE)
    assert alone.error.message == lost
    assert "free space" in alone.error.hint
    assert alone.notes == ()
    broken = decide(typed.result(**members, verdicts=[slo("broken")]), PLACE)
    assert broken.error.message == "SLO broken: p99 < 1ms"
    assert broken.notes == (lost,)


@pytest.mark.parametrize("kind", ["run", "ladder", "compare"])
def test_a_result_that_was_never_judged_does_not_pass(kind):
    asked = {"slos": ["p99 < 1ms"]}
    error = gate(typed.result(kind=kind, levels=[OK], experiment=asked)).error
    assert error.message == ("SLO p99 < 1ms: not shown: the run ended before it was judged")


def test_every_condition_that_failed_is_named():
    members = {
        "levels": [OK],
        "verdicts": [slo("broken")],
        "experiment": {"min_capacity": "5 users"},
    }
    aborted = typed.result(**members, ended_by="--abort-on 'errors > 5%'")
    assert gate(aborted).error.message == (
        "SLO broken: p99 < 1ms; ended early by --abort-on 'errors > 5%'; "
        "--min-capacity '5 users': not shown: no level was measured"
    )


def test_a_capacity_is_named_beside_an_slo_that_is_not_shown():
    members = {"levels": [OK], "verdicts": [slo("not shown")]}
    error = gate(typed.result(**members, experiment={"min_capacity": "5 users"})).error
    assert error.message == (
        "SLO not shown: p99 < 1ms: neither held nor broken; "
        "--min-capacity '5 users': not shown: no level was measured"
    )
    assert "--allow-not-shown" in error.hint


@pytest.mark.parametrize(
    ("health", "says"),
    [
        ("healthy", "the highest level held"),
        ("generator-limited", "no higher level claims anything"),
    ],
)
def test_a_capacity_below_levels_that_claim_nothing_is_not_that_of_the_highest(health, says):
    levels = [OK, measured_level(20, Truth(health=health))]
    top = 20 if health == "healthy" else 10
    held = {"concurrency": top, "ok_per_s": 5.0, "conditions": ["p99 < 1ms"]}
    asked = {"min_capacity": "50 users", "slos": ["p99 < 1ms"]}
    found = typed.result(kind="ladder", levels=levels, capacity={"slo": held}, experiment=asked)
    assert f"--min-capacity '50 users': not shown: {says}, 5" in gate(found).error.message


def signalled(number):
    error = InterruptedRunError("interrupted")
    error.signal_number = number
    return error


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UsageError("a flag is wrong"), ExitCode.USAGE),
        (OutputError("the disk is full"), ExitCode.USAGE),
        (RuntimeError("a defect"), ExitCode.DEFECT),
        (signalled(1), ExitCode.HUNG_UP),
        (signalled(2), ExitCode.INTERRUPTED),
        (signalled(15), ExitCode.TERMINATED),
    ],
)
def test_an_error_has_one_exit_code(error, code):
    assert exit_code(error) == code


@pytest.mark.parametrize(
    ("words", "allows_not_shown", "failing"),
    [
        ({"held"}, False, False),
        ({"held", "broken"}, True, True),
        ({"not shown"}, False, True),
        ({"not shown"}, True, False),
    ],
)
def test_limits_and_budgets_fail_by_their_words(words, allows_not_shown, failing):
    assert fails(words, allows_not_shown=allows_not_shown) == failing


@pytest.mark.parametrize(
    ("needed", "seen", "duration"),
    [(1000, 900, "20s"), (3000, 100, "6m"), (3000, 0, "30s")],
)
def test_the_hint_names_a_duration_that_is_long_enough(needed, seen, duration):
    reason = message("slo.few_answers", "{needed}, {answers}", needed=needed, answers=seen)
    verdict = msgspec.structs.replace(slo("not shown"), reason=reason)
    found = gate(typed.result(levels=[OK], verdicts=[verdict]))
    assert OK.seconds == 10
    assert f"such as -z {duration}," in found.error.hint


@pytest.mark.parametrize(
    ("plan", "hint"),
    [
        ({"stop": {"kind": "requests", "requests": 15}}, "such as --requests 24,"),
        ({"stop": {"kind": "requests", "requests": 900}}, "such as --requests 1500,"),
        (
            {"groups": [{"pace": {"kind": "fed"}}], "stop": {"kind": "rows"}},
            "such as a longer part of the trace,",
        ),
    ],
)
def test_the_hint_names_what_ends_the_load(plan, hint):
    reason = message("slo.few_answers", "{needed}, {answers}", needed=20, answers=15)
    verdict = msgspec.structs.replace(slo("not shown"), reason=reason)
    found = gate(typed.result(levels=[OK], verdicts=[verdict], plan=plan))
    assert hint in found.error.hint


def test_an_slo_of_a_named_request_fails_by_the_failures_of_that_request():
    counts = {"attempted": 1_000, "ok": 100, "errors": {"read": 900}}
    level = typed.changed(OK, requests=[{"name": "login", "counts": counts}])
    named = msgspec.structs.replace(slo("not shown"), condition="login: p99 < 1ms")
    allowed = {"allow_not_shown": True}
    for verdict, fails_ in ((named, True), (slo("not shown"), False)):
        result = typed.result(levels=[level], verdicts=[verdict], experiment=allowed)
        assert (gate(result).error is not None) == fails_
