"""The engine's types that count the requests of Locust's processes.

A `RequestTally` is created after any fork, in the thread that sends the load; a `TallyAggregate`
adds up those of all processes of a test.

"""

from __future__ import annotations

from torr._engine import Counts, RequestTally, TallyAggregate

__all__ = ["Counts", "RequestTally", "TallyAggregate"]
