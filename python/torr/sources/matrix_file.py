"""A matrix file: candidates, the factors of their comparison, and every flag by its name.

    baseline = "one"
    rounds = 10
    duration = "10s"                    # a key is a flag of `torr run`, `_` for `-`
    [factors]
    processes = [1, 4]                  # {processes} in a command
    connections = [100, 500]            # a flag of `torr run`, for the load
    [[candidates]]
    name = "one"
    command = ["server", "--port", "{port}", "--workers", "{processes}"]
    url = "http://127.0.0.1:{port}/"

A key of a candidate may also be at the top, as the default of all candidates. Errors name the file
and the line.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Literal

from torr.errors import UsageError, require
from torr.messages.say import say
from torr.model.condition import Condition
from torr.model.label import read_note, read_tag
from torr.sources.candidate_entry import Candidate, CandidateReader
from torr.sources.monitor_entry import MonitorEntry, read_monitor
from torr.sources.toml_table import TomlTable, check_names_differ, line_of, read_table
from torr.stats.metric import Metric, named
from torr.units import parse_duration

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

Scalar = str | int | float | bool
Factors = dict[str, Scalar]
Restart = Literal["trial", "cell"]

MATRIX_KEYS = (
    *("name", "baseline", "rounds", "restart", "pause", "primary", "discard_if"),
    *("warmup_requests", "monitor", "factors", "candidates", "note", "tag", "no_store"),
)
RESTARTS: tuple[Restart, ...] = ("trial", "cell")
MOST_ROUNDS = 1000
DEFAULT_ROUNDS = 10
HINT_OF_CANDIDATES = say('write [[candidates]] with name = "one", command = […] and url = "…"')


@dataclass(frozen=True, slots=True)
class MatrixFile:
    """The content of a file; `flags` of candidates are texts and numbers by the names of flags."""

    path: Path
    name: str | None
    candidates: tuple[Candidate, ...]
    baseline: str
    factors: Mapping[str, tuple[Scalar, ...]]
    rounds: int = DEFAULT_ROUNDS
    pause_ns: int = 0
    warmup_requests: int | None = None
    primary: Metric | None = None
    discard_if: Condition | None = None
    restart: Restart = "trial"
    monitor: MonitorEntry = field(default_factory=MonitorEntry)
    note: str | None = None
    tags: tuple[str, ...] = ()
    is_stored: bool = True
    lines: dict[str, int] = field(default_factory=dict)

    def cells(self) -> list[Factors]:
        """Return every combination of the factors, the last factor changing fastest."""
        names = list(self.factors)
        return [dict(zip(names, values, strict=True)) for values in product(*self.factors.values())]


def read_matrix_file(path: Path) -> MatrixFile:
    """Read a matrix file; raise FileError, or UsageError where there is no file."""
    return _Reader(read_table(path)).matrix()


@dataclass(frozen=True, slots=True)
class _Reader:
    top: TomlTable

    def matrix(self) -> MatrixFile:
        top = self.top
        candidates = tuple(self.candidates())
        rounds = top.count("rounds", MOST_ROUNDS)
        return MatrixFile(
            path=top.path,
            name=top.value("name", str),
            candidates=candidates,
            baseline=self.baseline([candidate.name for candidate in candidates]),
            factors=self.factors(),
            rounds=DEFAULT_ROUNDS if rounds is None else rounds,
            pause_ns=top.read("pause", parse_duration) or 0,
            warmup_requests=top.count("warmup_requests", 10**9),
            primary=top.read("primary", named),
            discard_if=top.read("discard_if", Condition.parse),
            restart=top.read("restart", _restart) or "trial",
            monitor=read_monitor(top),
            note=top.read("note", read_note),
            tags=tuple(self.tags()),
            is_stored=not top.value("no_store", bool),
            lines=top.lines,
        )

    def tags(self) -> list[str]:
        problem, hint = (
            say("tag is neither a text nor a list of texts"),
            say('write tag = ["baseline"]'),
        )
        tags = self.top.one_or_more("tag", str, problem, hint)
        with self.top.errors_at("tag"):
            return list(map(read_tag, tags))

    def baseline(self, names: list[str]) -> str:
        name = self.top.value("baseline", str)
        hint = say("known names: {names}", names=", ".join(names))
        with self.top.errors_at("baseline"):
            if name is None:
                raise UsageError(
                    say("there is no baseline"), say('write baseline = "{names}"', names=names[0])
                )
            require(name in names, say("baseline {name!r} is not a candidate", name=name), hint)
        return name

    def factors(self) -> dict[str, tuple[Scalar, ...]]:
        factors = self.top.table("factors", say("write [factors] above them")).values
        # The parser does not keep the order of a table; the line numbers do.
        names = sorted(factors, key=lambda name: line_of(self.top.lines, f"factors.{name}"))
        return {name: tuple(self.levels_of(name, factors[name])) for name in names}

    def levels_of(self, name: str, values: object) -> Iterator[Scalar]:
        with self.top.errors_at(f"factors.{name}"):
            if not isinstance(values, list) or not values:
                raise UsageError(
                    say("{name} is not a list", name=name), say("write {name} = [1, 4]", name=name)
                )
            for number, value in enumerate(values):
                fits = isinstance(value, str | int | float | bool)
                require(
                    fits,
                    say("{name}: {value!r} is neither a text nor a number", name=name, value=value),
                )
                require(
                    value not in values[:number],
                    say("{name} has {value!r} twice", name=name, value=value),
                )
                yield value

    def candidates(self) -> list[Candidate]:
        tables = self.top.tables("candidates")
        with self.top.errors_at("candidates"):
            require(bool(tables), say("there is no candidate"), HINT_OF_CANDIDATES)
        reader = CandidateReader(self.top, MATRIX_KEYS)
        candidates = [reader.candidate(table) for table in tables]
        check_names_differ(tables, [candidate.name for candidate in candidates], "candidates")
        return candidates


def _restart(text: str) -> Restart:
    for choice in RESTARTS:
        if text == choice:
            return choice
    raise UsageError(
        say("{text!r} is not a moment at which torr restarts servers", text=text),
        say('write restart = "trial", or "cell" to keep servers running through a cell'),
    )
