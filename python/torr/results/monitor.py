"""The `monitor` of a level: what target, load generator and machine used while it lasted.

Entry k of every list is of the time from `t_s[k]` on, `seconds[k]` long; the warm-up is negative,
as that of intervals is. What is not known is null.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from torr.messages.message import Message
from torr.results.base import Amount, Count, Percent, ResultPart
from torr.results.serving import ServingSamples

Percents = list[Percent | None]
Amounts = list[Amount | None]
Counts = list[Count | None]


class CoreSeries(ResultPart, kw_only=True):
    """How busy each core was, one list for each core, and the mean of all by kind of work."""

    numbers: list[Count] = []
    busy_rate: list[Percents] = []
    user_rate: Percents = []
    system_rate: Percents = []
    irq_rate: Percents = []
    steal_rate: Percents = []


class ProcessSeries(ResultPart, kw_only=True):
    """A tree of processes; `cpu_rate` is percent of one core, and may be more than 100."""

    cpu_rate: Amounts = []
    busiest_thread_rate: Percents = []
    voluntary_per_s: Amounts = []
    involuntary_per_s: Amounts = []
    descriptors: Counts = []
    descriptors_rate: Percents = []
    processes: Counts = []
    threads: Counts = []
    rss_bytes: Counts = []
    pss_bytes: Annotated[Count | None, Meta(description="at the end")] = None
    cores: Annotated[list[Count], Meta(description="that they may run on")] = []
    names: Annotated[list[str], Meta(description="of the processes it begins at")] = []


class NetworkSeries(ResultPart, kw_only=True):
    """The traffic of a network interface."""

    bytes_in_per_s: Amounts = []
    bytes_out_per_s: Amounts = []
    packets_in_per_s: Amounts = []
    packets_out_per_s: Amounts = []


class PressureSeries(ResultPart, kw_only=True):
    """How long some tasks, or all of them, waited for a resource (PSI)."""

    some_rate: Percents = []
    full_rate: Percents = []
    some_avg10_rate: Percents = []
    full_avg10_rate: Percents = []


class EndpointSeries(ResultPart, kw_only=True):
    """One series of a Prometheus endpoint; a counter's values are its growth a second."""

    name: str
    kind: Literal["counter", "gauge", "query"]
    labels: dict[str, str] = {}
    values: list[float | None] = []


class EndpointSamples(ResultPart, kw_only=True):
    """The series of a Prometheus endpoint or server, at their own times on the load's axis."""

    url: str
    t_s: list[float] = []
    series: list[EndpointSeries] = []
    left_out: Annotated[Count, Meta(description="series beyond the maximum that is recorded")] = 0
    error: Message | None = None


class WindowUsage(ResultPart, kw_only=True):
    """Numbers of the measured window; a request is an ok response that ended in it."""

    target_cpu_rate: Amount | None = None
    target_cpu_us_per_request: Amount | None = None
    requests_per_cpu_s: Amount | None = None
    target_rss_max_bytes: Count | None = None
    generator_cpu_rate: Amount | None = None
    core_busy_rate: list[Percent] = []
    limit: Literal["target", "generator", "neither", "both"] | None = None
    limit_reason: Message | None = None


class MonitorSeries(ResultPart, kw_only=True):
    """Everything that was sampled once a second beside a level."""

    t_s: list[float] = []
    seconds: list[Amount] = []
    cores: CoreSeries | None = None
    target: ProcessSeries | None = None
    generator: ProcessSeries | None = None
    network: dict[str, NetworkSeries] = {}
    psi: dict[str, PressureSeries] = {}
    endpoints: list[EndpointSamples] = []
    serving: Annotated[
        ServingSamples | UnsetType,
        Meta(description="absent unless LLM servers or GPUs were monitored by name"),
    ] = UNSET
    derived: WindowUsage | None = None
    cost_rate: Annotated[
        Amount | None,
        Meta(description="percent of a core that watching took, by its threads' CPU clock"),
    ] = None
    warnings: list[Message] = []
