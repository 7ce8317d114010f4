"""Thresholds by which the engine judges the load generator: those of `health.rs` and `clock.rs`."""

from __future__ import annotations

FULL_RATE = 95.0
"""Percent of a core, used and waited for, from which on a core is full."""

RUN_QUEUE_RATE = 10.0
"""Percent of the time that a worker waits for a core, from which on a level is contended."""

STEAL_RATE = 5.0
"""Percent of the machine's time that the hypervisor takes, from which on a level is contended."""

LAG_MS = 2.0
"""The scheduling lag above which a level is generator-limited."""

CLOCK_ERROR_MS = 1.0
"""The error of the clock of a node above which the times of a level are uncertain."""
