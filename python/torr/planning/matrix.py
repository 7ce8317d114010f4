"""The plans of a matrix file's trials; other keys of the file are options of `torr run`.

Every plan is made once before anything starts, so that an invalid one is refused at its line.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from torr.errors import require
from torr.messages.say import say
from torr.messages.similar import did_you_mean
from torr.options.definition import OptionScope
from torr.options.measure import MeasureOptions
from torr.options.readers import URL
from torr.options.server_trials import ServerTrialOptions
from torr.options.verbs import RUN
from torr.planning.chat import ask_server
from torr.planning.file_keys import read_key
from torr.planning.plan import plan_of
from torr.planning.secrets import check_public
from torr.results.base import factors_key
from torr.servers.expectation import SWITCHED
from torr.sources.candidate_entry import CANDIDATE_KEYS
from torr.sources.entry import errors_at
from torr.sources.matrix_file import MATRIX_KEYS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from typing_extensions import Self

    from torr.model.condition import Condition
    from torr.model.pin import Pin
    from torr.model.plan import Plan
    from torr.planning.file_keys import Values
    from torr.planning.prompt_text.calibration import Calibration
    from torr.sources.candidate_entry import Candidate
    from torr.sources.matrix_file import Factors, MatrixFile

AnyOptions = TypeVar("AnyOptions", bound=ServerTrialOptions)
KEYS = RUN.keys(OptionScope.MATRIX)
AROUND_A_TRIAL_S = 2.0
"""Estimated time to start, check and stop a server, beyond the load."""
# In a matrix, the number of the server's processes.
OF_THE_SERVER = frozenset({"processes"})
OF_A_TRIAL = frozenset({"port", "scratch"})
OF_RESULTS = frozenset({"slo"})
# A comparison has no verdict on tokens, and does not count them. It plans all trials before the
# first server starts, so that no server can be asked for its schema.
OF_ONE_RUN = {
    "tokenizer": say("leave it out: torr run --tokenizer counts the tokens of one server"),
    "reflection": say("give proto or descriptor_set: servers start after the trials are planned"),
}
_MADE_UP = {"prompt_tokens", "trace"}
FACTOR_KEYS = KEYS.keys() - OF_ONE_RUN.keys()


def needs(key: str, names: Iterable[str]) -> bool:
    """Return whether made-up prompts need a key that comparisons have no other use for."""
    return key == "tokenizer" and not _MADE_UP.isdisjoint(names)


def with_file(options: AnyOptions, file: MatrixFile, *, is_named: bool) -> AnyOptions:
    """Return the options of a call, with the values of the file for those that were not given."""
    return replace(
        options,
        name=options.name if is_named or not file.name else file.name,
        note=options.note or file.note,
        tag=options.tag or file.tags,
        no_store=options.no_store or not file.is_stored,
    )


class Plans:
    """The plans of trials, from the file, its factors and the command line.

    Values of `typed` override the file, which overrides `defaults`; both by the names of fields.
    """

    def __init__(
        self, file: MatrixFile, typed: Mapping[str, object], defaults: Mapping[str, object]
    ) -> None:
        self.notes: dict[str, None] = {}
        """Notes about requests of files that are not sent, and of prompts, each once."""
        self.noted: Callable[[str], None] = lambda _note: None
        """Takes each note when it is new."""
        # What servers said of the tokens of prompts: by cell and candidate, and when rounds began.
        self._said: dict[str, dict[str, Calibration]] = {}
        self._settled: dict[str, tuple[Calibration, ...]] = {}
        self._file = file
        self._typed = {field: value for field, value in typed.items() if value is not None}
        # A warm-up by requests replaces the warm-up by time, unless that is set.
        by_requests = {} if file.warmup_requests is None else {"warmup_ns": 0}
        self._defaults = {**defaults, **by_requests}
        self._values = {candidate.name: self._values_of(candidate) for candidate in file.candidates}
        self._check_factors()

    @classmethod
    def of_trials(cls, file: MatrixFile, options: ServerTrialOptions, pin: Pin | None) -> Self:
        """Return the plans of a file with the options of a command line."""
        # The generator has its cores to itself.
        defaults = {} if pin is None else {"workers": len(pin.generator)}
        typed = {
            "duration_ns": options.duration_ns,
            "warmup_ns": options.warmup_ns,
            "nodes": options.nodes,
        }
        return cls(file, typed, defaults)

    def of(self, candidate: Candidate, factors: Factors, url: str, round_number: int = 0) -> Plan:
        """Return the plan of the load on a candidate; raise FileError.

        All candidates get the same prompts in the same order; those of another round differ.
        """
        with errors_at(self._file.path, candidate.line):
            options = replace(
                self._options(candidate, factors, url),
                round=round_number,
                calibrations=self._calibrations(factors, round_number),
            )
            planned = plan_of(options)
            is_template = any(request.template for request in planned.plan.requests)
            hint = say("every candidate must receive the same request: write one without {{{{…}}}}")
            require(
                not is_template or options.stream.chat is not None,
                say("{name}: its request is a template", name=candidate.name),
                hint,
            )
            self._note(planned.notes)
            return planned.plan

    def ask(self, candidate: Candidate, factors: Factors, url: str) -> None:
        """Ask a server that runs for the tokens of made-up prompts, for the rounds of its cell."""
        said = ask_server(self._options(candidate, factors, url))
        if said is not None:
            self._said.setdefault(factors_key(factors), {})[candidate.name] = said

    def _calibrations(self, factors: Factors, round_number: int) -> tuple[Calibration, ...] | None:
        """Return what servers of a cell said; it stays the same as soon as rounds have begun."""
        key = factors_key(factors)
        if round_number and key not in self._settled:
            self._settled[key] = tuple(self._said.get(key, {}).values())
        return self._settled.get(key)

    def _note(self, notes: Iterable[str]) -> None:
        for note in notes:
            if note not in self.notes:
                self.notes[note] = None
                self.noted(note)

    def slos(self, candidate: Candidate) -> tuple[Condition, ...]:
        """Return the SLOs of the file."""
        with errors_at(self._file.path, candidate.line):
            return self._options(candidate, {}, "http://localhost/").result.slos

    def _options(self, candidate: Candidate, factors: Factors, url: str) -> MeasureOptions:
        varied = {
            KEYS[key].field: KEYS[key].read(str(value))
            for key, value in factors.items()
            if key in FACTOR_KEYS
        }
        expected = KEYS["expect_status"]
        status = candidate.expected.status
        # Messages of WebSocket have no status of their own.
        statuses = {} if status == SWITCHED else {expected.field: expected.read(str(status))}
        values = {
            **self._defaults,
            **statuses,
            **self._values[candidate.name],
            **varied,
            **self._typed,
        }
        return MeasureOptions.of(RUN, [URL.read(url)], values)

    def _check_factors(self) -> None:
        """Refuse a factor that is secret, changes nothing, or that every trial sets itself."""
        placeholders = {
            name for candidate in self._file.candidates for name in candidate.command.placeholders
        }
        for name, values in self._file.factors.items():
            line = self._file.lines.get(f"factors.{name}", 1)
            with errors_at(self._file.path, line):
                check_public(name, values)
                require(
                    name not in OF_A_TRIAL,
                    say("{{{name}}} is a name that torr sets for each trial", name=name),
                    say("rename it"),
                )
                move = say("write it above the first [[candidates]]")
                require(
                    name not in OF_RESULTS,
                    say("{name} is a key of the whole file, not a factor", name=name),
                    move,
                )
                names = {*FACTOR_KEYS, *placeholders, *OF_THE_SERVER}
                hint = did_you_mean(name, sorted(names)) or say(
                    "write {{{name}}} in a command, env, url or cwd, or name a flag of torr run",
                    name=name,
                )
                require(name in names, say("the factor {name!r} changes nothing", name=name), hint)

    def _values_of(self, candidate: Candidate) -> Values:
        """Return the options of a candidate's load; raise FileError at the line of a key."""
        values: Values = {}
        prefix = f"candidates.{self._file.candidates.index(candidate)}"
        for key, value in candidate.flags.items():
            own_line = self._file.lines.get(f"{prefix}.{key}")
            line = own_line or self._file.lines.get(key, candidate.line)
            with errors_at(self._file.path, line):
                is_of_file = key in MATRIX_KEYS or (key in OF_RESULTS and own_line is not None)
                move = say("write it above the first [[candidates]]")
                require(
                    not is_of_file,
                    say("{key} is a key of the file, not of a candidate", key=key),
                    move,
                )
                require(
                    key not in OF_ONE_RUN or needs(key, (*candidate.flags, *self._file.factors)),
                    say("a comparison has no {key}", key=key),
                    OF_ONE_RUN.get(key),
                )
                names = (*KEYS, *CANDIDATE_KEYS, *MATRIX_KEYS)
                hint = did_you_mean(key, names) or say("a key is the name of a flag of torr run")
                require(key in KEYS, say("there is no {key!r} here", key=key), hint)
                values[KEYS[key].field] = read_key(KEYS[key], key, value)
        return values
