"""What trials show of an SLO, each by itself and together."""

import math

import pytest
from msgspec import structs

import typed
from doubles import Truth, measured_level
from torr.model.condition import Condition
from torr.verdicts.looks import ALPHA_OF_A_LOOK
from torr.verdicts.slo import judge
from torr.verdicts.slo_evidence import SloEvidence, evidence_of, finding_of
from torr.verdicts.slo_excess import FAR, value_at

P95 = 1.5 * Truth().service_ms


def level_of(requests=10_000, failed=0, **members):
    """Return a level of so many requests in its ten seconds."""
    errors = {"status": failed} if failed else {}
    truth = Truth(ok_per_s=(requests - failed) / 10, errors=errors, dropped=members.pop("drop", 0))
    return measured_level(50, truth, **members)


def of_level(text, level):
    return evidence_of(Condition.parse(text), level)


def found(text, levels):
    condition = Condition.parse(text)
    return finding_of([evidence_of(condition, level) for level in levels], ALPHA_OF_A_LOOK)


@pytest.mark.parametrize(("factor", "excess"), [(2, -math.log(2)), (0.5, math.log(2))])
def test_a_number_is_as_far_as_it_is_from_the_limit(factor, excess):
    evidence = of_level(f"p95 < {P95 * factor}ms", level_of())
    assert (evidence.low, evidence.high, evidence.excess) == pytest.approx([excess] * 3)


def test_requests_that_were_never_sent_break_the_slo_of_their_times():
    evidence = of_level("p95 < 1s", level_of(drop=5000))
    assert (evidence.low, evidence.high, evidence.excess) == (math.inf, math.inf, FAR)
    finding = found("p95 < 1s", [level_of(drop=5000)] * 10)
    assert finding.word == "broken"
    assert "5,000 due requests never sent" in finding.why


def test_a_rate_that_is_a_lower_bound_can_hold_a_limit_and_not_break_it():
    level = measured_level(50, Truth(ok_per_s=100.0, health="contended"))
    held, not_broken = (of_level(text, level) for text in ("ok/s > 50", "ok/s > 200"))
    assert (held.low, held.high) == (-math.inf, pytest.approx(-math.log(2)))
    assert (not_broken.low, not_broken.high) == (-math.inf, pytest.approx(math.log(2)))
    assert found("ok/s > 200", [level] * 10).word == "not shown"
    assert found("ok/s > 50", [level] * 10).word == "held"


def test_tokens_that_some_responses_did_not_report_can_hold_a_rate_and_not_break_it():
    stream = {"tokens_per_s": 100.0, "tokens_unreported": 3}
    level = typed.changed(measured_level(50, Truth()), stream=stream)
    held, not_broken = (of_level(text, level) for text in ("tokens/s > 50", "tokens/s > 200"))
    assert (held.low, held.high) == (-math.inf, pytest.approx(-math.log(2)))
    assert (not_broken.low, not_broken.high) == (-math.inf, pytest.approx(math.log(2)))
    words = {
        text: judge(Condition.parse(text), level)
        for text in ("tokens/s > 50", "tokens/s > 200", "tokens/s < 50", "tokens/s < 200")
    }
    assert [verdict.word for verdict in words.values()] == [
        *("held", "not shown", "broken", "not shown")
    ]
    assert "3 responses reported no tokens" in words["tokens/s > 200"].reason
    whole = typed.changed(level, stream={**stream, "tokens_unreported": 0})
    assert judge(Condition.parse("tokens/s > 200"), whole).word == "broken"


def without_p99(answers):
    level = level_of()
    few = structs.replace(level.latency.response, n=answers, p99=None)
    return structs.replace(level, latency=structs.replace(level.latency, response_ms=few))


def test_a_percentile_without_enough_answers_shows_nothing():
    evidence = of_level("p99 < 100ms", without_p99(312))
    assert (evidence.low, evidence.high, evidence.excess) == (-math.inf, math.inf, 0)
    finding = found("p99 < 100ms", [without_p99(312)] * 10)
    assert (finding.word, finding.why) == ("not shown", "p99 needs 1,000 answers, there were 312")


def test_a_percentile_that_few_trials_lack_is_shown_after_more_rounds():
    ten, twenty = ([without_p99(999), *[level_of()] * n] for n in (9, 19))
    assert found("p99 < 100ms", ten).word == "not shown"
    assert found("p99 < 100ms", twenty).word == "held"


@pytest.mark.parametrize("text", ["errors < 1%", "success > 99%"])
def test_a_failure_is_never_better_than_none(text):
    trials = [of_level(text, level_of(200 + failed, failed)) for failed in range(4)]
    excesses = [trial.excess for trial in trials]
    assert excesses == sorted(set(excesses))
    uppers = [found(text, [level_of(200, failed)] * 10).interval[1] for failed in range(4)]
    assert uppers == sorted(set(uppers))


@pytest.mark.parametrize("text", ["errors < 0.1%", "success > 99.9%"])
@pytest.mark.parametrize(
    ("failed", "rounds", "word"),
    [(0, 9, "not shown"), (0, 10, "held"), (1, 10, "not shown"), (10, 10, "broken")],
)
def test_attempts_of_all_rounds_are_added_up(text, failed, rounds, word):
    # Without a failure, 4,093 attempts show at this error that fewer than 0.1 % fail.
    levels = [level_of(450, failed if number == 0 or failed > 1 else 0) for number in range(rounds)]
    assert found(text, levels).word == word


def test_too_few_requests_are_the_reason():
    finding = found("errors < 0.1%", [level_of(200)] * 10)
    assert finding.why == "no error in 2,000 attempts is not enough: 4,093 are needed"
    never = found("errors <= 0%", [level_of(200)] * 10)
    assert (never.word, "never 0" in never.why) == ("not shown", True)


def test_the_numbers_of_a_share_are_those_of_its_failures():
    finding = found("success > 99%", [level_of(1000)] * 10)
    condition = Condition.parse("success > 99%")
    high, low = (value_at(condition, end) for end in finding.interval)
    assert (low, high) == (pytest.approx(100 - 0.0409, abs=1e-3), 100)


def test_failures_of_the_generators_own_do_not_count_against_a_setting():
    own = level_of(1000, 500, reasons={"connect.no_port": 500})
    evidence = of_level("errors < 1%", own)
    assert (evidence.share, evidence.excess) == (None, 0)
    assert "generator's own" in evidence.why
    assert found("errors < 1%", [own] * 10).word == "not shown"


def test_a_named_request_that_never_succeeds_breaks_its_slo():
    failing = {
        "name": "login",
        "counts": {"planned": 10, "attempted": 10, "ok": 0, "errors": {"status": 10}},
        "ok_per_s": 0.0,
        "latency": {},
    }
    level = measured_level(50, Truth(), requests=[failing])
    evidence = of_level("login: p95 < 1s", level)
    assert (evidence.low, evidence.high) == (math.inf, math.inf)
    assert found("login: p95 < 1s", [level] * 10).word == "broken"


def test_one_sided_signed_ranks_of_the_ends():
    exact = [SloEvidence.exact(x / 100) for x in range(-10, 0)]
    finding = finding_of(exact, ALPHA_OF_A_LOOK)
    assert finding.word == "held"
    assert -0.1 < finding.interval[0] < finding.interval[1] < 0
