"""The page for Prometheus, read by torr's own reader of such pages."""

from __future__ import annotations

import json
import re

import pytest
from msgspec import structs

import typed
from documents import ROOT
from doubles import Truth, measured_interval, measured_level
from torr.experiments.context import Step
from torr.model.pace import Closed
from torr.model.plan import Duration, Group, Plan
from torr.model.request import Request
from torr.model.source import Source
from torr.monitor.exposition import ExpositionReader
from torr.results.base import Statistics
from torr.results.level import IntervalHealth
from torr.results.result import TrialFailure
from torr.units import SECOND_NS
from torr.webserver.live.exposition import ExportedSample, page
from torr.webserver.live.metrics import FAMILIES, Metrics

DASHBOARD = ROOT / "examples/grafana/torr.json"
DOCUMENTATION = ROOT / "docs/live.md"
WAIT = Statistics(n=10, mean=2.0, p50=1.0)


def step(candidate=None, factors=None, total=3):
    group = Group(pace=Closed(200), source=Source.of(Request("http://127.0.0.1/")))
    plan = Plan(groups=(group,), stop=Duration(SECOND_NS))
    return Step(1, plan, 2, total, candidate, factors or {})


@pytest.fixture
def metrics():
    return Metrics({"kind": "run", "name": "api"}, lambda: (12.0, 3.0), lambda: 0.25)


def numbers(metrics):
    """Every number by its name and labels, as `name{a=b}`; with quantiles."""
    lines = [line for line in metrics.text().splitlines() if not line.startswith("#")]
    return {key: float(number) for key, number in (line.rsplit(" ", 1) for line in lines)}


def full(metrics):
    """The same after something of everything has come."""
    metrics.level_started(step())
    truth = Truth(errors={"timeout": 3}, dropped=2)
    nodes = [
        {"name": "a", "attempted": 600, "ok": 600, "ok_per_s": 600.0},
        {"name": "b", "attempted": 405, "ok": 400, "ok_per_s": 400.0},
    ]
    piece = measured_interval(truth, 0, statuses={"200": 1000}, nodes=nodes)
    waits = dict.fromkeys(("stream_wait_ms", "window_wait_ms", "message_ms"), WAIT)
    latency = structs.replace(piece.latency, **waits)
    health = structs.replace(piece.health or IntervalHealth(), stalled_rate=25.0)
    piece = structs.replace(piece, latency=latency, health=health)
    metrics.interval_came(step(), piece)
    metrics.level_ended(step(), measured_level(200, Truth(errors={"timeout": 30})))
    metrics.level_ended(step(), measured_level(200, Truth(), rate=1000.0))
    factors = {"workers": 2}
    failure = TrialFailure(candidate="go", factors=factors, round=1, kind="died", text="it ended")
    metrics.trial_failed(failure)
    return metrics


def test_an_interval_is_counted_in_prometheus_units(metrics):
    found = numbers(full(metrics))
    assert found['torr_ok_total{phase="measure"}'] == 1000
    assert found['torr_node_ok_total{phase="measure",node="a"}'] == 600
    assert found['torr_node_attempts_total{phase="measure",node="b"}'] == 405
    assert found['torr_node_ok_per_second{node="b"}'] == 400
    assert found['torr_attempts_total{phase="measure"}'] == 1003
    assert found['torr_errors_total{phase="measure",class="timeout"}'] == 3
    assert found['torr_dropped_total{phase="measure"}'] == 2
    assert found['torr_statuses_total{phase="measure",status="200"}'] == 1000
    assert found['torr_response_seconds{phase="measure",quantile="0.99"}'] == 0.01
    assert found['torr_response_seconds_sum{phase="measure"}'] == 500
    assert found['torr_response_seconds_count{phase="measure"}'] == 100_000
    assert found['torr_worker_cpu_ratio{worker="0"}'] == 0.1
    assert (found["torr_level"], found["torr_levels"]) == (2, 3)


