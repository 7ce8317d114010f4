"""Read GPUs of this machine through NVML, with the package nvidia-ml-py (`torr[gpu]`)."""

from __future__ import annotations

import importlib
import time
from functools import cache
from typing import TYPE_CHECKING, Any

from torr.errors import UsageError, require
from torr.messages.say import say, say_count
from torr.monitor.exporters import NVML
from torr.monitor.fetch import EndpointError
from torr.monitor.readings import Reading, combined
from torr.monitor.serving_source import ServingSource

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torr.monitor.exporters import ServingPlace
    from torr.monitor.readings import CounterKey

_MODULE = "pynvml"


def check_gpus(place: ServingPlace) -> None:
    """Raise UsageError unless the GPUs of a place can be read."""
    nvml = _module()
    try:
        _handles(nvml, place)
    except nvml.NVMLError as error:
        raise UsageError(
            say("{place}: NVML finds no GPU on this machine: {error}", place=place, error=error),
            say("for GPUs of another machine, run dcgm-exporter there: dcgm:http://HOST:9400"),
        ) from error


def gpus_of(place: ServingPlace) -> ServingSource:
    """Return the source of the GPUs of a place, which `check_gpus` has checked."""
    nvml = _module()
    handles = cache(lambda: _handles(nvml, place))

    def take() -> Reading:
        try:
            return gpu_reading(nvml, handles(), time.monotonic())
        except (nvml.NVMLError, UsageError) as error:
            raise EndpointError(str(error)) from error

    return ServingSource(NVML, str(place), take)


def gpu_reading(nvml: Any, handles: Sequence[Any], at_s: float) -> Reading:  # noqa: ANN401
    """Return the quantities of GPUs; those that no GPU supports are left out."""
    sources: dict[str, Callable[[Any], float]] = {
        "gpu_rate": lambda gpu: nvml.nvmlDeviceGetUtilizationRates(gpu).gpu,
        "gpu_memory_bytes": lambda gpu: nvml.nvmlDeviceGetMemoryInfo(gpu).used,
        "power_w": lambda gpu: nvml.nvmlDeviceGetPowerUsage(gpu) / 1000,
    }
    gauges: dict[str, float] = {}
    for quantity, read in sources.items():
        gauges |= combined(quantity, [_known(nvml, read, gpu) for gpu in handles])
    read_energy = nvml.nvmlDeviceGetTotalEnergyConsumption
    millijoules = [_known(nvml, read_energy, gpu) for gpu in handles]
    counters: dict[CounterKey, float] = {
        ("energy_j", str(number)): each / 1000
        for number, each in enumerate(millijoules)
        if each is not None
    }
    # The energy of some of the GPUs would look like that of all.
    return Reading(at_s, gauges, {} if None in millijoules else counters)


def _known(nvml: Any, read: Callable[[Any], float], gpu: Any) -> float | None:  # noqa: ANN401
    try:
        return float(read(gpu))
    except nvml.NVMLError:
        return None


def _handles(nvml: Any, place: ServingPlace) -> list[Any]:  # noqa: ANN401
    """Return the handles of a place's GPUs; raise UsageError or the module's NVMLError."""
    nvml.nvmlInit()
    count = nvml.nvmlDeviceGetCount()
    hint = say("indexes begin at 0: nvidia-smi -L lists the GPUs")
    require(count > 0, say("{place}: this machine has no GPU", place=place), hint)
    of_machine = say_count(
        count,
        "{place}: this machine has {n} GPU",
        "{place}: this machine has {n} GPUs",
        place=place,
    )
    require(place.gpu is None or place.gpu < count, of_machine, hint)
    numbers = range(count) if place.gpu is None else [place.gpu]
    return [nvml.nvmlDeviceGetHandleByIndex(number) for number in numbers]


def _module() -> Any:  # noqa: ANN401 - a module without types
    try:
        return importlib.import_module(_MODULE)
    except ImportError as error:
        raise UsageError(
            say("--monitor nvml needs the package nvidia-ml-py"), "pip install 'torr[gpu]'"
        ) from error
