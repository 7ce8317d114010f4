"""From a matrix file to the plans of its trials: its other keys are the options of `torr run`.

Every plan is made once before anything starts, so that what cannot be fired is refused at its line.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from torr.errors import require
from torr.options.definition import Front
from torr.options.measure import MeasureOptions
from torr.options.readers import URL
from torr.options.verbs import RUN
from torr.planning.file_keys import read_key
from torr.planning.plan import plan_of
from torr.sources.entry import errors_at
from torr.sources.matrix_file import CANDIDATE_KEYS, MATRIX_KEYS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torr.model.condition import Condition
    from torr.model.plan import Plan
    from torr.planning.file_keys import Values
    from torr.sources.matrix_file import Candidate, Factors, MatrixFile

KEYS = RUN.keys(Front.MATRIX)
# Of the server, in a matrix.
OF_THE_SERVER = frozenset({"processes"})
OF_A_TRIAL = frozenset({"port", "scratch"})
OF_RESULTS = frozenset({"slo"})
# Nobody counts tokens in a comparison: it has no verdict on them.
OF_ONE_RUN = frozenset({"tokenizer"})


class Plans:
    """The load of each trial: what the file says, what its factors say, and what was typed.

    `typed` go before what the file says, `defaults` behind it; both by the names of fields.
    """

    def __init__(
        self, file: MatrixFile, typed: Mapping[str, object], defaults: Mapping[str, object]
    ) -> None:
        self.notes: dict[str, None] = {}
        """What files say that is not sent, each once."""
        self._file = file
        self._typed = {field: value for field, value in typed.items() if value is not None}
        # Who warms up by requests has no load by time before them, unless it is asked for.
        by_requests = {} if file.warmup_requests is None else {"warmup_ns": 0}
        self._defaults = {**defaults, **by_requests}
        self._values = {each.name: self._values_of(each) for each in file.candidates}
        self._check_factors()

    def of(self, candidate: Candidate, factors: Factors, url: str) -> Plan:
        """The load that is fired at a candidate; raises FileError."""
        with errors_at(self._file.path, candidate.line):
            planned = plan_of(self._options(candidate, factors, url))
            is_template = any(request.template for request in planned.plan.requests)
            hint = "what is compared are the same bytes: write one request without {{…}}"
            require(not is_template, f"{candidate.name}: its request is a template", hint)
            self.notes |= dict.fromkeys(planned.notes)
            return planned.plan

    def slos(self, candidate: Candidate) -> tuple[Condition, ...]:
        """The conditions that the file says."""
        with errors_at(self._file.path, candidate.line):
            return self._options(candidate, {}, "http://localhost/").result.slos

    def _options(self, candidate: Candidate, factors: Factors, url: str) -> MeasureOptions:
        varied = {
            KEYS[key].field: KEYS[key].read(str(value))
            for key, value in factors.items()
            if key in KEYS
        }
        expected = KEYS["expect_status"]
        values = {
            **self._defaults,
            expected.field: expected.read(str(candidate.expected.status)),
            **self._values[candidate.name],
            **varied,
            **self._typed,
        }
        return MeasureOptions.of(RUN, [URL.read(url)], values)

    def _check_factors(self) -> None:
        """Refuse a factor that changes nothing, or that every trial sets itself."""
        asked = {name for each in self._file.candidates for name in each.command.asked}
        for name in self._file.factors:
            line = self._file.lines.get(f"factors.{name}", 1)
            with errors_at(self._file.path, line):
                require(name not in OF_A_TRIAL, f"{{{name}}} is each trial's own", "rename it")
                whole = "write it above the first [[candidates]]"
                require(
                    name not in OF_RESULTS, f"{name} is of the whole file, and no factor", whole
                )
                known = {*KEYS, *asked, *OF_THE_SERVER}
                near = get_close_matches(name, sorted(known), 1)
                hint = f"write {{{name}}} in a command, env, url or cwd, or name a flag of torr run"
                hint = f"did you mean {near[0]}?" if near else hint
                require(name in known, f"the factor {name!r} changes nothing", hint)

    def _values_of(self, candidate: Candidate) -> Values:
        """What a candidate says of its load, each key read at its line."""
        found: Values = {}
        place = f"candidates.{self._file.candidates.index(candidate)}"
        for key, value in candidate.flags.items():
            own = self._file.lines.get(f"{place}.{key}")
            line = own or self._file.lines.get(key, candidate.line)
            with errors_at(self._file.path, line):
                is_of_file = key in MATRIX_KEYS or (key in OF_RESULTS and own is not None)
                above = "write it above the first [[candidates]]"
                require(not is_of_file, f"{key} is a key of the file, and no candidate's", above)
                counts = "leave it out: torr run --tokenizer counts tokens, of one server"
                require(key not in OF_ONE_RUN, f"a comparison has no {key}", counts)
                near = get_close_matches(key, (*KEYS, *CANDIDATE_KEYS, *MATRIX_KEYS), 1)
                hint = f"did you mean {near[0]}?" if near else "a key is a flag of torr run"
                require(key in KEYS, f"there is no {key!r} here", hint)
                found[KEYS[key].field] = read_key(KEYS[key], key, value)
        return found