def test_a_worker_has_its_own_number_where_another_one_sent_nothing(metrics):
    health = {"workers": [0, 2], "worker_cpu_rate": [10.0, 30.0]}
    metrics.level_started(step())
    metrics.interval_came(step(), measured_interval(Truth(), 0, health=health))
    found = numbers(metrics)
    assert {name: found[name] for name in found if "worker=" in name} == {
        'torr_worker_cpu_ratio{worker="0"}': 0.1,
        'torr_worker_cpu_ratio{worker="2"}': 0.3,
    }


def test_waits_of_http2_are_there_if_there_are_some(metrics):
    found = numbers(full(metrics))
    assert found['torr_stream_wait_seconds{phase="measure",quantile="0.5"}'] == 0.001
    assert found['torr_window_wait_seconds_sum{phase="measure"}'] == 0.02
    assert found["torr_stalled_ratio"] == 0.25
    metrics = Metrics({"kind": "run", "name": "api"})
    metrics.level_started(step())
    metrics.interval_came(step(), measured_interval(Truth(), 0))
    assert not [name for name in numbers(metrics) if "wait" in name or "stalled" in name]


def test_counters_go_on_and_gauges_are_of_the_newest_interval(metrics):
    full(metrics).interval_came(step(), measured_interval(Truth(50), 1))
    found = numbers(metrics)
    assert found['torr_ok_total{phase="measure"}'] == 1050
    assert found["torr_ok_per_second"] == 50
    metrics.interval_came(step(), measured_interval(Truth(0), 2, ok_per_s=None))
    found = numbers(metrics)
    assert "torr_ok_per_second" not in found
    assert not [name for name in found if name.startswith("torr_response_seconds{")]
    assert found["torr_concurrency"] == 200


def test_a_quantile_that_is_only_a_lower_bound_is_none(metrics):
    piece = measured_interval(Truth(1000), 1)
    times = typed.changed(piece.latency.response, at_least=["p99"])
    piece = typed.changed(piece, latency={"response_ms": times})
    metrics.interval_came(step(), piece)
    found = numbers(metrics)
    assert 'torr_response_seconds{phase="measure",quantile="0.5"}' in found
    assert 'torr_response_seconds{phase="measure",quantile="0.99"}' not in found


def test_the_time_that_is_over_stands_still_when_the_run_has_ended(metrics):
    turns = iter([(10.0, 2.0), (12.0, 0.0), (99.0, 0.0)])
    metrics.progress = lambda: next(turns)
    assert [numbers(metrics)["torr_elapsed_seconds"] for _ in range(2)] == [10.0, 12.0]
    metrics.is_running = False
    assert [numbers(metrics)["torr_elapsed_seconds"] for _ in range(2)] == [12.0, 12.0]


def test_a_level_keeps_its_numbers(metrics):
    found = numbers(full(metrics))
    place = 'concurrency="200",round="2"'
    assert found[f"torr_level_ok_per_second{{{place}}}"] == 1000
    assert found[f"torr_level_success_ratio{{{place}}}"] == pytest.approx(10_000 / 10_030)
    assert found[f'torr_level_response_seconds{{{place},quantile="0.95"}}'] == 0.0075
    assert found[f"torr_level_limited{{{place}}}"] == 0


def test_levels_of_rates_have_numbers_of_their_own(metrics):
    for rate in (100.0, 12.5):
        metrics.level_ended(step(), measured_level(50, Truth(ok_per_s=rate), rate=rate))
    found = numbers(metrics)
    for rate in ("100", "12.5"):
        labels = f'concurrency="50",rate="{rate}",round="2"'
        assert found[f"torr_level_ok_per_second{{{labels}}}"] == float(rate)


def test_a_trial_says_whose_it_is(metrics):
    of = step("go", {"workers": 2, "db": "pg"})
    metrics.interval_came(of, measured_interval(Truth(), 0))
    labels = 'candidate="go",setting="workers 2, db pg"'
    assert numbers(metrics)[f'torr_ok_total{{{labels},phase="measure"}}'] == 1000


