"""Which times of streams have charts, before a load and after it."""

import pytest

from torr.model.grpc import Alternate, GrpcCall, Paced, Together
from torr.model.pace import Closed
from torr.model.plan import Count, Group, Plan
from torr.model.request import Request
from torr.model.source import Source
from torr.model.stream import Stream
from torr.report.data import stream_charts
from torr.report.text import sentence

URL = "http://h/"


def plan(*requests):
    return Plan((Group(Closed(1), Source(requests)),), Count(1))


def call(sending, name="a"):
    messages = GrpcCall(
        "a.B/C", "{}", show_request=str, show_response=str, response_stream=True, sending=sending
    )
    return Request(URL, name=name, method="POST", stream=Stream("grpc"), grpc=messages)


@pytest.mark.parametrize(
    ("requests", "times"),
    [
        ([Request(URL)], ()),
        ([Request(URL, stream=Stream("openai"))], ("ttft",)),
        ([call(Together())], ("ttfe",)),
        ([call(Alternate())], ("ttfe", "message")),
        ([call(Together()), call(Paced(1), "b")], ("ttfe", "message")),
    ],
)
def test_the_charts_of_a_load_are_known_from_its_plan(requests, times):
    assert stream_charts.planned(plan(*requests)) == times


def test_the_charts_after_a_load_are_those_planned_and_the_time_per_token(streamed, called):
    assert stream_charts.over_time(streamed.levels[0]) == ("ttft", "tpot")
    assert stream_charts.over_time(called.levels[0]) == ("ttfe", "message")


@pytest.mark.parametrize(
    ("limited", "known", "chart"),
    [
        ("ttft", ("ttfe", "inter_chunk", "stream_end"), "ttfe"),
        ("ttft", ("ttfe", "ttft", "tpot"), "ttft"),
        ("ttft", (), "ttft"),
        ("message", ("ttfe", "message"), "message"),
    ],
)
def test_a_limit_on_the_first_text_of_calls_is_in_the_chart_of_their_first_message(
    limited, known, chart
):
    assert stream_charts.chart_of(limited, known) == chart


def test_a_load_without_streams_has_no_chart_of_them(run):
    assert stream_charts.over_time(run.levels[0]) == stream_charts.by_percentile(run.levels) == ()


def test_the_verdict_of_calls_is_about_the_first_message(called, make_result):
    found = sentence.verdict(make_result("run", called.levels))
    assert found.startswith("Streams 10 requests/s over 20 connections with ttfe p95 ")
