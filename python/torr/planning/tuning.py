"""A tuning from a tune file and options: its settings, its budget, the load of its trials."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from torr.errors import require
from torr.messages.say import say
from torr.messages.similar import did_you_mean
from torr.planning.matrix import KEYS, OF_ONE_RUN, Plans
from torr.servers.placeholders import fill, placeholder_names
from torr.sources.candidate_entry import CANDIDATE_KEYS
from torr.sources.entry import errors_at
from torr.sources.toml_table import line_of
from torr.sources.tune_file import TUNE_KEYS
from torr.tuning.budget import NOISE_PERCENT, TuneBudget
from torr.tuning.procedure import TuneProcedure
from torr.units import SECOND_NS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torr.model.condition import Condition
    from torr.model.plan import Plan
    from torr.model.settings import Setting
    from torr.model.tune_effort import TuneEffort
    from torr.options.tune import TuneOptions
    from torr.sources.tune_file import TuneFile

# Estimated time to start, check and stop a server, beyond the load.
AROUND_A_TRIAL_S = 3.0
# The port and the folder of a trial, where only their names matter.
_EXAMPLE = {"port": 1, "scratch": "/", "processes": 1}


@dataclass(frozen=True, slots=True)
class TunePlan:
    """A tuning, ready to start: its file, its procedure, its load and SLOs.

    `requested` is how many trials the user allowed; None for what the search needs.
    """

    file: TuneFile
    procedure: TuneProcedure
    load: Plan
    slos: tuple[Condition, ...]
    trial_s: float
    requested: int | None
    noise: float
    notes: tuple[str, ...]

    @classmethod
    def of(cls, file: TuneFile, options: TuneOptions) -> TunePlan:
        """Return the tuning of a file; every placeholder in it has been filled once."""
        _check_flags(file)
        for setting in examples(file):
            _check_filled(file, setting)
        _check_parameters(file)
        typed = {"duration_ns": options.duration_ns, "warmup_ns": options.warmup_ns}
        plans = Plans(file.matrix, typed, {})
        load = plans.of(file.candidate, {}, _example_url(file))
        trial_s = AROUND_A_TRIAL_S + file.matrix.pause_ns / SECOND_NS + (load.seconds or 0.0)
        requested = _requested(options.budget or file.budget, trial_s)
        noise = file.noise or NOISE_PERCENT
        return cls(
            file=file,
            procedure=TuneProcedure(
                default=file.default,
                budget=TuneBudget.of(len(file.settings), requested, noise),
                seed=options.seed,
                more_is_better=_more_is_better(file, load),
            ),
            load=load,
            slos=plans.slos(file.candidate),
            trial_s=trial_s,
            requested=requested,
            noise=noise,
            notes=tuple(plans.notes),
        )


def examples(file: TuneFile) -> list[Setting]:
    """Return settings in which every value of every parameter occurs, the default first."""
    found = [file.settings[file.default]]
    open_values = {(p.name, repr(value)) for p in file.parameters for value in p.values}
    open_values -= _values_of(found[0])
    for setting in file.settings:
        if not open_values:
            break
        if new := _values_of(setting) & open_values:
            found.append(setting)
            open_values -= new
    return found


def _values_of(setting: Setting) -> set[tuple[str, str]]:
    return {(name, repr(value)) for name, value in setting.items()}


def _requested(effort: TuneEffort | None, trial_s: float) -> int | None:
    return None if effort is None else effort.trials_of(trial_s)


def _more_is_better(file: TuneFile, load: Plan) -> bool:
    """Return the direction of the primary metric: a time where arrivals come at a rate."""
    if file.matrix.primary is not None:
        return file.matrix.primary.more_is_better
    return load.rate_per_s is None


def _check_flags(file: TuneFile) -> None:
    """Refuse keys that are no flags of torr run; a key of a tune file may be meant."""
    for key in file.candidate.flags:
        with errors_at(file.matrix.path, line_of(file.matrix.lines, key)):
            require(
                key not in OF_ONE_RUN, say("a tuning has no {key}", key=key), OF_ONE_RUN.get(key)
            )
            hint = did_you_mean(key, (*KEYS, *CANDIDATE_KEYS, *TUNE_KEYS))
            require(
                key in KEYS,
                say("there is no {key!r} here", key=key),
                hint or say("a key is the name of a flag of torr run"),
            )


def _check_parameters(file: TuneFile) -> None:
    """Refuse a parameter that changes nothing, and a name that two things have."""
    used = {name for text in _texts(file) for name in placeholder_names(text)}
    used |= file.candidate.command.placeholders | {"processes"}
    for parameter in file.parameters:
        name, line = parameter.name, line_of(file.matrix.lines, f"settings.{parameter.name}")
        with errors_at(file.matrix.path, line):
            reaches = bool(parameter.argument) or parameter.variable is not None or name in used
            require(
                reaches,
                say("{name!r} does not reach the server", name=name),
                say(
                    "write {{{name}}} in command, env, before or a template, or give {name} an"
                    " argument or env",
                    name=name,
                ),
            )
            require(
                all(name != template.name for template in file.templates),
                say("a template and a setting are both called {name!r}", name=name),
                say("rename one"),
            )


def _texts(file: TuneFile) -> Iterator[str]:
    """Yield the texts besides the candidate's own that may have placeholders."""
    for template in file.templates:
        yield template.text
    for words in file.before:
        yield from words


def _check_filled(file: TuneFile, setting: Setting) -> None:
    """Refuse a placeholder that no setting, template or trial fills."""
    paths = {template.name: "/" for template in file.templates}
    values = {**_EXAMPLE, **setting, **paths}
    lines = file.matrix.lines
    with errors_at(file.matrix.path, line_of(lines, "command")):
        file.candidate_in(setting).command.filled(values)
    for template in file.templates:
        with errors_at(template.path, 1):
            fill(template.text, {**_EXAMPLE, **setting}, template.name)
    with errors_at(file.matrix.path, line_of(lines, "before")):
        for words in file.before:
            for word in words:
                fill(word, values, "before")


def _example_url(file: TuneFile) -> str:
    """Return the URL of the server in its default setting, on a port that stands for any."""
    setting = file.settings[file.default]
    paths = {template.name: "/" for template in file.templates}
    return file.candidate_in(setting).command.filled({**_EXAMPLE, **setting, **paths}).url
