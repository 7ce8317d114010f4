"""Stacks of calls, each with how much was seen in it: what every profiler comes down to.

A stack is from its root to the function that ran. Folded text is that of Brendan Gregg's
stackcollapse: `root;caller;leaf 42` a line. So a name in it has no `;`, and no end of a line.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torr.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from typing_extensions import Self

Stack = tuple[str, ...]

DEEPER = "(deeper)"
"""Stands in a tree for all that is called below its last floor."""


@dataclass(frozen=True, slots=True)
class FunctionWeight:
    """One function: what was seen in it alone, and in it with all that it called."""

    name: str
    flat: float
    total: float


@dataclass(frozen=True, slots=True)
class Stacks:
    """Weights of stacks in `unit`, such as `samples`, `ns` of CPU or `bytes`."""

    weights: Mapping[Stack, float]
    unit: str

    @classmethod
    def folded(cls, text: str, unit: str = "samples") -> Self:
        """Read folded text; raises UsageError that names the line."""
        weights: Counter[Stack] = Counter()
        for number, line in enumerate(text.splitlines(), 1):
            if not line.strip():
                continue
            names, _, weight = line.rpartition(" ")
            if not names or not weight.isdigit():
                raise UsageError(
                    f"line {number} of a profile is no stack: {line[:80]!r}",
                    "a line is `root;caller;leaf 42`",
                )
            weights[tuple(names.split(";"))] += int(weight)
        return cls(weights, unit)

    @property
    def total(self) -> float:
        """Everything that was seen."""
        return sum(self.weights.values())

    def fold(self) -> str:
        """Return folded text, the heaviest stack first; weights are rounded."""
        ordered = sorted(self.weights.items(), key=lambda item: (-item[1], item[0]))
        lines = (f"{';'.join(map(_word, stack))} {round(weight)}\n" for stack, weight in ordered)
        return "".join(lines)

    def top(self) -> list[FunctionWeight]:
        """Return every function, those with the largest totals first; recursion counts once."""
        flat: defaultdict[str, float] = defaultdict(float)
        total: defaultdict[str, float] = defaultdict(float)
        for stack, weight in self.weights.items():
            flat[stack[-1]] += weight
            for name in set(stack):
                total[name] += weight
        rows = [FunctionWeight(name, flat[name], seen) for name, seen in total.items()]
        return sorted(rows, key=lambda row: (-row.total, -row.flat, row.name))

    def shares(self) -> Stacks:
        """Return the same as shares of the whole, so that two profiles can be set side by side."""
        whole = self.total or 1.0
        return Stacks({stack: weight / whole for stack, weight in self.weights.items()}, "share")

    def heaviest(self, most: int) -> Stacks:
        """Return the same with all but the heaviest stacks put together as `(other)`."""
        ordered = sorted(self.weights.items(), key=lambda item: -item[1])
        kept = dict(ordered[:most])
        rest = sum(weight for _, weight in ordered[most:])
        return Stacks({**kept, ("(other)",): rest} if rest else kept, self.unit)

    def tree(self, deepest: int | None = None) -> Node:
        """Return the calls as a tree below one root, the heavier branch first.

        What lies below `deepest` calls is put together, in its place, as `(deeper)`.
        """
        root = Node("all", 0.0, [])
        for stack, weight in self.weights.items():
            is_deeper = deepest is not None and len(stack) > deepest
            root.add((*stack[:deepest], DEEPER) if is_deeper else stack, weight)
        root.order()
        return root


@dataclass(slots=True)
class Node:
    """A function in its place: `weight` is what was seen in it and in all that it called there."""

    name: str
    weight: float
    below: list[Node]

    def add(self, stack: Iterable[str], weight: float) -> None:
        """Add a stack below it."""
        node = self
        node.weight += weight
        for name in stack:
            found = next((each for each in node.below if each.name == name), None)
            if found is None:
                found = Node(name, 0.0, [])
                node.below.append(found)
            found.weight += weight
            node = found

    def order(self) -> None:
        """Put the heavier branches first, all the way down."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            node.below.sort(key=lambda each: (-each.weight, each.name))
            waiting += node.below

    def walk(self) -> Iterator[tuple[int, Node]]:
        """Yield every node with its depth, callers before what they call."""
        waiting = [(0, self)]
        while waiting:
            depth, node = waiting.pop()
            yield depth, node
            waiting += [(depth + 1, each) for each in reversed(node.below)]


def _word(name: str) -> str:
    """A name as folded text can have it: Rust has `[u8; 32]`, and files have any name."""
    return " ".join(name.replace(";", ",").splitlines())
