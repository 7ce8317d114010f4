"""Which side was the limit: a table of figures."""

import pytest

from torr.monitor.bottleneck import Utilization, bottleneck

IDLE = {0: 20.0, 1: 30.0}
FULL = {0: 99.0, 1: 98.0}
BOTH_CORES = (0, 1)


def figures(**more):
    return Utilization(**{"cores": IDLE, "workers": (40.0,), "target_cores": BOTH_CORES, **more})


@pytest.mark.parametrize(
    ("seen", "side", "why"),
    [
        (figures(target_rate=30.0, thread_rate=20.0), "neither", "used 30 % of a core"),
        (figures(target_rate=195.0), "target", "filled its 2 cores"),
        (figures(target_rate=97.0, target_cores=(1,)), "target", "filled its core"),
        (figures(target_rate=100.0, thread_rate=99.0), "target", "one thread of the target"),
        (figures(target_rate=20.0, descriptors_rate=99.9), "target", "descriptors"),
        (
            figures(target_rate=130.0, cores=FULL),
            "target",
            "the target itself used 130 % of one core",
        ),
        (figures(target_rate=101.0, threads_per_process=8), "target", "one lock"),
        (figures(target_rate=101.0, threads_per_process=8, processes=4), "neither", "101 %"),
        (
            figures(target_rate=101.0, threads_per_process=8, cores=FULL),
            "target",
            "the target itself",
        ),
        (figures(target_rate=60.0, cores=FULL), "neither", "other programs used a part"),
        (figures(target_rate=10.0, workers=(96.0, 99.0)), "generator", "96 % of each"),
        (figures(target_rate=10.0, workers=(60.0, 99.0)), "neither", "busiest worker 99 %"),
        (figures(target_rate=10.0, is_limited=True), "generator", "judged itself"),
        (figures(target_rate=197.0, workers=(97.0,)), "both", "; the generator filled"),
        (figures(workers=(97.0,)), "generator", "filled its cores"),
        (figures(), None, "no target was watched"),
        (figures(target_rate=0.0, workers=()), "neither", "used 0 % of a core"),
    ],
)
def test_the_limit_is_told_from_figures(seen, side, why):
    found, reason = bottleneck(seen)
    assert found == side
    assert why in reason
