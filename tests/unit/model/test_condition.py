import pytest
from hypothesis import given
from hypothesis import strategies as st

import typed
from torr.errors import UsageError
from torr.model.condition import CLASSES, METRICS, STATS, Condition
from torr.verdicts import slo


def level(ok=10_000, errors=None, dropped=0, verdict="healthy", **more):
    counts = {"ok": ok, "errors": errors or {}, "dropped": dropped}
    return typed.level(**{"counts": counts, "health": {"verdict": verdict}, **more})


def timed(metric="response", n=10_000, **stats):
    return {"latency": {f"{metric}_ms": {"n": n, **stats}}}


def judge(text, measured, **options):
    return slo.judge(Condition.parse(text), measured, **options)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("p95 < 500ms", Condition("response", "p95", "<", 500)),
        ("p95<500ms", Condition("response", "p95", "<", 500)),
        ("max <= 2s", Condition("response", "max", "<=", 2000)),
        ("service p99 < 20ms", Condition("service", "p99", "<", 20)),
        ("ttfb p99.9 < 1.5ms", Condition("ttfb", "p99.9", "<", 1.5)),
        ("success >= 99.9%", Condition("success", None, ">=", 99.9)),
        ("errors < 1%", Condition("errors", None, "<", 1)),
        ("errors timeout < 1%", Condition("errors", "timeout", "<", 1)),
        ("ok/s > 10k", Condition("ok/s", None, ">", 10_000)),
        ("failures > 100", Condition("failures", None, ">", 100)),
        ("failures read > 1k", Condition("failures", "read", ">", 1000)),
        ("chat: ttfb p95 < 800ms", Condition("ttfb", "p95", "<", 800, "chat")),
        ("GET /a:b: p50 < 1ms", Condition("response", "p50", "<", 1, "GET /a:b")),
        ("GET http://h:1/: mean < 1ms", Condition("response", "mean", "<", 1, "GET http://h:1/")),
    ],
)
def test_reads_the_grammar(text, expected):
    assert Condition.parse(text) == expected


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("p95", "is not a condition"),
        ("p95 = 500ms", "is not a condition"),
        ("p95 < 500", "has no unit"),
        ("p95 < -5ms", "negative"),
        ("success >= 99.9", "has no % sign"),
        ("p97 < 5ms", "p97 is not recorded"),
        ("service < 5ms", "write service p95"),
        ("service p97 < 5ms", "p97 is not recorded"),
        ("speed > 5", "speed is not a metric"),
        ("< 5ms", "nothing is not a metric"),
        ("ok/s p95 > 5", "is one number"),
        ("errors boredom < 1%", "not a class of errors"),
        ("failures > 1.5", "is not a whole number"),
        ("service p95 p99 < 1s", "more than one statistic"),
    ],
)
def test_refuses_with_a_reason(text, says):
    with pytest.raises(UsageError) as caught:
        Condition.parse(text)
    assert says in str(caught.value)


def test_a_former_name_of_a_metric_is_written_by_its_name_of_today():
    former = Condition.parse("login: lag  p99<2ms")
    assert (former.metric, former.name) == ("scheduling_lag", "login")
    assert former.text == "login: scheduling_lag p99<2ms"
    assert former == Condition.parse("login: scheduling_lag p99 < 2ms")


UNMEASURED = ("dns p95 < 5ms", "chat: cache p95 < 800ms", "queue mean < 20ms", "tokens >= 99%")


@pytest.mark.parametrize("text", UNMEASURED)
def test_a_metric_that_nothing_measures_is_refused_with_those_that_there_are(text):
    metric = text.removeprefix("chat: ").split()[0]
    with pytest.raises(UsageError) as caught:
        Condition.parse(text)
    assert str(caught.value) == (
        f"{text!r}: {metric} is not a metric that this version measures\n"
        "hint: metrics are response, service, ttfb, queue_wait, stream_wait, window_wait, message, "
        "connect, tls, scheduling_lag, "
        "ttfe, ttft, ttfo, "
        "ttst, inter_chunk, inter_read, e2e, stream_end, tpot, success, errors, goodput, "
        "failures, ok/s, attempted/s, tokens/s, good/s"
    )


@pytest.mark.parametrize("name", ["dns", "streams"])
def test_a_class_in_which_no_request_ends_is_refused(name):
    with pytest.raises(UsageError, match=f"{name} is not a class of errors"):
        Condition.parse(f"errors {name} < 1%")


