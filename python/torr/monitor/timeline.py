"""Convert samples to rates on the load's time axis: the `monitor` of a level.

Entry k of every list is of the interval of `seconds[k]` from `t_s[k]` on: rates are means of that
interval; memory and numbers of processes are those at its end. Unknown values are null.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from torr.monitor.resource_samples import ResourceSample
from torr.procfs.totals import Interface, Pressure
from torr.results.monitor import (
    CoreSeries,
    MonitorSeries,
    NetworkSeries,
    PressureSeries,
    ProcessSeries,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from torr.monitor.process_tree import ProcessTreeSample
    from torr.monitor.time_axis import TimeAxis

Pair = tuple[ResourceSample, ResourceSample]

MOST_INTERFACES = 8
_DIGITS = 2


def timeline(samples: Sequence[ResourceSample], axis: TimeAxis) -> MonitorSeries:
    """Return the series of machine, generator and target."""
    pairs = list(itertools.pairwise(samples))
    has_target = any(sample.target for sample in samples)
    return MonitorSeries(
        t_s=[round(axis.at(a.at_s), 3) for a, _ in pairs],
        seconds=[round(b.at_s - a.at_s, 3) for a, b in pairs],
        cores=_cores(pairs),
        generator=_process_series(pairs, lambda sample: sample.generator),
        target=_process_series(pairs, lambda sample: sample.target) if has_target else None,
        network=_network(pairs),
        psi=_psi(pairs),
    )


def _cores(pairs: Sequence[Pair]) -> CoreSeries:
    """Return the utilization of each core, and the mean over the cores by kind of work."""
    numbers = sorted({n for a, b in pairs for n in {*a.machine.cores} & {*b.machine.cores}})
    kinds = ("user", "system", "irq", "steal")
    return CoreSeries(
        numbers=numbers,
        busy_rate=[[_core(pair, number, "busy") for pair in pairs] for number in numbers],
        **{f"{kind}_rate": [_mean(pair, numbers, kind) for pair in pairs] for kind in kinds},
    )


def _core(pair: Pair, number: int, kind: str) -> float | None:
    """Return a share of a core's time; None if the kernel's counters did not grow."""
    a, b = (sample.machine.cores.get(number) for sample in pair)
    if a is None or b is None or b.total <= a.total:
        return None
    return round(share(getattr(b, kind) - getattr(a, kind), b.total - a.total), _DIGITS)


def _mean(pair: Pair, numbers: Iterable[int], kind: str) -> float | None:
    known = [rate for n in numbers if (rate := _core(pair, n, kind)) is not None]
    return round(sum(known) / len(known), _DIGITS) if known else None


def _process_series(
    pairs: Sequence[Pair], of: Callable[[ResourceSample], ProcessTreeSample | None]
) -> ProcessSeries:
    """Return the series of a process tree; null where a sample has no tree."""
    trees = [of(end) for _, end in pairs]
    return ProcessSeries(
        cpu_rate=[_per_second(pair, of, lambda tree: 100 * tree.cpu_s) for pair in pairs],
        busiest_thread_rate=[_busiest(pair, of) for pair in pairs],
        voluntary_per_s=[_per_second(pair, of, lambda tree: tree.voluntary) for pair in pairs],
        involuntary_per_s=[_per_second(pair, of, lambda tree: tree.involuntary) for pair in pairs],
        descriptors_rate=[_rounded(tree.descriptors_rate if tree else None) for tree in trees],
        descriptors=[tree.descriptors if tree else None for tree in trees],
        processes=[tree.processes if tree else None for tree in trees],
        threads=[tree.threads if tree else None for tree in trees],
        rss_bytes=[tree.rss_bytes if tree else None for tree in trees],
    )


def _per_second(
    pair: Pair,
    of: Callable[[ResourceSample], ProcessTreeSample | None],
    number: Callable[[ProcessTreeSample], float],
) -> float | None:
    """Return the growth per second of a cumulative number."""
    (a, b), seconds = map(of, pair), pair[1].at_s - pair[0].at_s
    if a is None or b is None or seconds <= 0:
        return None
    return round(max(0.0, number(b) - number(a)) / seconds, _DIGITS)


def _busiest(pair: Pair, of: Callable[[ResourceSample], ProcessTreeSample | None]) -> float | None:
    a, b = (tree.busiest_s if (tree := of(sample)) else None for sample in pair)
    seconds = pair[1].at_s - pair[0].at_s
    return None if a is None or b is None else round(share(b - a, seconds), _DIGITS)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)


def _network(pairs: Sequence[Pair]) -> dict[str, NetworkSeries]:
    """Return the interfaces with the most traffic; those without traffic are omitted."""
    traffic: dict[str, int] = {}
    if pairs:
        before = pairs[0][0].machine.network
        for name, counters in pairs[-1][1].machine.network.items():
            old = before.get(name, Interface(0, 0, 0, 0))
            traffic[name] = counters.bytes_in + counters.bytes_out - old.bytes_in - old.bytes_out
    busiest = sorted((name for name in traffic if traffic[name] > 0), key=lambda n: -traffic[n])
    return {
        name: NetworkSeries(
            **{
                f"{counter}_per_s": [_interface_rate(pair, name, counter) for pair in pairs]
                for counter in Interface._fields
            }
        )
        for name in busiest[:MOST_INTERFACES]
    }


def _interface_rate(pair: Pair, name: str, counter: str) -> float | None:
    """Return the growth per second of a counter; None after a reset."""
    interfaces = (sample.machine.network.get(name) for sample in pair)
    a, b = (getattr(interface, counter, None) for interface in interfaces)
    seconds = pair[1].at_s - pair[0].at_s
    if a is None or b is None or b < a or seconds <= 0:
        return None
    return round(float(b - a) / seconds, _DIGITS)


def _psi(pairs: Sequence[Pair]) -> dict[str, PressureSeries]:
    names = [name for name in ("cpu", "memory", "io") if _has_pressure(pairs, name)]
    return {
        name: PressureSeries(
            some_rate=[_pressure_rate(pair, name, lambda p: p.some_us) for pair in pairs],
            full_rate=[_pressure_rate(pair, name, lambda p: p.full_us) for pair in pairs],
            some_avg10_rate=[pair[1].machine.pressure[name].some_avg10 for pair in pairs],
            full_avg10_rate=[pair[1].machine.pressure[name].full_avg10 for pair in pairs],
        )
        for name in names
    }


def _has_pressure(pairs: Sequence[Pair], name: str) -> bool:
    return bool(pairs) and all(name in sample.machine.pressure for pair in pairs for sample in pair)


def _pressure_rate(pair: Pair, name: str, of: Callable[[Pressure], int]) -> float:
    a, b = (of(sample.machine.pressure[name]) for sample in pair)
    return round(share((b - a) / 1e6, pair[1].at_s - pair[0].at_s), _DIGITS)


def share(part: float, whole: float) -> float:
    """Return a share in percent, limited to 0–100, since part and whole have different clocks."""
    return min(100.0, max(0.0, 100 * part / whole)) if whole > 0 else 0.0
