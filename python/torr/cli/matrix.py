"""From a matrix file to the plans of its trials: its other keys are the flags of `torr run`.

Every plan is made once before anything starts, so that what cannot be fired is refused at its line.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import click

from torr.cli.options import RESULT
from torr.cli.plan_defaults import checked, keys_of
from torr.cli.run import run
from torr.errors import UsageError, require
from torr.planning.plan import plan_of
from torr.sources.entry import at
from torr.sources.matrix_file import CANDIDATE_KEYS, MATRIX_KEYS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torr.cli.command import Flag
    from torr.model.condition import Condition
    from torr.model.plan import Plan
    from torr.sources.matrix_file import Candidate, Factors, MatrixFile

Flags = dict[str, Any]

# Of the server, in a matrix.
OF_THE_SERVER = frozenset({"processes"})
OF_A_TRIAL = frozenset({"port", "scratch"})
OF_RESULTS = frozenset({"slo"})
# Nobody counts tokens in a comparison: it has no verdict on them.
OF_ONE_RUN = frozenset({"tokenizer"})
OF_ONE_REQUEST = frozenset({"once", "verbose", "help-all"})


class Plans:
    """The load of each trial: what the file says, what its factors say, and what was typed."""

    def __init__(
        self, file: MatrixFile, typed: Mapping[str, object], defaults: Mapping[str, str]
    ) -> None:
        self._file = file
        self._defaults = defaults
        self._typed = {key: value for key, value in typed.items() if value is not None}
        self._options = {
            key: option
            for key, option in keys_of(run, OF_ONE_REQUEST).items()
            if is_of_load(key, option)
        }
        self._flags = {candidate.name: self._flags_of(candidate) for candidate in file.candidates}
        self._check_factors()

    def of(self, candidate: Candidate, factors: Factors, url: str) -> Plan:
        """The load that is fired at a candidate; raises FileError."""
        with at(self._file.path, candidate.line):
            plan = plan_of([url], self._params(candidate, factors, url))
            is_template = any(request.template for request in plan.requests)
            hint = "what is compared are the same bytes: write one request without {{…}}"
            require(not is_template, f"{candidate.name}: its request is a template", hint)
            return plan

    def slos(self, candidate: Candidate) -> tuple[Condition, ...]:
        """The conditions that the file says."""
        with at(self._file.path, candidate.line):
            found: tuple[Condition, ...] = self._params(candidate, {}, "http://localhost/")["slos"]
            return found

    def _params(self, candidate: Candidate, factors: Factors, url: str) -> Flags:
        varied = {key: str(value) for key, value in factors.items() if key in self._options}
        status = {"expect_status": str(candidate.expected.status)}
        # Who warms up by requests has no load by time before them, unless it is asked for.
        by_requests = {} if self._file.warmup_requests is None else {"warmup": "0s"}
        texts = {
            **self._defaults,
            **by_requests,
            **status,
            **self._flags[candidate.name],
            **varied,
            **self._typed,
        }
        defaults = {str(self._options[key].name): text for key, text in texts.items()}
        try:
            context = run.make_context("torr compare", ["--", url], default_map=defaults)
        except click.UsageError as error:
            raise UsageError(error.message, getattr(error, "hint", None)) from error
        return context.params

    def _check_factors(self) -> None:
        """Refuse a factor that changes nothing, or that every trial sets itself."""
        asked = {name for each in self._file.candidates for name in each.command.asked}
        for name in self._file.factors:
            line = self._file.lines.get(f"factors.{name}", 1)
            with at(self._file.path, line):
                require(name not in OF_A_TRIAL, f"{{{name}}} is each trial's own", "rename it")
                whole = "write it above the first [[candidates]]"
                require(
                    name not in OF_RESULTS, f"{name} is of the whole file, and no factor", whole
                )
                known = {*self._options, *asked, *OF_THE_SERVER}
                near = get_close_matches(name, sorted(known), 1)
                hint = f"write {{{name}}} in a command, env, url or cwd, or name a flag of torr run"
                hint = f"did you mean {near[0]}?" if near else hint
                require(name in known, f"the factor {name!r} changes nothing", hint)

    def _flags_of(self, candidate: Candidate) -> Flags:
        """The flags that a candidate has, checked one by one."""
        found = {}
        place = f"candidates.{self._file.candidates.index(candidate)}"
        for key, value in candidate.flags.items():
            own = self._file.lines.get(f"{place}.{key}")
            line = own or self._file.lines.get(key, candidate.line)
            with at(self._file.path, line):
                is_of_file = key in MATRIX_KEYS or (key in OF_RESULTS and own is not None)
                above = "write it above the first [[candidates]]"
                require(not is_of_file, f"{key} is a key of the file, and no candidate's", above)
                counts = "leave it out: torr run --tokenizer counts tokens, of one server"
                require(key not in OF_ONE_RUN, f"a comparison has no {key}", counts)
                known = (*self._options, *CANDIDATE_KEYS, *MATRIX_KEYS)
                near = get_close_matches(key, known, 1)
                hint = f"did you mean {near[0]}?" if near else "a key is a flag of torr run"
                require(key in self._options, f"there is no {key!r} here", hint)
                found[key] = checked(run, self._options[key], key, value)
        return found


def is_of_load(key: str, option: Flag | click.Option) -> bool:
    """Whether a flag of `torr run` says something of a trial's load."""
    is_result = getattr(option, "group", None) == RESULT and key not in OF_RESULTS
    return not is_result and key not in OF_THE_SERVER | OF_ONE_RUN
