"""Examinations of machines, for tests of what `torr doctor` reports."""

from __future__ import annotations

from dataclasses import replace

from torr.experiments.doctor import Examination, Speed, Timers
from torr.procfs.machine import Machine

MACHINE = Machine(
    cores=8,
    cores_allowed=8,
    descriptors=(1024, 1_048_576),
    quota=None,
    load=0.2,
    clock="tsc",
    governors=("performance",),
    port_range=(32768, 60999),
    tw_reuse=2,
    somaxconn=4096,
    syn_backlog=4096,
    conntrack=(10, 262_144),
    memory_available=8 * 1024**3,
)
GOOD = Examination(
    machine=MACHINE,
    speed=Speed(70_000, 50.0, 1.0, 0.0),
    timers=Timers(0.012, 0.021),
    descriptors=1_048_576,
)


def on(**machine):
    """Return the examination of a good machine, except for these properties."""
    return replace(GOOD, machine=replace(MACHINE, **machine))
