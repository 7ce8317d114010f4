"""GPUs of this machine through a double of NVML's module."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from torr.errors import UsageError
from torr.monitor.exporters import ServingPlace
from torr.monitor.nvml import check_gpus, gpu_reading, gpus_of

GIB = 1024**3


class FakeNvml:
    """GPUs as nvidia-ml-py has them: milliwatts, millijoules, percent; None is not supported."""

    class NVMLError(Exception):
        pass

    def __init__(self, *gpus, driver=True):
        self.gpus = gpus
        self.driver = driver

    def nvmlInit(self):  # noqa: N802 - the names are NVML's
        if not self.driver:
            raise self.NVMLError("Driver Not Loaded")

    def nvmlDeviceGetCount(self):  # noqa: N802
        return len(self.gpus)

    def nvmlDeviceGetHandleByIndex(self, index):  # noqa: N802
        return self.gpus[index]

    def nvmlDeviceGetUtilizationRates(self, gpu):  # noqa: N802
        return SimpleNamespace(gpu=self._known(gpu, "use"), memory=1)

    def nvmlDeviceGetMemoryInfo(self, gpu):  # noqa: N802
        return SimpleNamespace(total=80 * GIB, used=self._known(gpu, "memory"))

    def nvmlDeviceGetPowerUsage(self, gpu):  # noqa: N802
        return self._known(gpu, "power")

    def nvmlDeviceGetTotalEnergyConsumption(self, gpu):  # noqa: N802
        return self._known(gpu, "energy")

    def _known(self, gpu, name):
        if gpu.get(name) is None:
            raise self.NVMLError("Not Supported")
        return gpu[name]


FIRST = {"use": 100, "memory": 60 * GIB, "power": 510_500, "energy": 5_000_000}
SECOND = {"use": 50, "memory": 20 * GIB, "power": 89_500, "energy": 2_000_000}


@pytest.fixture
def nvml(monkeypatch):
    def install(*gpus, **more):
        fake = FakeNvml(*gpus, **more)
        monkeypatch.setitem(sys.modules, "pynvml", fake)
        return fake

    return install


def test_gpus_add_up_and_their_use_is_averaged(nvml):
    fake = nvml(FIRST, SECOND)
    found = gpu_reading(fake, fake.gpus, 7.0)
    assert found.at_s == 7.0
    assert found.gauges == {
        "gpu_rate": 75.0,
        "busiest_gpu_rate": 100.0,
        "gpu_memory_bytes": 80 * GIB,
        "power_w": 600.0,
    }
    assert found.counters == {("energy_j", "0"): 5000.0, ("energy_j", "1"): 2000.0}


def test_what_a_gpu_does_not_support_is_left_out(nvml):
    fake = nvml({"use": 40})
    found = gpu_reading(fake, fake.gpus, 0.0)
    assert (found.gauges, found.counters) == ({"gpu_rate": 40.0, "busiest_gpu_rate": 40.0}, {})


def test_a_sum_of_some_of_the_gpus_is_not_taken_for_that_of_all(nvml):
    without = {name: value for name, value in SECOND.items() if name not in ("power", "energy")}
    fake = nvml(FIRST, without)
    found = gpu_reading(fake, fake.gpus, 0.0)
    assert found.counters == {}
    assert "power_w" not in found.gauges
    assert found.gauges["gpu_memory_bytes"] == 80 * GIB


@pytest.mark.parametrize(
    ("place", "memory"),
    [(ServingPlace("nvml"), 80 * GIB), (ServingPlace("nvml", gpu=1), 20 * GIB)],
)
def test_a_place_names_one_gpu_or_all(nvml, place, memory):
    nvml(FIRST, SECOND)
    check_gpus(place)
    source = gpus_of(place)
    source.read()
    source.read()
    taken = source.stop(1.0)
    assert (taken.source, taken.url, taken.error) == ("nvml", str(place), None)
    assert [reading.gauges["gpu_memory_bytes"] for reading in taken.readings] == [memory] * 2


def test_a_driver_that_fails_during_a_run_is_a_warning(nvml):
    fake = nvml(FIRST)
    check_gpus(ServingPlace("nvml"))
    fake.driver = False
    source = gpus_of(ServingPlace("nvml"))
    source.read()
    assert source.stop(1.0).error == "monitor: nvml was not read: Driver Not Loaded"


def test_without_the_package_it_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pynvml", None)
    with pytest.raises(UsageError, match="needs the package nvidia-ml-py") as refused:
        check_gpus(ServingPlace("nvml"))
    assert refused.value.hint == "pip install 'torr[gpu]'"


def test_without_a_driver_there_is_no_gpu(nvml):
    nvml(driver=False)
    with pytest.raises(UsageError, match="no GPU on this machine: Driver Not Loaded") as refused:
        check_gpus(ServingPlace("nvml"))
    assert "dcgm:http://HOST:9400" in refused.value.hint


@pytest.mark.parametrize(
    ("gpus", "index", "why"),
    [
        ((), None, "nvml: this machine has no GPU"),
        ((FIRST,), 1, "nvml:1: this machine has 1 GPU"),
        ((FIRST, SECOND), 2, "nvml:2: this machine has 2 GPUs"),
    ],
)
def test_a_gpu_that_is_not_there_is_refused(nvml, gpus, index, why):
    nvml(*gpus)
    with pytest.raises(UsageError) as refused:
        check_gpus(ServingPlace("nvml", gpu=index))
    assert str(refused.value).splitlines()[0] == why
