"""A tune file: one candidate, the parameters of its settings, and every flag by its name.

    command = ["server", "--port", "{port}", "--workers", "{workers}", "--config", "{conf}"]
    url = "http://127.0.0.1:{port}/"
    slo = ["p95 < 500ms"]
    connections = 32                    # a key is a flag of `torr run`, `_` for `-`
    budget = 240                        # trials, or a time such as "2h"
    [settings]
    workers = [1, 2, 4, 8]              # {workers} in a command, url, env or template
    gc = { values = ["on", "off"], env = "GC" }
    pool = { values = [8, 16], when = { workers = [4, 8] }, argument = ["--pool", "{pool}"] }
    [default]
    workers = 1
    gc = "on"
    [templates]
    conf = "server.conf.template"       # {conf} in the command is the path of the filled file

Errors name the file and the line.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from torr.errors import UsageError, require
from torr.messages.say import say
from torr.messages.similar import did_you_mean
from torr.model.label import read_note, read_tag
from torr.model.outside_file import read_text
from torr.model.settings import Setting, is_one_of, most_settings, settings_of
from torr.model.tune_effort import TuneEffort
from torr.servers.placeholders import placeholder_names
from torr.servers.preparation import ConfigTemplate, Preparation
from torr.sources.candidate_entry import CandidateReader
from torr.sources.matrix_file import MATRIX_KEYS, MatrixFile
from torr.sources.monitor_entry import read_monitor
from torr.sources.settings_table import SettingsReader
from torr.sources.toml_table import read_table
from torr.stats.metric import named
from torr.units import parse_duration, parse_percent

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from torr.model.settings import SettingValue, TunedParameter
    from torr.sources.candidate_entry import Candidate
    from torr.sources.toml_table import TomlTable
    from torr.stats.metric import Metric

TUNE_KEYS = (
    *("settings", "default", "budget", "noise", "templates", "before", "pause", "primary"),
    *("warmup_requests", "monitor", "note", "tag", "no_store"),
)
# Keys of a comparison that a tuning has not; `name` is that of the candidate.
OF_COMPARISONS = tuple(key for key in MATRIX_KEYS if key not in (*TUNE_KEYS, "name"))
MOST_NOISE = 100.0
MOST_TEMPLATE_BYTES = 16 << 20
DEFAULT_NAME = "server"


@dataclass(frozen=True, slots=True)
class TuneFile:
    """The content of a file: the candidate, its settings, the default, and the budget.

    `matrix` has the candidate and what a comparison of it would have. `has_expectation` says that
    the file has `expect`. Without a budget, a tuning measures what the search needs.
    """

    matrix: MatrixFile
    parameters: tuple[TunedParameter, ...]
    settings: list[Setting]
    default: int
    preparation: Preparation
    budget: TuneEffort | None
    noise: float | None
    has_expectation: bool = False

    @property
    def candidate(self) -> Candidate:
        """The candidate, with placeholders for the values of a setting."""
        return self.matrix.candidates[0]

    def candidate_in(self, setting: Setting) -> Candidate:
        """Return the candidate with the arguments and variables of a setting."""
        command = self.candidate.command
        known = {**self.preparation.otherwise, **setting}
        chosen = [each for each in self.parameters if each.name in known]
        words = [word for each in chosen for word in each.argument]
        variables = {
            each.variable: f"{{{each.name}}}" for each in chosen if each.variable is not None
        }
        filled = replace(
            command,
            argv=(*command.argv, *words),
            env=tuple({**dict(command.env), **variables}.items()),
        )
        return replace(self.candidate, command=filled)


def read_tune_file(path: Path) -> TuneFile:
    """Read a tune file; raise FileError, or UsageError where there is no file."""
    return _Reader(read_table(path)).tuning()


@dataclass(frozen=True, slots=True)
class _Reader:
    top: TomlTable

    def tuning(self) -> TuneFile:
        self._check_keys()
        parameters = SettingsReader(self.top).parameters()
        candidate = self._candidate()
        otherwise = {x.name: x.otherwise for x in parameters if x.otherwise is not None}
        preparation = Preparation(tuple(self._templates()), tuple(self._before()), otherwise)
        used = {
            *candidate.command.placeholders,
            *(name for text in preparation.texts for name in placeholder_names(text)),
        }
        self._check_conditions(parameters, used)
        settings = self._settings(parameters)
        return TuneFile(
            matrix=self._matrix(candidate),
            parameters=parameters,
            settings=settings,
            default=self._default(parameters, settings),
            preparation=preparation,
            budget=self.top.read("budget", TuneEffort.parse),
            noise=self._noise(),
            has_expectation="expect" in self.top.values,
        )

    def _check_keys(self) -> None:
        for key in self.top.values:
            with self.top.errors_at(key):
                require(
                    key not in OF_COMPARISONS,
                    say("a tuning has no {key}", key=key),
                    did_you_mean(key, TUNE_KEYS) or say("{key} is a key of torr compare", key=key),
                )

    def _candidate(self) -> Candidate:
        own = {key: x for key, x in self.top.values.items() if key not in TUNE_KEYS}
        own.setdefault("name", DEFAULT_NAME)
        return CandidateReader(self.top, tuple(self.top.values)).candidate(
            replace(self.top, values=own)
        )

    def _matrix(self, candidate: Candidate) -> MatrixFile:
        top = self.top
        problem = say("tag is neither a text nor a list of texts")
        tags = top.one_or_more("tag", str, problem, say('write tag = ["baseline"]'))
        with top.errors_at("tag"):
            tags = list(map(read_tag, tags))
        return MatrixFile(
            path=top.path,
            name=candidate.name,
            candidates=(candidate,),
            baseline=candidate.name,
            factors={},
            pause_ns=top.read("pause", parse_duration) or 0,
            warmup_requests=top.count("warmup_requests", 10**9),
            primary=top.read("primary", _primary),
            monitor=read_monitor(top),
            note=top.read("note", read_note),
            tags=tuple(tags),
            is_stored=not top.value("no_store", bool),
            lines=top.lines,
        )

    def _templates(self) -> Iterable[ConfigTemplate]:
        table = self.top.table("templates", say('write conf = "server.conf" below [templates]'))
        for name in table.values:
            file = table.value(name, str) or ""
            path = self.top.path.parent / file
            with table.errors_at(name):
                require("\0" not in file, say("{name} is not the name of a file", name=repr(file)))
                yield ConfigTemplate(name, path, read_text(path, most_bytes=MOST_TEMPLATE_BYTES))

    def _before(self) -> Iterable[tuple[str, ...]]:
        commands = self.top.values.get("before", [])
        hint = say('write before = [["./configure", "{{workers}}"]]')
        with self.top.errors_at("before"):
            fits = isinstance(commands, list) and all(
                isinstance(words, list) and words and all(isinstance(x, str) for x in words)
                for words in commands
            )
            require(fits, say("before is not a list of commands, each a list of words"), hint)
        return [tuple(words) for words in cast("list[list[str]]", commands)]

    def _settings(self, parameters: tuple[TunedParameter, ...]) -> list[Setting]:
        with self.top.errors_at("settings"):
            try:
                settings = settings_of(parameters)
            except ValueError as error:
                most = most_settings(parameters)
                problem = say("there are up to {most:,} settings: too many", most=most)
                raise UsageError(problem, say("name fewer values")) from error
            require(
                len(settings) > 1,
                say("there is only one setting"),
                say("give a parameter two values or more"),
            )
        return settings

    def _check_conditions(self, parameters: tuple[TunedParameter, ...], used: set[str]) -> None:
        """Refuse a placeholder that has no value in some settings."""
        for parameter in parameters:
            with self.top.errors_at(f"settings.{parameter.name}"):
                require(
                    not parameter.when
                    or parameter.otherwise is not None
                    or parameter.name not in used,
                    say("{{{name}}} has no value where its condition fails", name=parameter.name),
                    say(
                        'write argument = ["--{name}", "{{{name}}}"] or env, or its value there:'
                        " otherwise = {value}",
                        name=parameter.name,
                        value=f"{parameter.values[0]!r}",
                    ),
                )

    def _default(self, parameters: tuple[TunedParameter, ...], settings: list[Setting]) -> int:
        table = self.top.table("default", say("write [default] above the values of the default"))
        names = [parameter.name for parameter in parameters]
        with self.top.errors_at():
            require(
                "default" in self.top.values,
                say("there is no default"),
                say("write [default] with the values that the server has now"),
            )
        table.check_keys(names)
        given: dict[str, SettingValue] = {}
        for parameter in parameters:
            self._check_default(table, parameter, given)
        # Of the values 1 and true, `list.index` would take either.
        return next(
            number
            for number, setting in enumerate(settings)
            if setting.keys() == given.keys()
            and all(is_one_of(given[name], (value,)) for name, value in setting.items())
        )

    def _check_default(self, table: TomlTable, parameter: TunedParameter, given: Setting) -> None:
        """Add the default's value of a parameter to those before it."""
        name, applies = parameter.name, parameter.applies_in(given)
        with table.errors_at(name if name in table.values else ""):
            require(
                applies or name not in table.values,
                say("the default has {name}, whose condition does not hold", name=name),
                say("leave it out"),
            )
            if not applies:
                return
            require(
                name in table.values,
                say("the default has no {name}", name=name),
                say("write {name} = {value}", name=name, value=parameter.values[0]),
            )
            value = table.values[name]
            shown = ", ".join(map(str, parameter.values))
            require(
                is_one_of(value, parameter.values),
                say("{name} = {value} is not in [settings]", name=name, value=value),
                say("its values are {shown}; add it there, or choose one", shown=shown),
            )
            given[name] = value

    def _noise(self) -> float | None:
        noise = self.top.read("noise", _percent)
        with self.top.errors_at("noise"):
            fits = noise is None or 0 < noise <= MOST_NOISE
            require(fits, say("noise is not a percentage above 0"), say('write noise = "4%"'))
        return noise


def _primary(text: str) -> Metric:
    """Return a metric whose settings can be compared by their ratios."""
    metric = named(text)
    problem = say("a tuning cannot make {label} best, which may be 0", label=metric.label)
    require(not metric.is_share, problem, say('write an SLO such as slo = ["errors < 0.1%"]'))
    return metric


def _percent(text: str) -> float:
    return parse_percent(text if text.strip().endswith("%") else f"{text}%")
