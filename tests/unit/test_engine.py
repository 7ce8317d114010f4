"""The interface to the compiled module: errors translated once, JSON in and out."""

from __future__ import annotations

import subprocess
import sys
import types
from dataclasses import replace

import pytest

from torr import engine, targets
from torr.errors import NothingMeasuredError, OutputError, UsageError
from torr.messages.advice import advice
from torr.model.condition import METRICS
from torr.model.pace import Closed
from torr.model.plan import Duration, Group, Plan
from torr.model.request import Request
from torr.model.source import Source
from torr.model.stream import Limit, Stream
from torr.units import SECOND_NS


@pytest.fixture
def plan():
    group = Group(pace=Closed(1), source=Source.of(Request("http://127.0.0.1:9/")))
    return Plan(groups=(group,), stop=Duration(SECOND_NS))


@pytest.fixture
def compiled(monkeypatch):
    """A compiled module to be filled by the test."""
    module = types.ModuleType("torr._engine")
    monkeypatch.setitem(sys.modules, "torr._engine", module)
    monkeypatch.setattr("torr._engine", module, raising=False)
    return module


def raising(error):
    def call(*_arguments):
        raise error

    return call


def test_a_plan_that_the_engine_refuses_is_a_usage_error(compiled, plan):
    compiled.Run = compiled.once = raising(ValueError("nohost: unknown host"))
    for call in (engine.start, engine.once):
        with pytest.raises(UsageError, match="nohost: unknown host"):
            call(plan)


def test_the_engine_knows_every_metric_of_latency_that_may_have_a_limit(plan):
    limits = tuple(Limit(metric, SECOND_NS) for metric, unit in METRICS.items() if unit == "ms")
    request = Request("http://127.0.0.1:9/", stream=Stream("sse"), limits=limits)
    group = Group(pace=Closed(1), source=Source.of(request))
    assert engine.once(replace(plan, groups=(group,))).reason == "connect.refused"


def test_an_engine_that_cannot_start_measures_nothing(compiled, plan):
    compiled.Run = compiled.once = raising(OSError("no thread left"))
    for call in (engine.start, engine.once):
        with pytest.raises(NothingMeasuredError, match="no thread left"):
            call(plan)


def test_a_server_that_does_not_say_its_version_is_named_with_the_reason(compiled, plan):
    error = ConnectionError("https://h:1", "tls.expired")
    compiled.Run = compiled.once = raising(error)
    compiled.reasons = lambda: [("tls.expired", "the certificate of the target has expired")]
    for call in (engine.start, engine.once):
        with pytest.raises(NothingMeasuredError) as raised:
            call(plan)
        assert str(raised.value).partition("\n")[0] == (
            "--http auto: https://h:1 did not say which version of HTTP it speaks:"
            " tls.expired: the certificate of the target has expired"
        )
        assert raised.value.hint == advice("tls.expired") != ""


def test_an_engine_process_that_cannot_start_measures_nothing(monkeypatch, plan):
    monkeypatch.setattr(
        "torr.engine.command",
        lambda *_words: [sys.executable, "-c", "raise SystemExit('no engine here')"],
    )
    two = replace(plan, groups=(replace(plan.groups[0], pace=Closed(2)),), processes=2)
    with pytest.raises(NothingMeasuredError, match=r"could not start: it died .*no engine here"):
        engine.start(two)


def test_an_engine_that_is_not_built_is_named(monkeypatch, plan):
    monkeypatch.setitem(sys.modules, "torr._engine", None)
    monkeypatch.delattr("torr._engine", raising=False)
    with pytest.raises(NothingMeasuredError, match="the engine is not built"):
        engine.start(plan)
    with (
        pytest.raises(NothingMeasuredError, match="the engine is not built"),
        targets.listening(targets.Hello()),
    ):
        pass


def test_a_level_that_is_not_ready_is_an_error():
    load = types.SimpleNamespace(level=raising(RuntimeError("still running")))
    with pytest.raises(NothingMeasuredError, match="still running"):
        engine.level(load)


def test_a_target_that_cannot_listen_is_a_usage_error(compiled):
    compiled.Target = raising(OSError("address in use"))
    with (
        pytest.raises(UsageError, match=r"--port 80: cannot listen on .*: address in use"),
        targets.listening(targets.Hello(), targets.ListenAddress(port=80)),
    ):
        pass


def test_a_target_is_stopped_at_the_end(compiled):
    stopped = []
    made = types.SimpleNamespace(
        port=81, counts=lambda: '{"requests": 3}', stop=lambda: stopped.append(1)
    )
    specs = []
    compiled.Target = lambda spec: specs.append(spec) or made
    delay = targets.Delay(targets.Constant(5), capacity=2)
    with targets.listening(delay, targets.ListenAddress("::1")) as target:
        assert target.url == "http://[::1]:81"
        assert target.counts() == {"requests": 3}
        assert not stopped
    assert stopped
    assert '"delay": {"ns": 5, "kind": "constant"}' in specs[0]
    assert '"capacity": 2' in specs[0]


def test_what_several_processes_did_is_known_when_they_have_stopped():
    with targets.listening(targets.Hello(), targets.ListenAddress(processes=2)) as target:
        with pytest.raises(RuntimeError, match="known when they have stopped"):
            target.counts()
        target.stop()
        assert target.counts()["requests"] == 0


def test_a_target_process_that_cannot_start_is_a_usage_error(monkeypatch):
    monkeypatch.setattr(
        "torr.shared_target.command",
        lambda *_words: [sys.executable, "-c", "raise SystemExit('no engine here')"],
    )
    with (
        pytest.raises(UsageError, match="a target process could not start: no engine here"),
        targets.listening(targets.Hello(), targets.ListenAddress(processes=2)),
    ):
        pass


def test_a_log_that_a_target_could_not_complete_is_told(compiled):
    made = types.SimpleNamespace(port=81, stop=raising(OSError("disk full")))
    compiled.Target = lambda _spec: made
    with (
        pytest.raises(OutputError, match="log is not complete: disk full"),
        targets.listening(targets.Hello()),
    ):
        pass


def test_the_stub_says_what_the_compiled_module_has():
    checked = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "torr._engine", "--ignore-disjoint-bases"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout
