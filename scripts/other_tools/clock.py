"""A clock that only the bytes of a recorded stream move, and a response that sends them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from other_tools.recorded import Recorded

# Not 0: some tools take a time of 0 for one that is missing.
BEGIN_NS = 1_000_000_000_000


class Clock:
    """Stands in for the module `time` of a tool."""

    def __init__(self) -> None:
        """Set it to the moment at which the request is sent."""
        self.now_ns = BEGIN_NS

    def perf_counter(self) -> float:
        """Return seconds."""
        return self.now_ns / 1e9

    time = monotonic = perf_counter

    def perf_counter_ns(self) -> int:
        """Return nanoseconds."""
        return self.now_ns

    time_ns = perf_counter_ns

    def sleep_until(self, us: int) -> None:
        """Move on to so many microseconds after the request."""
        self.now_ns = BEGIN_NS + us * 1000


class Content:
    """The body of a response of aiohttp."""

    def __init__(self, clock: Clock, stream: Recorded) -> None:
        """Prepare to send a stream."""
        self.clock, self.stream = clock, stream

    async def iter_any(self) -> AsyncIterator[bytes]:
        """Give each read at its time."""
        for at_us, read in self.stream.reads:
            self.clock.sleep_until(at_us)
            yield read.encode()
        self.clock.sleep_until(self.stream.last_byte_us)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Give each line at the time of the read that brings it."""
        async for read in self.iter_any():
            for line in read.splitlines(keepends=True):
                yield line


class Session:
    """A client of aiohttp, a response, and the context of both."""

    status = 200
    reason = "OK"

    def __init__(self, clock: Clock, stream: Recorded) -> None:
        """Prepare to answer with a stream."""
        self.content = Content(clock, stream)

    def post(self, *_: object, **__: object) -> Self:
        """Return the response."""
        return self

    async def __aenter__(self) -> Self:
        """Return itself."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Do nothing."""


class Means:
    """NumPy that notes of which values a tool computes means, in their order."""

    def __init__(self) -> None:
        """Note nothing yet."""
        self.noted: list[list[float]] = []

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever NumPy has
        """Return what NumPy has by this name."""
        import numpy as np

        return getattr(np, name)

    def mean(self, values: list[float] | int) -> float:
        """Note the values; tools write 0 in place of none."""
        import numpy as np

        self.noted.append(values if isinstance(values, list) else [])
        return float(np.mean(values))


def in_ms(values: list[float | None]) -> list[float]:
    """Return seconds as milliseconds, without those that are missing."""
    return [value * 1000 for value in values if value is not None]
