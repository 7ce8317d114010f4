import typed
from page import english
from streamed import streaming
from torr.report.files import markdown
from torr.report.text import trust
from torr.report.text.streaming import stream_facts
from torr.report.view import view


def facts(streamed, *, steps=(), **stream):
    """Return the facts of a level with other statistics of its streams."""
    return stream_facts(typed.patched(streamed.levels[0], stream=stream, requests=list(steps)))


def test_goodput_a_second_is_said_where_there_is_any(streamed):
    said = facts(streamed, goodput_rate=97.5, good_per_s=3.333)
    assert said["goodput"] == "97.5 % met every SLO of latency, 3.33/s"
    said = facts(streamed, goodput_rate=0.0, good_per_s=3.333)
    assert said["goodput"] == "0 % met every SLO of latency"
    said = facts(streamed, goodput_rate=50.0, good_per_s=0.0)
    assert said["goodput"] == "50 % met every SLO of latency"


def test_goodput_names_the_requests_that_slos_name(streamed):
    good = {"goodput_rate": 50.0, "good_per_s": 2.0}
    simple, hard = ({"name": name, "stream": good} for name in ("simple", "hard"))
    said = facts(streamed, steps=[simple, {**hard, "stream": None}], **good)
    assert said["goodput"] == "50 % of simple met every SLO of latency, 2/s"
    said = facts(streamed, steps=[simple, hard], **good)
    assert said["goodput"] == "50 % met every SLO of latency, 2/s"


def test_a_tokenizer_has_its_own_pace(streamed):
    counted = {"file": "bytes.json", "tokens_out": 11_640}
    assert facts(streamed, tokenizer=counted)["tokenizer"] == "11,640 out, by bytes.json"
    counted |= {"tokens_per_s": 2425.0, "tpot_ms": {"n": 9, "mean": 4.13}}
    said = "11,640 out, 2,425/s, tpot 4.13 ms on average, by bytes.json"
    assert facts(streamed, tokenizer=counted)["tokenizer"] == said


def test_a_rate_of_tokens_that_were_not_all_reported_is_a_lower_bound(streamed):
    said = facts(streamed, tokens_per_s=100.0, tokens_unreported=2, stream_tokens_per_s=None)
    assert said["tokens/s"] == "≥ 100 in total"


def test_the_rate_that_aiperf_would_say_stands_with_the_tokens(streamed):
    each = {"n": 9, "mean": 48.0}
    alias = {"aiperf": {"output_token_throughput_per_user": {"n": 9, "mean": 50.25}}}
    said = facts(streamed, tokens_per_s=100.0, stream_tokens_per_s=each, alias=alias)
    assert said["tokens/s"] == (
        "100 in total, 48 each stream on average; "
        "aiperf output_token_throughput_per_user 50.2 on average"
    )


def test_levels_with_unreliable_gaps_are_named(streamed_ladder):
    assert "inter_chunk" not in trust.trust(streamed_ladder)
    unreliable = {"stream": {"inter_chunk_reliable": False}}
    streamed_ladder = typed.patched(streamed_ladder, levels={4: unreliable, 5: unreliable})
    said = "inter_chunk is unreliable at 200 and 400 connections (the client was late, and read"
    assert f" · {said}" in trust.trust(streamed_ladder)
    assert "inter_chunk is unreliable at 200" in markdown.text(streamed_ladder)
    assert "inter_chunk is unreliable at 200" in english(
        view.view(streamed_ladder)["trust"]["text"]
    )


def test_a_run_says_it_beside_what_was_joined(make_station, make_result):
    joined = {"inter_chunk_reliable": False, "coalesced": 90, "client_coalesced": 80}
    level = typed.patched(streaming(make_station(20, delay_ms=500), 300), stream=joined)
    result = make_result("run", [level])
    assert "inter_chunk" not in trust.trust(result)
    assert stream_facts(level)["coalesced"].endswith(": inter_chunk is unreliable")


def test_tokens_of_a_cache_are_a_share_of_the_prompts_tokens(streamed):
    assert "prefix cache hits" not in facts(streamed, tokens_in=1_000)
    said = facts(streamed, tokens_in=1_000, tokens_cached=639)
    assert said["prefix cache hits"] == "63.9 % of prompt tokens (639)"
    said = facts(streamed, tokens_in=1_000, tokens_cached=2_000)
    assert said["prefix cache hits"] == "100 % of prompt tokens (2,000)"


def test_lengths_and_calls_of_tools_are_said_where_there_are_any(streamed):
    assert facts(streamed).keys().isdisjoint({"output length", "tool calls"})
    check = {"requested": 128, "checked": 100, "different": 12}
    said = facts(streamed, length_check=check, with_tool_calls=3)
    assert said["output length"] == "12 of 100 responses differ from 128 tokens"
    assert said["tool calls"] == "in 3 answers"
    lengths = {
        "checked": 9,
        "planned_mean": 100,
        "reported_mean": 60,
        "difference_mean": -40,
        "difference_percent": -40,
    }
    said = facts(streamed, output_lengths=lengths)
    assert said["output length"] == "60.0 tokens on average, -40.0 from the planned 100.0 (-40.0 %)"
