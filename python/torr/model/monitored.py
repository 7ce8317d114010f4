"""The `monitor` of result.json: what target, generator and machine did during a level.

Entry k of every list is of the time from `t_s[k]` on, `seconds[k]` long; the warm-up is negative,
as that of slices is. What is not known is null.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from torr.model.part import Amount, Count, Part, Rate

Rates = list[Rate | None]
Amounts = list[Amount | None]
Numbers = list[Count | None]


class Cores(Part):
    """How busy each core was, a list a core; of what, on average over the cores."""

    numbers: list[Count] = []
    busy_rate: list[Rates] = []
    user_rate: Rates = []
    system_rate: Rates = []
    irq_rate: Rates = []
    steal_rate: Rates = []


class Processes(Part):
    """A tree of processes; `cpu_rate` is percent of one core, and may be more than 100."""

    cpu_rate: Amounts = []
    busiest_thread_rate: Rates = []
    voluntary_per_s: Amounts = []
    involuntary_per_s: Amounts = []
    descriptors: Numbers = []
    descriptors_rate: Rates = []
    processes: Numbers = []
    threads: Numbers = []
    rss_bytes: Numbers = []
    pss_bytes: Count | None = Field(default=None, description="at the end")
    cores: list[Count] = Field(default=[], description="that they may run on")
    names: list[str] = Field(default=[], description="of the processes it begins at")


class Traffic(Part):
    """What went over a network interface."""

    bytes_in_per_s: Amounts = []
    bytes_out_per_s: Amounts = []
    packets_in_per_s: Amounts = []
    packets_out_per_s: Amounts = []


class Pressure(Part):
    """How long some tasks, or all of them, waited for a resource (PSI)."""

    some_rate: Rates = []
    full_rate: Rates = []
    some_avg10_rate: Rates = []
    full_avg10_rate: Rates = []


class Told(Part):
    """One series that an endpoint told; a counter's values are its growth a second."""

    name: str
    kind: Literal["counter", "gauge", "query"]
    labels: dict[str, str] = {}
    values: list[float | None] = []


class Endpoint(Part):
    """What a Prometheus endpoint or server told, at times of its own on the axis of the load."""

    url: str
    t_s: list[float] = []
    series: list[Told] = []
    left_out: Count = Field(default=0, description="series beyond the most that are kept")
    error: str | None = None


class Derived(Part):
    """What follows for the measured window; a request is an ok answer that ended in it."""

    target_cpu_rate: Amount | None = None
    target_cpu_us_per_request: Amount | None = None
    requests_per_cpu_s: Amount | None = None
    target_rss_max_bytes: Count | None = None
    generator_cpu_rate: Amount | None = None
    core_busy_rate: list[Rate] = []
    limit: Literal["target", "generator", "neither", "both"] | None = None
    limit_reason: str | None = None


class Monitored(Part):
    """All of it; empty where nothing was watched."""

    t_s: list[float] = []
    seconds: list[Amount] = []
    cores: Cores | None = None
    target: Processes | None = None
    generator: Processes | None = None
    network: dict[str, Traffic] = {}
    psi: dict[str, Pressure] = {}
    endpoints: list[Endpoint] = []
    derived: Derived | None = None
    cost_rate: Amount | None = Field(
        default=None, description="percent of a core that watching took, by its threads' CPU clock"
    )
    warnings: list[str] = []
