"""The tables of LLM servers and GPU exporters, read from a page of each; names in --monitor."""

from __future__ import annotations

from pathlib import Path

import pytest

from torr.errors import UsageError
from torr.monitor.exporters import (
    QUANTITIES,
    ServingPlace,
    exporter,
    exporter_names,
    serving_place,
)
from torr.monitor.exposition import ExpositionReader
from torr.monitor.readings import reading

PAGES = Path(__file__).with_name("pages")


def read(name, text=None):
    """Return the reading of a page, with the counters of all series added up."""
    known = exporter(name)
    page = (PAGES / f"{name}.txt").read_text() if text is None else text
    found = reading(ExpositionReader(known.names).samples(page), known, 0.0)
    totals = {}
    for (quantity, _), value in found.counters.items():
        totals[quantity] = totals.get(quantity, 0.0) + value
    return {**found.gauges, **totals}


EXPECTED = {
    "vllm": {
        "running": 44,
        "waiting": 12,
        "kv_cache_rate": 89,
        "prefix_hits": 21_600,
        "prefix_queries": 60_000,
        "preemptions": 5,
        "queue_s_sum": 35,
        "queue_s_count": 140,
        "ttft_s_sum": 60,
        "ttft_s_count": 150,
        "prompt_tokens": 60_000,
        "generated_tokens": 17_000,
    },
    "sglang": {
        "running": 48,
        "waiting": 7,
        "kv_cache_rate": 62,
        "prefix_hits": 2000,
        "prefix_queries": 8000,
        "prefix_hit_rate": 25,
        "preemptions": 2,
        "queue_s_sum": 5,
        "queue_s_count": 100,
        "ttft_s_sum": 20,
        "ttft_s_count": 100,
        "prompt_tokens": 8000,
        "generated_tokens": 7500,
    },
    "trtllm": {
        "running": 16,
        "waiting": 4,
        "kv_cache_rate": 50,
        "prefix_hit_rate": 38,
        "queue_s_sum": 2,
        "queue_s_count": 40,
        "ttft_s_sum": 6,
        "ttft_s_count": 40,
        "generated_tokens": 5120,
    },
    "tgi": {
        "running": 32,
        "waiting": 5,
        "queue_s_sum": 30,
        "queue_s_count": 200,
        "prompt_tokens": 51_200,
        "generated_tokens": 25_600,
    },
    "llamacpp": {
        "running": 4,
        "waiting": 2,
        "prefix_hits": 2000,
        "prefix_queries": 8000,
        "prompt_tokens": 8000,
        "generated_tokens": 4000,
    },
    "dcgm": {
        "gpu_rate": 95,
        "busiest_gpu_rate": 100,
        "gpu_memory_bytes": 130_000 * 1024**2,
        "power_w": 1000,
        "energy_j": 9000,
    },
}


def test_every_table_has_a_page_and_knows_only_quantities_of_torr():
    assert sorted(EXPECTED) == list(exporter_names())
    for name in exporter_names():
        known = exporter(name)
        quantities = {q.removesuffix("_sum").removesuffix("_count") for q in known.metrics}
        assert quantities <= set(QUANTITIES)
        assert set(known.factors) <= quantities


@pytest.mark.parametrize("name", EXPECTED)
def test_a_page_of_each_server_gives_torrs_quantities(name):
    assert read(name) == pytest.approx(EXPECTED[name])


def test_names_of_older_versions_are_read_only_without_the_new_ones():
    old = 'vllm:gpu_cache_usage_perc{model_name="m"} 0.5\n'
    assert read("vllm", old) == {"kv_cache_rate": 50}
    assert read("vllm", old + "vllm:kv_cache_usage_perc 0.25\n") == {"kv_cache_rate": 25}


def test_a_sum_of_metrics_needs_all_of_them():
    assert read("llamacpp", "llamacpp:prompt_tokens_total 7\n") == {"prompt_tokens": 7}


@pytest.mark.parametrize("value", ["NaN", "+Inf", "-1", "9223372036854775794"])
def test_what_is_no_amount_is_unknown(value):
    assert read("dcgm", f"DCGM_FI_DEV_POWER_USAGE {value}\n") == {}
    one = 'DCGM_FI_DEV_POWER_USAGE{gpu="0"} 300\n'
    assert read("dcgm", f'{one}DCGM_FI_DEV_POWER_USAGE{{gpu="1"}} {value}\n') == {}


def test_a_share_above_1_is_all():
    assert read("vllm", "vllm:kv_cache_usage_perc 1.0001\n") == {"kv_cache_rate": 100}


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("vllm:http://gpu1:8000", "http://gpu1:8000/metrics"),
        ("vllm:http://gpu1:8000/", "http://gpu1:8000/metrics"),
        ("sglang:http://gpu1:30000/metrics", "http://gpu1:30000/metrics"),
        ("trtllm:http://gpu1:8000", "http://gpu1:8000/prometheus/metrics"),
        ("trtllm:http://gpu1:8000/metrics", "http://gpu1:8000/metrics"),
        ("dcgm:https://gpu1:9400/x?a=b", "https://gpu1:9400/x?a=b"),
        ("tgi:http://[::1]:80", "http://[::1]:80/metrics"),
    ],
)
def test_a_name_before_a_url_says_what_answers_there(text, url):
    place = serving_place(text)
    assert (place.source, str(place)) == (text.partition(":")[0], url)


def test_gpus_of_this_machine_are_named_by_their_index_or_all_together():
    assert serving_place("nvml") == ServingPlace("nvml")
    assert serving_place("nvml:3") == ServingPlace("nvml", gpu=3)
    assert [str(serving_place(text)) for text in ("nvml", "nvml:3")] == ["nvml", "nvml:3"]


@pytest.mark.parametrize("text", ["http://localhost:9090", "localhost:9090", "unix:/run/a.sock"])
def test_other_sources_have_no_name(text):
    assert serving_place(text) is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("ollama:http://localhost:11434", "torr knows no server 'ollama'"),
        ("vllm:localhost:8000", "'localhost:8000' has no scheme"),
        ("nvml:x", "'x' is not the index of a GPU"),
        ("nvml:", "'' is not the index of a GPU"),
    ],
)
def test_what_names_nothing_is_refused(text, why):
    with pytest.raises(UsageError) as refused:
        serving_place(text)
    assert why in str(refused.value)


def test_the_names_are_offered_where_one_is_unknown():
    with pytest.raises(UsageError) as refused:
        serving_place("ollama:http://localhost:11434")
    assert refused.value.hint == ("choose one of dcgm, llamacpp, sglang, tgi, trtllm, vllm, nvml")


def ranks(name, **values):
    """A page with a series of SGLang for each rank of each replica."""
    lines = (
        f'sglang:{name}{{dp_rank="{replica}",tp_rank="{rank}"}} {value}'
        for replica, of_ranks in values.items()
        for rank, value in of_ranks.items()
    )
    return f"# TYPE sglang:{name} gauge\n" + "\n".join(lines) + "\n"


def test_ranks_of_a_replica_of_sglang_count_once_and_replicas_add_up():
    # With attention in parallel, each replica has tensor ranks of its own.
    page = ranks("num_running_reqs", a={10: 99, 2: 5}, b={11: 99, 3: 7})
    assert read("sglang", page) == {"running": 12}
    assert read("sglang", 'sglang:num_running_reqs{tp_rank="1"} 4\n') == {"running": 4}


def test_ranks_of_other_servers_all_count():
    page = 'vllm:num_requests_running{tp_rank="0"} 1\nvllm:num_requests_running{tp_rank="1"} 2\n'
    assert read("vllm", page) == {"running": 3}