def test_the_end_leaves_nothing_to_wait_for(metrics):
    assert numbers(metrics)["torr_remaining_seconds"] == 3
    assert numbers(metrics)["torr_running"] == 1
    metrics.is_running = False
    assert numbers(metrics)["torr_remaining_seconds"] == 0
    assert numbers(metrics)["torr_running"] == 0


def test_every_family_is_on_the_page_with_help_and_type(metrics):
    text = full(metrics).text()
    for name, (kind, says) in FAMILIES.items():
        assert f"# HELP {name} {says}\n# TYPE {name} {kind}\n{name}" in text
    assert text.endswith("\n")


@pytest.mark.parametrize("name", FAMILIES)
def test_names_are_as_prometheus_wants_them(name):
    kind, says = FAMILIES[name]
    assert re.fullmatch(r"torr_[a-z_]+", name)
    assert name.endswith("_total") == (kind == "counter")
    assert "milli" not in name
    assert "rate" not in name.split("_")
    assert says.endswith(".")


def test_torrs_own_reader_understands_the_page(metrics):
    samples = ExpositionReader(("torr_*",)).samples(full(metrics).text())
    found = {(each.name, each.labels): each for each in samples}
    ok = found["torr_ok_total", (("phase", "measure"),)]
    assert (ok.kind, ok.value) == ("counter", 1000)


def test_what_others_call_themselves_is_escaped():
    name = 'a"b\\c\nd</script>'
    text = page(
        {"torr_x": ("gauge", "one\\two\nthree")}, [ExportedSample("torr_x", (("n", name),), 1)]
    )
    assert text.splitlines() == [
        "# HELP torr_x one\\\\two\\nthree",
        "# TYPE torr_x gauge",
        'torr_x{n="a\\"b\\\\c\\nd</script>"} 1',
    ]
    (found,) = ExpositionReader(("torr_*",)).samples(text)
    assert found.labels == (("n", name),)


@pytest.mark.parametrize("name", ["torr_y", "torr_y_sum"])
def test_a_sample_of_no_family_is_a_mistake(name):
    with pytest.raises(KeyError, match="torr_y"):
        page({"torr_x": ("gauge", "")}, [ExportedSample(name, (), 1)])


def test_the_dashboard_asks_for_names_and_labels_that_there_are(metrics):
    """And every family is asked for by some panel."""
    asked = re.findall(r'"expr": "((?:[^"\\]|\\.)*)"', DASHBOARD.read_text())
    trial = step("go", {"workers": 2})
    full(metrics).interval_came(trial, measured_interval(Truth(), 1))
    page = metrics.text()
    known = {name + part for name in FAMILIES for part in ("", "_sum", "_count")}
    named = {name for expr in asked for name in re.findall(r"\btorr_\w+", expr)}
    assert named <= known
    assert {re.sub(r"_(sum|count)$", "", name) for name in named} == set(FAMILIES)
    labels = set(re.findall(r'[{,](\w+)="', page)) | {"instance", "job"}
    text = "\n".join(json.loads(f'"{expr}"') for expr in asked)
    used = set(re.findall(r"[{,]\s*(\w+)\s*=~?\"", text))
    used |= {x.strip() for by in re.findall(r"by \(([^)]*)\)", text) for x in by.split(",")}
    assert used <= labels


def test_every_name_is_in_the_documentation():
    named = set(re.findall(r"`(torr_\w+)", DOCUMENTATION.read_text()))
    assert named == set(FAMILIES)


def test_the_dashboard_is_one_that_grafana_imports():
    found = json.loads(DASHBOARD.read_text())
    assert {"title", "uid", "panels", "templating", "schemaVersion"} <= set(found)
    assert found["id"] is None
    ids = [panel["id"] for panel in found["panels"]]
    assert len(ids) == len(set(ids))
    for panel in found["panels"]:
        assert panel["datasource"]["uid"] == "${source}"
        assert panel["fieldConfig"]["defaults"]["unit"]
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
