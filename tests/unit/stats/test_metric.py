import pytest

import typed
from torr.stats.metric import METRICS, Metric, primary_of

MONITOR = {"derived": {"target_cpu_us_per_request": 41.5, "target_rss_max_bytes": 2**20}}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("ok_per_s", 900.0),
        ("response_ms.p99", 12.0),
        ("response_ms.p50", 6.0),
        ("success_rate", 97.5),
        ("error_rate", 2.5),
        ("target_cpu_us_per_request", 41.5),
        ("target_rss_max_bytes", 2**20),
        ("ttft_ms.p95", 80.0),
        ("tokens_per_s", 300.0),
        ("goodput_rate", None),
        ("service_ms.mean", None),
    ],
)
def test_a_metric_is_read_by_its_place_in_a_level(trial, key, value):
    stream = {"ttft_ms": {"n": 900, "p95": 80.0}, "tokens_per_s": 300.0, "goodput_rate": None}
    level = trial("a", 1, 900.0, p99=12.0, failed=250, monitor=MONITOR, stream=stream)
    assert Metric(key).read(level) == value


def test_a_request_has_numbers_of_its_own(trial):
    steps = [{"name": "login", "ok_per_s": 5.0, "latency": {"response_ms": {"n": 900, "p99": 3.0}}}]
    level = trial("a", 1, 900.0, requests=steps)
    assert Metric("ok_per_s", "login").read(level) == 5
    assert Metric("response_ms.p99", "login").read(level) == 3
    assert Metric("ok_per_s", "logout").read(level) is None


@pytest.mark.parametrize(
    "more",
    [{"cut_short": True}, {"starved": 5}, {"counts": {"attempted": 0}}],
)
def test_a_trial_that_claims_nothing_has_no_number(trial, more):
    level = trial("a", 1, 900.0, **more)
    assert [metric.read(level) for metric in METRICS] == [None] * len(METRICS)


def test_nothing_answered_is_a_number():
    level = typed.level(counts={"attempted": 5})
    assert Metric("ok_per_s").read(level) == 0
    assert Metric("response_ms.p99").read(level) is None


@pytest.mark.parametrize(
    ("key", "more_is_better", "better", "label"),
    [
        ("ok_per_s", True, "faster", "ok/s"),
        ("attempted_per_s", True, "faster", "attempted/s"),
        ("response_ms.p99", False, "faster", "p99"),
        ("service_ms.p99_9", False, "faster", "service p99.9"),
        ("target_cpu_us_per_request", False, "better", "CPU a request"),
        ("target_rss_max_bytes", False, "better", "RSS"),
        ("error_rate", False, "better", "errors"),
        ("success_rate", True, "better", "success"),
    ],
)
def test_a_metric_knows_which_direction_is_better(key, more_is_better, better, label):
    metric = Metric(key)
    assert metric.more_is_better == more_is_better
    assert metric.word("better") == better
    assert metric.word("worse") == {"faster": "slower", "better": "worse"}[better]
    assert metric.word("same") == "same"
    assert metric.label == label


def test_the_label_names_the_request():
    assert Metric("response_ms.p99", "login").label == "login: p99"


def test_arrivals_at_a_rate_are_judged_by_their_p99(trial):
    assert primary_of(trial("a", 1, 1.0)).key == "ok_per_s"
    assert primary_of(trial("a", 1, 1.0, rate=500.0)).key == "response_ms.p99"
    trace = {"format": "mooncake", "rows": 1, "sessions": 1}
    assert primary_of(trial("a", 1, 1.0, trace=trace, users=0)).key == "response_ms.p99"
    assert primary_of(trial("a", 1, 1.0, trace=trace, users=4)).key == "ok_per_s"
