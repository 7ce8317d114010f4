"""Whether torr, pytest-benchmark and pyperf say the same of the same functions, in turn.

The spread of the others is the range of their rounds, from the least median that either of them
said in a round to the greatest; torr's figure is the median of its own rounds, as it tells it.
Others leave the turn of their loop in each time, and torr takes its own off: beside it stands what
torr would say with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from statistics import median

from micro import tools
from micro.row import Effort, Finding

BAR = (
    "5 functions from 100 ns to 100 µs: torr's median of rounds within the others' spread,"
    " the least to the greatest median of any of their rounds"
)

Times = Mapping[str, float]


@dataclass(frozen=True)
class Place:
    """Where torr's time of a function lies beside the others' range; nanoseconds."""

    name: str
    torr: float
    with_turn: float
    low: float
    high: float

    @property
    def is_within(self) -> bool:
        """Whether it is in the range."""
        return self.low <= self.torr <= self.high

    def words(self) -> str:
        """What a reader sees."""
        if self.is_within:
            return f"{self.name} {_short(self.torr)} ({_short(self.low)}–{_short(self.high)})"
        how = "within" if self.low <= self.with_turn <= self.high else "out"
        return (
            f"{self.name} {_short(self.torr)} ({_short(self.low)}–{_short(self.high)}) **out**,"
            f" {how} with the loop's turn {_short(self.with_turn)}"
        )


def measure(effort: Effort) -> Finding:
    """Every tool once in a round, the order turned round in every second one."""
    try:
        missing = [reason for tool in tools.OTHERS if (reason := tool.absent()) is not None]
        return Finding(None, missing) if missing else _measured(effort)
    except tools.ToolError as error:
        return Finding(None, [str(error)])


def places(
    torr: Sequence[Times], turn_ns: float, others: Mapping[str, Sequence[Times]]
) -> list[Place]:
    """Where torr's time of each function lies; all are medians of rounds."""
    found = []
    for name in torr[0]:
        theirs = [one[name] for rounds in others.values() for one in rounds]
        ours = median(one[name] for one in torr)
        found.append(Place(name, ours, ours + turn_ns, min(theirs), max(theirs)))
    return found


def _measured(effort: Effort) -> Finding:
    torr: list[Times] = []
    turns: list[float] = []
    others: dict[str, list[Times]] = {tool.name: [] for tool in tools.OTHERS}

    def ours() -> None:
        times, turn_ns = tools.torr()
        torr.append(times)
        turns.append(turn_ns)

    def theirs(tool: tools.Foreign) -> None:
        others[tool.name].append(tool.times())

    everybody: list[Callable[[], None]] = [ours, *(partial(theirs, tool) for tool in tools.OTHERS)]
    for number in range(effort.rounds):
        for take in everybody if number % 2 == 0 else reversed(everybody):
            take()
    found = places(torr, median(turns), others)
    versions = [f"{tool.name} {tool.version()}" for tool in tools.OTHERS]
    words = [*(place.words() for place in found), f"{effort.rounds} rounds", *versions]
    kept = {
        "places_ns": [asdict(place) for place in found],
        "turn_ns": turns,
        "rounds_ns": {"torr": torr, **others},
    }
    return Finding(all(place.is_within for place in found), words, kept)


def _short(ns: float) -> str:
    return f"{ns:,.0f} ns" if ns < 10_000 else f"{ns / 1000:,.1f} µs"
