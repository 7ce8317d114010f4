"""`torr` beside a target of this machine, and beside an LLM server and a GPU, which it names."""

from __future__ import annotations

import signal
import time

import pytest

from installed import wait_until
from recorder import recording
from torr.results.result import read


def test_a_local_target_is_watched_without_being_named(torr, target):
    server = target("delay", "--delay", "1ms")
    # As much work as takes the target a part of a second, however fast it is.
    load = ("--requests", "40000", "--warmup", "200ms", "-c", "32")
    ended = torr("run", *load, server.url)
    assert ended.code == 0, ended.err
    level = read(ended.folder / "_output/torr/latest/result.json").levels[0]
    seen = level.monitor
    assert seen.target.names[0].split()[0] == str(server.process.pid)
    assert seen.derived.target_cpu_rate > 0
    product = seen.derived.target_cpu_us_per_request * seen.derived.requests_per_cpu_s
    assert product == pytest.approx(1e6, rel=0.01)
    assert seen.t_s[0] < 0 < seen.t_s[-1]
    assert "a request" in ended.out
    assert "Target and machine" in (ended.folder / "_output/torr/latest/report.html").read_text()


LABELS = 'engine="0",model_name="m"'


def vllm_page():
    """Return the page of a vLLM that generates 900 tokens a second, with a TTFT of 250 ms each."""
    count = 20 * time.monotonic()
    lines = [
        "# TYPE vllm:num_requests_waiting gauge",
        f"vllm:num_requests_waiting{{{LABELS}}} 3.0",
        "# TYPE vllm:kv_cache_usage_perc gauge",
        f"vllm:kv_cache_usage_perc{{{LABELS}}} 0.5",
        "# TYPE vllm:generation_tokens_total counter",
        f"vllm:generation_tokens_total{{{LABELS}}} {45 * count}",
        "# TYPE vllm:time_to_first_token_seconds histogram",
        f'vllm:time_to_first_token_seconds_bucket{{{LABELS},le="+Inf"}} {count}',
        f"vllm:time_to_first_token_seconds_count{{{LABELS}}} {count}",
        f"vllm:time_to_first_token_seconds_sum{{{LABELS}}} {0.25 * count}",
    ]
    return "\n".join([*lines, ""])


def dcgm_page():
    """Return the page of a dcgm-exporter with one GPU of 300 W."""
    energy_mj = 300_000 * time.monotonic()
    return (
        "# TYPE DCGM_FI_DEV_GPU_UTIL gauge\n"
        'DCGM_FI_DEV_GPU_UTIL{gpu="0",modelName="H100"} 97\n'
        "# TYPE DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION counter\n"
        f'DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{{gpu="0",modelName="H100"}} {energy_mj:.0f}\n'
    )


class Served:
    """A target with both pages, and the times at which each path was requested."""

    def __init__(self):
        self.times = {"/": [], "/metrics": [], "/gpu": []}

    def __call__(self, seen):
        self.times[seen.path].append(time.monotonic())
        pages = {"/": str, "/metrics": vllm_page, "/gpu": dcgm_page}
        return 200, {}, pages[seen.path]().encode()

    def is_covered(self):
        """Return whether both pages were read a few times, over nine tenths of the load."""
        load, *pages = self.times.values()
        if not load or min(map(len, pages)) < 4:
            return False
        first = max(page[0] for page in pages)
        return time.monotonic() - first >= 9 * (first - load[0])


def test_a_named_server_and_its_gpu_are_joined_over_the_window(start, tmp_path):
    served = Served()
    with recording(served) as server:
        monitor = ("--monitor", f"vllm:{server.url}", "--monitor", f"dcgm:{server.url}/gpu")
        load = ("--rate", "20", "-z", "10m", "--warmup", "100ms")
        process = start("run", *load, *monitor, f"{server.url}/")
        wait_until(served.is_covered, 300)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert "LLM server" in out, err
    level = read(tmp_path / "_output/torr/latest/result.json").levels[0]
    vllm, dcgm = level.monitor.serving.sources
    assert (vllm.source, vllm.error, dcgm.source, dcgm.error) == ("vllm", None, "dcgm", None)
    assert {*vllm.waiting} == {3.0}
    assert {*dcgm.gpu_rate} == {97.0}
    derived = level.monitor.serving.derived
    assert (derived.waiting_mean, derived.waiting_max, derived.kv_cache_max_rate) == (3, 3, 50)
    assert derived.ttft_ms == pytest.approx(250.0)
    # Times of readings are those of the exchanges, which a busy machine delays.
    assert derived.generated_tokens_per_s == pytest.approx(900, rel=0.5)
    assert derived.tokens_per_j == pytest.approx(3.0, rel=0.5)
    assert "LLM servers and GPUs" in (tmp_path / "_output/torr/latest/report.html").read_text()
