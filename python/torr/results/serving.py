"""The `serving` of a level's monitor: what LLM servers and GPUs reported while it lasted.

The numbers of a server are those of all its models and engines, the numbers of a source of GPUs
those of all its GPUs: counts, power and memory are added up, percentages are averaged.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from torr.messages.message import Message
from torr.results.base import Amount, Count, Number, Percent, ResultPart
from torr.results.position import OF_ARRIVALS

Percents = list[Percent | None]
Amounts = list[Amount | None]


class ServingSeries(ResultPart, kw_only=True):
    """One LLM server or source of GPUs over time; what it does not report is an empty list.

    Entry k of every list is of the time from `t_s[k]` on, `seconds[k]` long. Numbers of things are
    those at its end; times are means of the requests that it counted.
    """

    source: Annotated[str, Meta(description="the kind of server: vllm, dcgm, nvml")]
    url: Annotated[str, Meta(description="of its page; nvml or nvml:INDEX for GPUs of torr's")]
    t_s: list[float] = []
    seconds: list[Amount] = []
    running: Annotated[Amounts, Meta(description="requests that it works on")] = []
    waiting: Annotated[Amounts, Meta(description="requests in its queue")] = []
    kv_cache_rate: Annotated[Percents, Meta(description="of the KV cache in use")] = []
    prefix_hit_rate: Annotated[
        Percents, Meta(description="of the prompts' tokens that the prefix cache had")
    ] = []
    preemptions_per_s: Amounts = []
    queue_ms: Annotated[Amounts, Meta(description="mean time in the queue")] = []
    ttft_ms: Annotated[Amounts, Meta(description="mean TTFT by the server's clock")] = []
    prompt_tokens_per_s: Amounts = []
    generated_tokens_per_s: Amounts = []
    gpu_rate: Annotated[Percents, Meta(description="of the time in which a GPU worked")] = []
    gpu_memory_bytes: Annotated[Amounts, Meta(description="in use")] = []
    power_w: Amounts = []
    error: Message | None = None


class ServingUsage(ResultPart, kw_only=True):
    """Numbers of the measured window, of all LLM servers and all GPUs together."""

    running_mean: Amount | None = None
    running_max: Amount | None = None
    waiting_mean: Amount | None = None
    waiting_max: Amount | None = None
    kv_cache_mean_rate: Percent | None = None
    kv_cache_max_rate: Percent | None = None
    prefix_hit_rate: Percent | None = None
    preemptions: Amount | None = None
    queue_ms: Annotated[Amount | None, Meta(description="mean time in the queue")] = None
    ttft_ms: Annotated[Amount | None, Meta(description="mean TTFT by the servers' clocks")] = None
    first_tokens: Annotated[
        Amount | None, Meta(description="requests of which ttft_ms is the mean")
    ] = None
    prompt_tokens_per_s: Amount | None = None
    generated_tokens_per_s: Amount | None = None
    gpu_mean_rate: Percent | None = None
    busiest_gpu_mean_rate: Annotated[
        Percent | None, Meta(description="of the GPU that is busiest at each reading")
    ] = None
    gpu_memory_max_bytes: Amount | None = None
    power_w: Annotated[Amount | None, Meta(description="mean power of all GPUs")] = None
    energy_j: Annotated[Amount | None, Meta(description="energy of all GPUs")] = None
    tokens_per_j: Annotated[
        Amount | None, Meta(description="generated tokens per joule of the GPUs")
    ] = None


class ServingSamples(ResultPart, kw_only=True):
    """What the sources reported over time, and the numbers of the window."""

    sources: list[ServingSeries] = []
    derived: ServingUsage


class AfterGivingUp(ResultPart, kw_only=True):
    """How long requests occupy the server after their users have given up; `text` says it."""

    concurrency: Count
    cancelled: Annotated[Amount, Meta(description="attempts whose users gave up in the window")]
    samples: Annotated[Count, Meta(description="readings of the server in the window")] = 0
    extra_requests: Annotated[
        Number | None,
        Meta(description="mean requests of the server, less those that the clients had open"),
    ] = None
    occupied_ms: Annotated[
        Amount | None,
        Meta(description="mean time that a cancelled request occupies the server; null if unknown"),
    ] = None
    low_ms: Annotated[Amount | None, Meta(description="lower end of its 95 % interval")] = None
    high_ms: Annotated[Amount | None, Meta(description="upper end of its 95 % interval")] = None
    text: Message


ServingCauseName = Literal["queueing", "cache_full", "not_saturated", "outside_the_server"]


class ServingCause(ResultPart, kw_only=True):
    """A cause of what a client of an LLM server saw, which the monitored numbers show."""

    cause: ServingCauseName
    concurrency: Annotated[Count, Meta(description="the lowest level that shows it")]
    rate: Annotated[Amount | None, Meta(description=OF_ARRIVALS)] = None
    text: Message
