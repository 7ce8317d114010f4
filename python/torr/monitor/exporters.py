"""The LLM servers and GPU exporters that --monitor knows by name: a table for each in `exporters/`.

    [metrics]
    running = "vllm:num_requests_running"        # a quantity of torr: the server's metric
    kv_cache_rate = ["new:name", "old:name"]     # the first one that a page has
    prefix_queries = "a:computed + a:cached"     # a sum
    [factors]
    kv_cache_rate = 100                          # from the server's unit to torr's

`ttft_s` and `queue_s` name histograms, of which the sums and counts are read. `path` is that of the
page, where it is not /metrics. Series that differ only in the labels of `copied_over` tell the same
number: the first one counts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from torr import engine
from torr.errors import UsageError
from torr.messages.say import say
from torr.model.url import Url

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

FOLDER = Path(__file__).with_name("exporters")
NVML = "nvml"

GAUGES_THAT_ADD_UP = ("running", "waiting", "power_w", "gpu_memory_bytes")
GAUGES_THAT_AVERAGE = ("kv_cache_rate", "prefix_hit_rate", "gpu_rate")
"""Percentages: several of one page are averaged."""
BUSIEST_GPU = "busiest_gpu_rate"
"""The gauge `gpu_rate` of the GPU that has the highest one."""
GPU_QUANTITIES = ("gpu_rate", "gpu_memory_bytes", "power_w", "energy_j")
"""What NVML tells of GPUs."""
GAUGES = (*GAUGES_THAT_ADD_UP, *GAUGES_THAT_AVERAGE)
HISTOGRAMS = ("queue_s", "ttft_s")
COUNTERS = (
    *("prefix_hits", "prefix_queries", "preemptions", "prompt_tokens", "generated_tokens"),
    "energy_j",
)
QUANTITIES = (*GAUGES, *COUNTERS, *HISTOGRAMS)

_NAMED_URL = re.compile(r"([\w-]+):\w+://")


@dataclass(frozen=True, slots=True)
class Exporter:
    """A kind of server, and the metrics of its page that torr reads.

    `metrics` has, for each gauge and counter, the alternatives in their order, each of which is a
    sum of metrics.
    """

    name: str
    path: str
    metrics: Mapping[str, tuple[tuple[str, ...], ...]]
    factors: Mapping[str, float]
    copied_over: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """Return the names of all metrics, each once."""
        sums = (terms for alternatives in self.metrics.values() for terms in alternatives)
        return list(dict.fromkeys(name for terms in sums for name in terms))


@dataclass(frozen=True, slots=True)
class ServingPlace:
    """A value of --monitor that names an exporter and its URL, or GPUs of this machine.

    Without an index, `nvml` means all GPUs.
    """

    source: str
    url: Url | None = None
    gpu: int | None = None

    def __str__(self) -> str:
        """Return the place without a password, as in result.json."""
        if self.url is not None:
            return str(self.url)
        return self.source if self.gpu is None else f"{self.source}:{self.gpu}"


def serving_place(text: str) -> ServingPlace | None:
    """Return the place that a text such as `vllm:http://gpu1:8000` names; None without a name.

    Raises UsageError for a name that torr does not know.
    """
    name, _, rest = text.strip().partition(":")
    if name == NVML:
        return _gpus(text, rest)
    if name in exporter_names():
        return ServingPlace(name, _with_path(Url.parse(rest, templates=False), exporter(name).path))
    if _NAMED_URL.match(text.strip()):
        raise UsageError(
            say("torr knows no server {name!r}", name=name),
            say("choose one of {names}", names=", ".join((*exporter_names(), NVML))),
        )
    return None


def exporter_names() -> tuple[str, ...]:
    """Return the names of all exporters."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))


@cache
def exporter(name: str) -> Exporter:
    """Return the exporter of a name."""
    table, _ = engine.read_toml((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
    factors = {key: float(factor) for key, factor in table.get("factors", {}).items()}
    metrics: dict[str, tuple[tuple[str, ...], ...]] = {}
    for quantity, written in table["metrics"].items():
        texts = [written] if isinstance(written, str) else written
        parts = ("_sum", "_count") if quantity in HISTOGRAMS else ("",)
        for part in parts:
            metrics[quantity + part] = tuple(_terms(text, part) for text in texts)
    copied_over = tuple(table.get("copied_over", ()))
    return Exporter(name, table.get("path", "/metrics"), metrics, factors, copied_over)


def quantities_of(source: str) -> frozenset[str]:
    """Return the gauges and counters that a source can have, by its name."""
    known = GPU_QUANTITIES if source == NVML else exporter(source).metrics
    return frozenset((*known, BUSIEST_GPU)) if "gpu_rate" in known else frozenset(known)


def _terms(text: str, ending: str) -> tuple[str, ...]:
    return tuple(f"{name}{ending}" for name in _summands(text))


def _summands(text: str) -> Iterable[str]:
    return (name.strip() for name in text.split(" + "))


def _with_path(url: Url, path: str) -> Url:
    return replace(url, target=path) if url.target == "/" else url


def _gpus(text: str, index: str) -> ServingPlace:
    if ":" not in text:
        return ServingPlace(NVML)
    if not (index.isascii() and index.isdigit()):
        raise UsageError(
            say("{text!r}: {index!r} is not the index of a GPU", text=text, index=index),
            say("write nvml for all GPUs, or nvml:0 for the first"),
        )
    return ServingPlace(NVML, gpu=int(index))
