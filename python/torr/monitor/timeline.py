"""The `monitor` of a level but for what follows from it: looks become rates on the load's axis.

Entry k of every list is of the time from `t_s[k]`, `seconds[k]` long, as intervals are: rates are
of that time, memory and numbers of things are those at its end. What is not known is null.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from torr.monitor.resource_samples import ResourceSample
from torr.procfs.totals import Core, Interface, Pressure
from torr.results.monitor import (
    CoreSeries,
    MonitorSeries,
    NetworkSeries,
    PressureSeries,
    ProcessSeries,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from torr.monitor.axis import Axis
    from torr.monitor.tree import ProcessTreeSample

Pair = tuple[ResourceSample, ResourceSample]

MOST_INTERFACES = 8
_DIGITS = 2


def timeline(looks: Sequence[ResourceSample], axis: Axis) -> MonitorSeries:
    """Everything that was looked at, over time."""
    pairs = list(itertools.pairwise(looks))
    has_target = any(look.target for look in looks)
    return MonitorSeries(
        t_s=[round(axis.at(a.at_s), 3) for a, _ in pairs],
        seconds=[round(b.at_s - a.at_s, 3) for a, b in pairs],
        cores=_cores(pairs),
        generator=_group(pairs, lambda look: look.generator),
        target=_group(pairs, lambda look: look.target) if has_target else None,
        network=_network(pairs),
        psi=_psi(pairs),
    )


def _cores(pairs: Sequence[Pair]) -> CoreSeries:
    """How busy each core was; of what, on average over the cores."""
    numbers = sorted(
        {number for a, b in pairs for number in {*a.machine.cores} & {*b.machine.cores}}
    )
    busy = [[_core(pair, number, lambda core: core.busy) for pair in pairs] for number in numbers]
    return CoreSeries(
        numbers=numbers,
        busy_rate=busy,
        user_rate=[_mean(pair, numbers, lambda core: core.user) for pair in pairs],
        system_rate=[_mean(pair, numbers, lambda core: core.system) for pair in pairs],
        irq_rate=[_mean(pair, numbers, lambda core: core.irq) for pair in pairs],
        steal_rate=[_mean(pair, numbers, lambda core: core.steal) for pair in pairs],
    )


def _core(pair: Pair, number: int, of: Callable[[Core], int]) -> float | None:
    """A core's share of its time; the kernel's clock may tick at neither look, or run backwards."""
    a, b = (look.machine.cores.get(number) for look in pair)
    if a is None or b is None or b.total <= a.total:
        return None
    return round(share(of(b) - of(a), b.total - a.total), _DIGITS)


def _mean(pair: Pair, numbers: Iterable[int], of: Callable[[Core], int]) -> float | None:
    known = [rate for n in numbers if (rate := _core(pair, n, of)) is not None]
    return round(sum(known) / len(known), _DIGITS) if known else None


def _group(
    pairs: Sequence[Pair], of: Callable[[ResourceSample], ProcessTreeSample | None]
) -> ProcessSeries:
    """A tree of processes over time; where it was not looked at, nothing is known."""
    groups = [of(end) for _, end in pairs]
    return ProcessSeries(
        cpu_rate=[_growth(pair, of, lambda g: 100 * g.cpu_s) for pair in pairs],
        busiest_thread_rate=[_busiest(pair, of) for pair in pairs],
        voluntary_per_s=[_growth(pair, of, lambda g: g.voluntary) for pair in pairs],
        involuntary_per_s=[_growth(pair, of, lambda g: g.involuntary) for pair in pairs],
        descriptors=[group.descriptors if group else None for group in groups],
        descriptors_rate=[_rounded(group.descriptors_rate if group else None) for group in groups],
        processes=[group.processes if group else None for group in groups],
        threads=[group.threads if group else None for group in groups],
        rss_bytes=[group.rss_bytes if group else None for group in groups],
    )


def _growth(
    pair: Pair,
    of: Callable[[ResourceSample], ProcessTreeSample | None],
    number: Callable[[ProcessTreeSample], float],
) -> float | None:
    """A cumulative number's growth a second."""
    (a, b), seconds = map(of, pair), pair[1].at_s - pair[0].at_s
    if a is None or b is None or seconds <= 0:
        return None
    return round(max(0.0, number(b) - number(a)) / seconds, _DIGITS)


def _busiest(pair: Pair, of: Callable[[ResourceSample], ProcessTreeSample | None]) -> float | None:
    a, b = (group.busiest_s if (group := of(look)) else None for look in pair)
    seconds = pair[1].at_s - pair[0].at_s
    return None if a is None or b is None else round(share(b - a, seconds), _DIGITS)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)


def _network(pairs: Sequence[Pair]) -> dict[str, NetworkSeries]:
    """The interfaces over which most went; those over which nothing went are left out."""
    first, last = (pairs[0][0], pairs[-1][1]) if pairs else (None, None)
    moved: dict[str, int] = {}
    if first is not None and last is not None:
        for name, each in last.machine.network.items():
            before = first.machine.network.get(name, Interface(0, 0, 0, 0))
            moved[name] = each.bytes_in + each.bytes_out - before.bytes_in - before.bytes_out
    busiest = sorted((name for name in moved if moved[name] > 0), key=lambda name: -moved[name])
    return {
        name: NetworkSeries(
            bytes_in_per_s=[_flow(pair, name, lambda each: each.bytes_in) for pair in pairs],
            bytes_out_per_s=[_flow(pair, name, lambda each: each.bytes_out) for pair in pairs],
            packets_in_per_s=[_flow(pair, name, lambda each: each.packets_in) for pair in pairs],
            packets_out_per_s=[_flow(pair, name, lambda each: each.packets_out) for pair in pairs],
        )
        for name in busiest[:MOST_INTERFACES]
    }


def _flow(pair: Pair, name: str, of: Callable[[Interface], int]) -> float | None:
    """A counter's growth a second; one that fell has begun anew: nothing is known."""
    a, b = (look.machine.network.get(name) for look in pair)
    seconds = pair[1].at_s - pair[0].at_s
    if a is None or b is None or of(b) < of(a) or seconds <= 0:
        return None
    return round((of(b) - of(a)) / seconds, _DIGITS)


def _psi(pairs: Sequence[Pair]) -> dict[str, PressureSeries]:
    names = [name for name in ("cpu", "memory", "io") if _has_pressure(pairs, name)]
    return {
        name: PressureSeries(
            some_rate=[_pressed(pair, name, lambda p: p.some_us) for pair in pairs],
            full_rate=[_pressed(pair, name, lambda p: p.full_us) for pair in pairs],
            some_avg10_rate=[pair[1].machine.pressure[name].some_avg10 for pair in pairs],
            full_avg10_rate=[pair[1].machine.pressure[name].full_avg10 for pair in pairs],
        )
        for name in names
    }


def _has_pressure(pairs: Sequence[Pair], name: str) -> bool:
    return bool(pairs) and all(name in look.machine.pressure for pair in pairs for look in pair)


def _pressed(pair: Pair, name: str, of: Callable[[Pressure], int]) -> float:
    a, b = (of(look.machine.pressure[name]) for look in pair)
    return round(share((b - a) / 1e6, pair[1].at_s - pair[0].at_s), _DIGITS)


def share(part: float, whole: float) -> float:
    """Percent, never outside of 0–100: clocks that tick apart may say more than there was."""
    return min(100.0, max(0.0, 100 * part / whole)) if whole > 0 else 0.0
