"""Commands of click whose help has groups of flags and examples; verbs are imported when called.

The help has one line per flag, with its default in brackets. Rare flags are in `--help-all` only.
"""

from __future__ import annotations

from importlib import import_module
from inspect import cleandoc
from typing import TYPE_CHECKING, Any

import click

from torr.cli.streams import printed
from torr.messages.say import say
from torr.messages.similar import did_you_mean
from torr.sources.names import is_plan_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from torr.options.definition import VerbOptions

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 80}


class Flag(click.Option):
    """An option that belongs to a group of the help text."""

    def __init__(
        self,
        *arguments: Any,  # noqa: ANN401
        group: str = "Other",
        rare: bool = False,
        **settings: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(*arguments, **settings)
        self.group = group
        self.rare = rare


_ALL = "torr.help_all"


def _show_all(ctx: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        ctx.meta[_ALL] = True
        click.echo(ctx.get_help())
        ctx.exit()


_HELP_ALL = click.Option(
    ["--help-all"], is_flag=True, is_eager=True, expose_value=False, callback=_show_all
)


class Verb(click.Command):
    """A command whose help has groups of flags and examples."""

    def __init__(
        self,
        *arguments: Any,  # noqa: ANN401
        examples: Sequence[str] = (),
        options: VerbOptions | None = None,
        passed_on: Sequence[tuple[str, str]] = (),
        **settings: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(*arguments, **{"context_settings": CONTEXT, **settings})
        self.help = cleandoc(self.help or "")
        self.examples = examples
        # Flags that another program reads for torr, each with its help.
        self.passed_on = passed_on
        # The options that a plan file may set; None for a verb that takes no plan files.
        self.options = options
        if self._rare():
            self.params.append(_HELP_ALL)

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,  # noqa: ANN401
    ) -> click.Context:
        """Read the arguments; values of a plan file are the defaults of flags."""
        if self.options is not None and any(map(is_plan_file, args)):
            from torr.planning.file_keys import values_of_plan

            extra["default_map"] = values_of_plan(self.options, self._positional(args))
        return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401
        """Run the command in the language of `--lang`, if it is given."""
        printed.language = ctx.params.get("language") or printed.language
        return super().invoke(ctx)

    def _positional(self, args: Sequence[str]) -> list[str]:
        """Return the arguments that are neither flags nor their values."""
        # Wrong arguments raise later, when click reads them again.
        context = click.Context(self, resilient_parsing=True)
        values, _, _ = self.make_parser(context).parse_args(list(args))
        names = [str(p.name) for p in self.params if isinstance(p, click.Argument)]
        # An argument that is missing has no list.
        lists = [values[name] for name in names if isinstance(values.get(name), list | tuple)]
        return [text for texts in lists for text in texts]

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the help: with `--help-all` every flag, otherwise without the rare ones."""
        formatter.write(f"Usage: {self.usage(ctx)}\n\n")
        formatter.write(f"{self.help}\n\n")
        _write_groups(formatter, self._groups(ctx))
        _write_examples(formatter, self.examples)
        rare = self._rare()
        if rare and not ctx.meta.get(_ALL):
            names = ", ".join(flag.opts[-1] for flag in rare[:2])
            formatter.write(
                f"\n{ctx.command_path} --help-all: {len(rare)} more options, such as {names}\n"
            )

    def usage(self, ctx: click.Context) -> str:
        """Return the usage line, with optional arguments in brackets and … for several values."""
        arguments = [p for p in self.params if isinstance(p, click.Argument)]
        names = [(p.make_metavar(ctx) + " …" * (p.nargs == -1), p) for p in arguments]
        texts = [name if p.required or p.nargs == -1 else f"[{name}]" for name, p in names]
        return " ".join([ctx.command_path, "[OPTIONS]", *texts])

    def _rare(self) -> list[Flag]:
        return [flag for flag in self.params if isinstance(flag, Flag) and flag.rare]

    def _groups(self, ctx: click.Context) -> dict[str, list[tuple[str, str]]]:
        groups: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.params:
            row = parameter.get_help_record(ctx)
            is_shown = not getattr(parameter, "rare", False) or ctx.meta.get(_ALL)
            if isinstance(parameter, Flag) and row is not None and is_shown:
                groups.setdefault(parameter.group, []).append(row)
        return groups


class NoSuchVerb(click.UsageError):
    """An unknown verb, with a hint if a known one is similar."""

    def __init__(self, name: str, verbs: Iterable[str], ctx: click.Context) -> None:
        super().__init__(say("No such command {name!r}", name=name), ctx)
        self.hint = did_you_mean(name, verbs, cutoff=0.5)


class Verbs(click.Group):
    """A group whose commands are imported when called: `verbs` has `module:name` and help."""

    def __init__(
        self,
        *arguments: Any,  # noqa: ANN401
        verbs: Mapping[str, tuple[str, str]],
        examples: Sequence[str] = (),
        **settings: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(*arguments, **{"context_settings": CONTEXT, **settings})
        self.verbs = verbs
        self.examples = examples

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the verbs in the order of the table."""
        return list(self.verbs)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the verb and its arguments; raise NoSuchVerb, with the most similar verb."""
        if args[0] not in self.verbs and not args[0].startswith("-"):
            raise NoSuchVerb(args[0], self.verbs, ctx)
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import a verb."""
        if cmd_name not in self.verbs:
            return None
        module, _, name = self.verbs[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(module), name)
        return command

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the help without importing a verb."""
        formatter.write(f"Usage: {ctx.command_path} COMMAND [OPTIONS] …\n\n{self.help}\n\n")
        _write_groups(formatter, {"Commands": [(n, text) for n, (_, text) in self.verbs.items()]})
        _write_examples(formatter, self.examples)
        formatter.write(f"\n`{ctx.command_path} COMMAND --help` shows all options of a command.\n")


def _write_groups(
    formatter: click.HelpFormatter, groups: Mapping[str, Sequence[tuple[str, str]]]
) -> None:
    width = max((len(name) for rows in groups.values() for name, _ in rows), default=0)
    for title, rows in groups.items():
        formatter.write(f"{title}:\n")
        for name, text in rows:
            formatter.write(f"  {name:<{width}}  {text}\n")


def _write_examples(formatter: click.HelpFormatter, examples: Sequence[str]) -> None:
    if examples:
        formatter.write("\nExamples:\n")
        formatter.write("".join(f"  {example}\n" for example in examples))
