import pytest

from page import english
from streamed import streaming
from torr.report import markdown, trust, view
from torr.report.streaming import stream_facts


@pytest.fixture
def stream(streamed):
    return streamed["levels"][0]["stream"]


def facts(streamed):
    return stream_facts(streamed["levels"][0])


def test_goodput_a_second_is_said_where_there_is_any(streamed, stream):
    stream |= {"goodput_rate": 97.5, "good_per_s": 3.333}
    assert facts(streamed)["goodput"] == "97.5 % met every SLO of latency, 3.33/s"
    stream |= {"goodput_rate": 0.0}
    assert facts(streamed)["goodput"] == "0 % met every SLO of latency"
    stream |= {"goodput_rate": 50.0, "good_per_s": 0.0}
    assert facts(streamed)["goodput"] == "50 % met every SLO of latency"


def test_goodput_names_the_requests_that_slos_name(streamed, stream):
    stream |= {"goodput_rate": 50.0, "good_per_s": 2.0}
    steps = [{"name": "simple", "stream": dict(stream)}, {"name": "hard", "stream": None}]
    streamed["levels"][0]["steps"] = steps
    assert facts(streamed)["goodput"] == "50 % of simple met every SLO of latency, 2/s"
    steps[1]["stream"] = dict(stream)
    assert facts(streamed)["goodput"] == "50 % met every SLO of latency, 2/s"


def test_a_tokenizer_has_its_own_pace(streamed, stream):
    counted = {"file": "bytes.json", "tokens_out": 11_640}
    stream["tokenizer"] = counted
    assert facts(streamed)["tokenizer"] == "11,640 out, by bytes.json"
    counted |= {"tokens_per_s": 2425.0, "tpot_ms": {"mean": 4.13}}
    said = "11,640 out, 2,425/s, tpot 4.13 ms on average, by bytes.json"
    assert facts(streamed)["tokenizer"] == said


def test_the_rate_that_aiperf_would_say_stands_with_the_tokens(streamed, stream):
    stream |= {"tokens_per_s": 100.0, "stream_tokens_per_s": {"mean": 48.0}}
    stream["alias"] = {"aiperf": {"output_token_throughput_per_user": {"n": 9, "mean": 50.25}}}
    assert facts(streamed)["tokens/s"] == (
        "100 in total, 48 each stream on average; "
        "aiperf output_token_throughput_per_user 50.2 on average"
    )


def test_levels_with_unreliable_gaps_are_named(streamed_ladder):
    assert "inter_chunk" not in trust.trust(streamed_ladder)
    for level in streamed_ladder["levels"][-2:]:
        level["stream"]["inter_chunk_reliable"] = False
    said = "inter_chunk is unreliable at 200 and 400 connections (a late client read more than 5 %"
    assert f" · {said}" in trust.trust(streamed_ladder)
    assert "inter_chunk is unreliable at 200" in markdown.text(streamed_ladder)
    assert "inter_chunk is unreliable at 200" in english(
        view.view(streamed_ladder)["trust"]["text"]
    )


def test_a_run_says_it_beside_what_was_joined(make_station, make_result):
    level = streaming(make_station(20), 300)
    level["stream"] |= {"inter_chunk_reliable": False, "coalesced": 90, "client_coalesced": 80}
    result = make_result("run", [level])
    assert "inter_chunk" not in trust.trust(result)
    assert stream_facts(level)["coalesced"].endswith(": inter_chunk is unreliable")
