"""What docs/faults.md says of classes, reasons and faults is what torr does."""

import re
from contextlib import ExitStack
from dataclasses import replace

import pytest

from documents import ROOT
from reference import faults
from torr import engine, targets
from torr.messages.advice import ADVICE
from torr.model.pace import Closed
from torr.model.plan import Count, Group, Plan
from torr.model.request import Request
from torr.model.source import Source
from torr.model.transport import Transport
from torr.options.grpc import GrpcOptions
from torr.options.measure import MeasureOptions
from torr.planning.grpc import GrpcPlanner
from torr.planning.websocket import SWITCHED

SECOND_NS = 1_000_000_000


# More than a window of HTTP/2 has that was not enlarged.
BODY = b"x" * 100_000
ECHO = ROOT / "crates/targets/proto/echo.proto"


def three_requests(url, fault, *, users, timeout_s):
    protocol = fault.partition("_")[0]
    request = Request(url=url, timeout_ns=round(timeout_s * SECOND_NS))
    if protocol == "h2":
        request = replace(request, body=BODY)
    elif protocol == "grpc":
        options = MeasureOptions(urls=(url,), grpc=GrpcOptions(proto_files=(str(ECHO),)))
        message = replace(request, body=b'{"text": "hello"}')
        request = GrpcPlanner(options).call(message, "torr.Echo/Unary")
    elif protocol == "ws":
        url = url.replace("http://", "ws://")
        request = replace(request, url=url, body=b"hello", accept_statuses=SWITCHED)
    return Plan(
        transport=Transport(http="2c" if protocol in ("h2", "grpc") else "1.1"),
        groups=(Group(Closed(users), Source.of(request)),),
        stop=Count(3),
        warmup_ns=0,
        drain_ns=20 * SECOND_NS,
        retry_delay_ns=0,
    )


def test_every_class_of_the_engine_is_described():
    source = (faults.CRATES / "client/src/outcome.rs").read_text(encoding="utf-8")
    assert list(faults.CLASSES) == re.findall(r'Self::\w+ => "(\w+)"', source)


def test_every_reason_has_advice_and_a_described_class():
    found = faults.reasons()
    assert engine.reasons() == {name: text for _, name, text in found}
    assert [name for _, name, _ in found] == list(ADVICE)
    assert {kind for kind, _, _ in found} | {"ok"} == set(faults.CLASSES)


def test_every_fault_of_the_target_is_described():
    assert [name for name, _ in faults.target_faults()] == targets.faults() == list(faults.ENDS)


TIMEOUTS = {fault for fault, ends in faults.ENDS.items() if ends.startswith("timeout.")}


@pytest.fixture(scope="module")
def timed_out():
    """Return the levels of all faults that end with a timeout: their loads wait at once."""
    with ExitStack() as stack:
        loads = {}
        for fault in TIMEOUTS:
            target = stack.enter_context(targets.listening(targets.Faulty(fault)))
            # A run whose connections are not accepted is given up after its timeout and 2 s.
            timeout_s = 0.2 if fault == "no_accept" else 5
            plan = three_requests(target.url, fault, users=3, timeout_s=timeout_s)
            loads[fault] = engine.start(plan)
        return {fault: level_of(load) for fault, load in loads.items()}


def level_of(load):
    list(engine.intervals(load))
    return engine.level(load)


@pytest.mark.parametrize(("fault", "ends"), faults.ENDS.items())
def test_a_fault_ends_as_the_page_says(fault, ends, request):
    if fault in TIMEOUTS:
        level = request.getfixturevalue("timed_out")[fault]
    else:
        with targets.listening(targets.Faulty(fault)) as target:
            plan = three_requests(target.url, fault, users=1, timeout_s=20)
            level = level_of(engine.start(plan))
    if ends == "ok":
        assert (level.counts.ok, level.reasons) == (3, {})
    else:
        assert list(level.reasons) == [ends]