TIMES, RATES = ([metric for metric, unit in METRICS.items() if unit == of] for of in ("ms", "/s"))

conditions = st.one_of(
    st.tuples(st.sampled_from(TIMES), st.sampled_from(STATS), st.integers(1, 10**13)).map(
        lambda t: (t[0], t[1], t[2] / 1e6)
    ),
    st.tuples(st.just("errors"), st.sampled_from([None, *CLASSES]), st.floats(0, 100)),
    st.tuples(st.sampled_from(RATES), st.none(), st.floats(1e-3, 1e9)),
)


@given(conditions, st.sampled_from(["<", "<=", ">", ">="]), st.sampled_from([None, "GET /x: y"]))
def test_a_condition_survives_being_written_and_read(parts, op, name):
    metric, stat, limit = parts
    condition = Condition(metric, stat, op, limit, name)
    again = Condition.parse(str(condition))
    assert again.limit == pytest.approx(limit, rel=1e-12)
    assert (again.metric, again.stat, again.op, again.name) == (metric, stat, op, name)


def test_a_percentile_below_its_limit_holds():
    holds = judge("p95 < 500ms", level(**timed(p95=120)))
    assert (holds.value, holds.limit, holds.word, holds.reason) == (120, 500, "held", None)


def test_a_percentile_above_its_limit_is_broken():
    assert judge("p95 < 500ms", level(**timed(p95=500))).word == "broken"
    assert judge("p95 <= 500ms", level(**timed(p95=500))).word == "held"


def test_a_percentile_on_too_few_answers_is_not_shown():
    holds = judge("p99 < 500ms", level(**timed(n=999, p99=None)))
    assert holds.word == "not shown"
    assert holds.reason == "p99 needs 1,000 answers, there were 999"


def test_a_time_nobody_measured_is_not_shown():
    assert judge("connect p99 < 5ms", level(latency={"connect_ms": None})).word == "not shown"
    assert judge("connect max < 5ms", level()).reason == "no connect time was measured"


def test_dropped_requests_fail_response_conditions_and_only_those():
    times = {"n": 10_000, "p95": 1}
    measured = level(dropped=3, latency={"response_ms": times, "service_ms": times})
    holds = judge("p95 < 500ms", measured)
    assert holds.word == "broken"
    assert "3 due requests never sent" in holds.reason
    assert judge("service p95 < 500ms", measured).word == "held"


def test_a_lower_bound_breaks_what_it_exceeds_and_shows_nothing_else():
    bound = level(**timed(p99=100, at_least=["p99"]))
    assert judge("p99 < 50ms", bound).word == "broken"
    assert judge("p99 < 500ms", bound).word == "not shown"
    assert "at least 100 ms" in judge("p99 < 500ms", bound).reason
    assert judge("p99 > 50ms", bound).word == "held"
    assert judge("p99 > 500ms", bound).word == "not shown"


def test_dropped_requests_make_response_times_lower_bounds_for_abort_conditions():
    measured = level(dropped=1, **timed(p95=3000))
    assert judge("p95 > 2s", measured).word == "held"
    assert judge("p95 > 5s", measured).word == "not shown"


@pytest.mark.parametrize(
    ("text", "attempts", "word"),
    [
        ("success >= 99.9%", 2_999, "not shown"),
        ("success >= 99.9%", 3_000, "held"),
        ("success >= 99%", 299, "not shown"),
        ("success >= 99%", 300, "held"),
        ("errors < 1%", 299, "not shown"),
        ("errors < 1%", 300, "held"),
        ("errors timeout < 0.01%", 29_999, "not shown"),
        ("errors timeout < 0.01%", 30_000, "held"),
        ("success >= 100%", 10**9, "not shown"),
        ("success >= 0%", 10, "held"),
        ("errors > 1%", 299, "not shown"),
        ("errors > 1%", 300, "broken"),
    ],
)
def test_without_an_error_the_rule_of_three_says_how_many_attempts_it_takes(text, attempts, word):
    assert judge(text, level(ok=attempts)).word == word


def test_errors_that_were_seen_break_a_condition_however_few_the_attempts():
    holds = judge("success >= 99.9%", level(ok=9, errors={"timeout": 1}))
    assert (holds.word, holds.value) == ("broken", 90)
    assert judge("errors > 1%", level(ok=9, errors={"timeout": 1})).word == "held"


def test_attempts_of_other_rounds_count_for_the_rule_of_three():
    assert judge("success >= 99.9%", level(ok=1_000), attempts=3_000).word == "held"


def short(own, failed, ok=100_000):
    reasons = {"connect.no_descriptor": own, "read.reset": failed}
    return level(ok, errors={"connect": own, "read": failed}, reasons=reasons)


@pytest.mark.parametrize("text", ["success >= 99.9%", "errors < 0.1%", "errors connect < 0.1%"])
def test_a_share_that_only_the_generators_own_machine_broke_is_not_shown(text):
    holds = judge(text, short(own=500, failed=20))
    assert (holds.word, holds.reason) == (
        "not shown",
        "500 failures are the generator's own: connect.no_descriptor",
    )


def test_a_share_that_breaks_without_the_generators_own_failures_too_is_broken():
    assert judge("success >= 99.9%", short(own=500, failed=200)).word == "broken"
    assert judge("errors read < 0.01%", short(own=500, failed=20)).word == "broken"
    assert judge("success >= 99.9%", short(own=10, failed=20)).word == "held"


def test_one_class_of_errors_is_judged_alone():
    measured = level(ok=900, errors={"timeout": 4, "status": 96})
    assert judge("errors timeout < 1%", measured).word == "held"
    assert judge("errors < 1%", measured).word == "broken"


@pytest.mark.parametrize("text", ["p95 < 500ms", "ttfb max < 1s", "success >= 99.9%"])
@pytest.mark.parametrize("errors", [{}, {"timeout": 3}])
def test_where_no_request_succeeded_every_condition_is_broken(text, errors):
    holds = judge(text, level(ok=0, errors=errors))
    assert holds.word == "broken"
    assert holds.value == 0 or holds.reason == "no request succeeded"


def test_a_number_that_is_missing_for_another_reason_is_not_shown():
    assert judge("p95 < 500ms", level(ok=9, **timed(n=9, p95=None))).word == "not shown"
    assert judge("p95 < 500ms", level(ok=9)).word == "not shown"


def test_a_rate_of_a_shared_machine_is_a_lower_bound():
    shared = level(verdict="contended", ok_per_s=5_000)
    assert judge("ok/s > 1k", shared).word == "held"
    assert judge("ok/s > 10k", shared).word == "not shown"
    assert judge("ok/s < 1k", shared).word == "broken"
    assert judge("ok/s > 10k", level(ok_per_s=5_000)).word == "broken"


def test_a_level_limited_by_the_generator_claims_nothing():
    holds = judge("p95 < 500ms", level(verdict="generator-limited", **timed(p95=1)))
    assert (holds.value, holds.word) == (None, "not shown")


def test_times_of_survivors_are_called_that():
    holds = judge("p95 < 500ms", level(ok=800, errors={"timeout": 200}, **timed(p95=1)))
    assert holds.word == "held"
    assert holds.reason == "of the ok responses only: 20 % failed"


def test_a_named_request_is_judged_alone():
    chat = {"name": "chat", "counts": {"ok": 9}, **timed(p95=10)}
    measured = level(**timed(p95=900), requests=[chat])
    assert judge("chat: p95 < 500ms", measured).word == "held"
    assert judge("p95 < 500ms", measured).word == "broken"
    assert judge("talk: p95 < 500ms", measured).reason == "no request is named 'talk'"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("failures > 5", "held"),
        ("failures > 6", "broken"),
        ("failures read > 3", "held"),
        ("failures timeout >= 3", "broken"),
        ("failures status < 1", "held"),
    ],
)
def test_failures_are_counted_all_or_those_of_a_class(text, word):
    found = judge(text, level(errors={"read": 4, "timeout": 2}))
    assert found.word == word
    condition = Condition.parse(text)
    assert Condition.parse(str(condition)) == condition
    assert condition.show(found.value) == f"{found.value:.0f}"


def test_shows_values_with_their_unit():
    assert Condition.parse("p95 < 1s").show(12.34) == "12.3 ms"
    assert Condition.parse("ok/s > 1").show(47_812.4) == "47,812/s"
    assert Condition.parse("success > 1%").show(99.98) == "99.98 %"
    assert str(Condition.parse("p95 < 0.5s")) == "p95 < 500ms"


def test_shows_limits_exactly():
    assert Condition.parse("p95 < 500ms").show_limit() == "500 ms"
    assert Condition.parse("p95 < 1.5s").show_limit() == "1.5 s"
    assert Condition.parse("success >= 99.95%").show_limit() == "99.95 %"
    assert Condition.parse("ok/s > 10k").show_limit() == "10,000/s"
