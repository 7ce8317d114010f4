"""Checks of a tune file: its flags, its parameters, and every placeholder in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.errors import require
from torr.messages.say import say
from torr.messages.similar import did_you_mean
from torr.planning.matrix import KEYS, OF_ONE_RUN, needs
from torr.planning.secrets import check_public
from torr.servers.placeholders import fill, placeholder_names
from torr.sources.candidate_entry import CANDIDATE_KEYS
from torr.sources.entry import errors_at
from torr.sources.toml_table import line_of
from torr.sources.tune_file import TUNE_KEYS

if TYPE_CHECKING:
    from torr.model.settings import Setting
    from torr.sources.tune_file import TuneFile

# The port and the folder of a trial, where only their names matter.
_EXAMPLE = {"port": 1, "scratch": "/", "processes": 1}


def check(file: TuneFile) -> None:
    """Refuse keys that are no flags, parameters that change nothing, and unknown placeholders."""
    _check_flags(file)
    for setting in examples(file):
        _check_filled(file, setting)
    _check_parameters(file)


def examples(file: TuneFile) -> list[Setting]:
    """Return settings in which every value of every parameter occurs, the default first.

    Each set of parameters that have a value together is among them.
    """
    found: list[Setting] = []
    seen: set[object] = set()
    for setting in (file.settings[file.default], *file.settings):
        if new := {frozenset(setting), *_values_of(setting)} - seen:
            found.append(setting)
            seen |= new
    return found


def _values_of(setting: Setting) -> set[tuple[str, str]]:
    return {(name, repr(value)) for name, value in setting.items()}


def _check_flags(file: TuneFile) -> None:
    """Refuse keys that are no flags of torr run; a key of a tune file may be meant."""
    for key in file.candidate.flags:
        with errors_at(file.matrix.path, line_of(file.matrix.lines, key)):
            require(
                key not in OF_ONE_RUN or needs(key, file.candidate.flags),
                say("a tuning has no {key}", key=key),
                OF_ONE_RUN.get(key),
            )
            hint = did_you_mean(key, (*KEYS, *CANDIDATE_KEYS, *TUNE_KEYS))
            require(
                key in KEYS,
                say("there is no {key!r} here", key=key),
                hint or say("a key is the name of a flag of torr run"),
            )


def _check_parameters(file: TuneFile) -> None:
    """Refuse a parameter that changes nothing, and a name that two things have."""
    used = {name for text in file.preparation.texts for name in placeholder_names(text)}
    used |= file.candidate.command.placeholders
    for parameter in file.parameters:
        name, line = parameter.name, line_of(file.matrix.lines, f"settings.{parameter.name}")
        with errors_at(file.matrix.path, line):
            values = (*parameter.values, parameter.otherwise)
            check_public(name, values, parameter.variable)
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
                all(name != template.name for template in file.preparation.templates),
                say("a template and a setting are both called {name!r}", name=name),
                say("rename one"),
            )


def _check_filled(file: TuneFile, setting: Setting) -> None:
    """Refuse a placeholder that no setting, template or trial fills."""
    own = {**_EXAMPLE, **file.preparation.otherwise, **setting}
    values = {**own, **_paths(file)}
    lines = file.matrix.lines
    with errors_at(file.matrix.path, line_of(lines, "command")):
        file.candidate_in(setting).command.filled(values)
    for template in file.preparation.templates:
        with errors_at(template.path, 1):
            fill(template.text, own, template.name)
    with errors_at(file.matrix.path, line_of(lines, "before")):
        for words in file.preparation.before:
            for word in words:
                fill(word, values, "before")


def example_url(file: TuneFile) -> str:
    """Return the URL of the server in its default setting, on a port that stands for any."""
    setting = file.settings[file.default]
    values = {**_EXAMPLE, **file.preparation.otherwise, **setting, **_paths(file)}
    return file.candidate_in(setting).command.filled(values).url


def _paths(file: TuneFile) -> dict[str, str]:
    """Return paths that stand for those of the filled templates."""
    return {template.name: "/" for template in file.preparation.templates}
