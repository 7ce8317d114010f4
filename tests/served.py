"""Levels beside which an LLM server and its GPUs were monitored: more users queue for 24 places."""

import math

import results
import typed
from streamed import streaming
from torr.verdicts.serving import serving_causes

PLACES = 24
VLLM = {"source": "vllm", "url": "http://gpu1:8000/metrics"}
DCGM = {"source": "dcgm", "url": "http://gpu1:9400/metrics"}


def serving(users, seconds=60, *, first_s=-2):
    """Return the monitor's numbers of a level in which requests of users above 24 wait."""
    waiting = max(0, users - PLACES)
    busy = min(1.0, users / PLACES)
    kv_cache = min(99.0, 30 + 60 * busy + waiting)
    times = range(first_s, seconds)
    wave = [math.sin(second / 3) for second in times]
    preempted = waiting / 40
    vllm = {
        **VLLM,
        "t_s": [float(second) for second in times],
        "seconds": [1.0] * len(times),
        "running": [max(0.0, round(min(users, PLACES) + wave_)) for wave_ in wave],
        "waiting": [max(0.0, round(waiting + 2 * wave_)) if waiting else 0.0 for wave_ in wave],
        "kv_cache_rate": [min(100.0, kv_cache + 1.5 * wave_) for wave_ in wave],
        "prefix_hit_rate": [36 + 4 * wave_ for wave_ in wave],
        "preemptions_per_s": [max(0.0, preempted + wave_) if waiting else 0.0 for wave_ in wave],
        "queue_ms": [1 + 25.0 * waiting + 2 * wave_ + 2 for wave_ in wave],
        "ttft_ms": [280 + 25.0 * waiting + 20 * wave_ for wave_ in wave],
        "prompt_tokens_per_s": [4000 * busy + 300 * wave_ + 300 for wave_ in wave],
        "generated_tokens_per_s": [1500 * busy + 60 * wave_ + 60 for wave_ in wave],
    }
    dcgm = {
        **DCGM,
        "t_s": [second + 0.02 for second in times],
        "seconds": [1.0] * len(times),
        "gpu_rate": [min(100.0, 70 + 28 * busy + wave_) for wave_ in wave],
        "gpu_memory_bytes": [70.0 * 1024**3] * len(times),
        "power_w": [280 + 300 * busy + 10 * wave_ for wave_ in wave],
    }
    derived = {
        "running_mean": float(min(users, PLACES)),
        "running_max": float(min(users, PLACES)),
        "waiting_mean": float(waiting),
        "waiting_max": waiting + 2.0 if waiting else 0.0,
        "kv_cache_mean_rate": kv_cache,
        "kv_cache_max_rate": min(100.0, kv_cache + 1.5),
        "prefix_hit_rate": 36.2,
        "preemptions": float(round(preempted * seconds)),
        "queue_ms": 3 + 25.0 * waiting,
        "ttft_ms": 280 + 25.0 * waiting,
        "first_tokens": 500.0,
        "prompt_tokens_per_s": 4000 * busy + 300,
        "generated_tokens_per_s": 1500 * busy + 60,
        "gpu_mean_rate": 70 + 28 * busy,
        "busiest_gpu_mean_rate": 70 + 28 * busy,
        "gpu_memory_max_bytes": 70.0 * 1024**3,
        "power_w": 280 + 300 * busy,
        "energy_j": (280 + 300 * busy) * seconds,
        "tokens_per_j": (1500 * busy + 60) / (280 + 300 * busy),
    }
    return {"sources": [vllm, dcgm], "derived": derived}


def level(users, seconds=10):
    """Return a level of streams with the numbers of the server."""
    ttft_ms = 300 + 25 * max(0, users - PLACES)
    rate = 40.0 * min(1.0, users / PLACES)
    mean_ms = users / rate * 1000
    pieces = results.intervals(rate, mean_ms, 0, seconds)
    made = results.level(users, rate, mean_ms, seconds=float(seconds), intervals=pieces)
    made = typed.changed(made, connections={"requested": 1, "open_max": 1, "opened": 1})
    return typed.patched(streaming(made, ttft_ms), monitor={"serving": serving(users, seconds)})


def run(users=60, seconds=60):
    """Return a run in which most requests wait for a place."""
    levels = [level(users, seconds)]
    return results.result("run", levels, serving=serving_causes(levels))


def ladder(*levels):
    """Return a ladder whose requests queue from 40 users on."""
    levels = [level(users) for users in levels or (4, 8, 16, 24, 40, 80)]
    return results.result("ladder", levels, serving=serving_causes(levels))
