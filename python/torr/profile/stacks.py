"""Stacks of calls with weights: the common form of all profiles.

A stack is ordered from its root to the function that ran. Folded text is the format of Brendan
Gregg's stackcollapse: lines `root;caller;leaf 42`. So names in it have no `;` and no line break.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torr.errors import UsageError
from torr.messages.message import message

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from typing_extensions import Self

Stack = tuple[str, ...]

DEEPER = "(deeper)"
"""The node of a tree for all calls below its greatest depth."""


@dataclass(frozen=True, slots=True)
class FunctionWeight:
    """One function: its weight alone, and with all functions that it called."""

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
        """Parse folded text; raise UsageError with the number of an invalid line."""
        weights: Counter[Stack] = Counter()
        for number, line in enumerate(text.splitlines(), 1):
            if not line.strip():
                continue
            names, _, weight = line.rpartition(" ")
            if not names or not weight.isdigit():
                raise UsageError(
                    message(
                        "profile.no_stack",
                        "line {number} of a profile is not a stack: {line!r}",
                        number=number,
                        line=line[:80],
                    ),
                    message("hint.no_stack", "a line is `root;caller;leaf 42`"),
                )
            weights[tuple(names.split(";"))] += int(weight)
        return cls(weights, unit)

    @property
    def total(self) -> float:
        """Return the sum of all weights."""
        return sum(self.weights.values())

    def fold(self) -> str:
        """Return folded text, the heaviest stack first; weights are rounded."""
        ordered = sorted(self.weights.items(), key=lambda item: (-item[1], item[0]))
        lines = (f"{';'.join(map(_escaped, stack))} {round(weight)}\n" for stack, weight in ordered)
        return "".join(lines)

    def top(self) -> list[FunctionWeight]:
        """Return all functions, the largest in themselves first; recursion counts once."""
        flat: defaultdict[str, float] = defaultdict(float)
        total: defaultdict[str, float] = defaultdict(float)
        for stack, weight in self.weights.items():
            flat[stack[-1]] += weight
            for name in set(stack):
                total[name] += weight
        rows = [FunctionWeight(name, flat[name], weight) for name, weight in total.items()]
        return sorted(rows, key=lambda row: (-row.flat, -row.total, row.name))

    def shares(self) -> Stacks:
        """Return the stacks with shares of the whole as weights, to compare two profiles."""
        whole = self.total or 1.0
        return Stacks({stack: weight / whole for stack, weight in self.weights.items()}, "share")

    def heaviest(self, most: int) -> Stacks:
        """Return the heaviest stacks, and the others together as `(other)`."""
        ordered = sorted(self.weights.items(), key=lambda item: -item[1])
        heaviest = dict(ordered[:most])
        rest = sum(weight for _, weight in ordered[most:])
        return Stacks({**heaviest, ("(other)",): rest} if rest else heaviest, self.unit)

    def tree(self, deepest: int | None = None) -> Node:
        """Return the calls as a tree with one root, heavier branches first.

        Calls below a depth of `deepest` are summed up as `(deeper)`.
        """
        root = Node("all", 0.0, [])
        for stack, weight in self.weights.items():
            is_deeper = deepest is not None and len(stack) > deepest
            root.add((*stack[:deepest], DEEPER) if is_deeper else stack, weight)
        root.order()
        return root


@dataclass(slots=True)
class Node:
    """A function in a tree of calls: `weight` includes all functions that it called there."""

    name: str
    weight: float
    below: list[Node]

    def add(self, stack: Iterable[str], weight: float) -> None:
        """Add a stack below this node."""
        node = self
        node.weight += weight
        for name in stack:
            child = next((child for child in node.below if child.name == name), None)
            if child is None:
                child = Node(name, 0.0, [])
                node.below.append(child)
            child.weight += weight
            node = child

    def order(self) -> None:
        """Sort all branches, heavier ones first."""
        pending = [self]
        while pending:
            node = pending.pop()
            node.below.sort(key=lambda child: (-child.weight, child.name))
            pending += node.below

    def walk(self) -> Iterator[tuple[int, Node]]:
        """Yield all nodes with their depths, callers before callees."""
        pending = [(0, self)]
        while pending:
            depth, node = pending.pop()
            yield depth, node
            pending += [(depth + 1, child) for child in reversed(node.below)]


def _escaped(name: str) -> str:
    """Return a name without `;` and line breaks: Rust has `[u8; 32]`, file names have anything."""
    return " ".join(name.replace(";", ",").splitlines())
