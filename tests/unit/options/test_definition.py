"""Each option has what its scopes need, and every scope reads the same value from the same text."""

from __future__ import annotations

import dataclasses

import click
import pytest

from torr.api.keywords import read
from torr.cli.ladder import ladder
from torr.cli.run import run
from torr.errors import UsageError
from torr.messages.say import render
from torr.options import verbs
from torr.options.compare import COMPARE, CompareOptions
from torr.options.definition import OptionScope, VerbOptions, build_options, first_given, refuse
from torr.options.demo import DEMO
from torr.options.diff import DIFF, DiffOptions
from torr.options.doctor import DOCTOR
from torr.options.init import INIT
from torr.options.load import LoadOptions
from torr.options.locust import LocustOptions
from torr.options.measure import MeasureOptions
from torr.options.result import ResultOptions
from torr.options.stored_runs import IMPORT, LEDGER, LIST, SERVE, TAG
from torr.options.target import BYTES, CHAT, DELAY, FAULTY, HELLO, OPENAI
from torr.options.verbs import LADDER, RUN
from torr.planning.file_keys import values_of_plan
from torr.planning.matrix import KEYS

URL = "http://127.0.0.1:9/"
LOCUST = VerbOptions("locust", (LocustOptions,))
VERBS = {"run": RUN, "ladder": LADDER, "compare": COMPARE, "diff": DIFF, "locust": LOCUST}
VERBS |= {f"target {each.verb}": each for each in (HELLO, DELAY, BYTES, FAULTY, CHAT, OPENAI)}
VERBS |= {each.verb: each for each in (DEMO, DOCTOR, IMPORT, INIT, LEDGER, LIST, SERVE, TAG)}
CASES = [
    pytest.param(name, option, id=f"{name} {option.long}")
    for name, verb in VERBS.items()
    for option in verb.all
]
PLAN = '[[requests]]\nname = "a"\nurl = "http://127.0.0.1:9/"\n'


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder to be in, with a file whose name stands where an option names a file."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a-file").write_text("text")
    return tmp_path


def text_of(option):
    return option.reader.example or "a-file"


def read_by_command(verb, *arguments):
    command = {"run": run, "ladder": ladder}[verb.verb]
    with command.make_context(verb.verb, [*arguments, URL]) as context:
        return MeasureOptions.of(verb, context.params["urls"], context.params)


@pytest.mark.parametrize("name", VERBS)
def test_no_two_options_of_a_verb_share_a_flag_a_field_or_a_keyword(name):
    options = VERBS[name].all
    flags = [flag for option in options for flag in option.flags]
    assert len(set(flags)) == len(flags)
    assert len({option.field for option in options}) == len(options)
    assert len({option.keyword for option in options}) == len(options)


@pytest.mark.parametrize(("_name", "option"), CASES)
def test_an_option_has_a_help_a_group_and_a_reader_that_reads_its_example(_name, option):
    assert option.help
    assert option.group
    assert option.is_switch == (option.reader.name == "")
    if not option.is_switch:
        option.read(text_of(option))


@pytest.mark.parametrize(("name", "option"), [c for c in CASES if c.values[0] in ("run", "ladder")])
def test_all_fronts_read_the_same_value(name, option, folder):
    verb = VERBS[name]
    text = [] if option.is_switch else [text_of(option)]
    typed = read_by_command(verb, option.long, *text)
    assert typed != read_by_command(verb)
    if OptionScope.KEYWORD in option.scopes:
        value = not option.is_negated if option.is_switch else text[0]
        called, command = read(verb, URL, {option.keyword: value})
        assert called == typed
        assert command == [name, option.long, *text, URL]
    if OptionScope.PLAN in option.scopes:
        value = "true" if option.is_switch else f"'{text[0]}'"
        (folder / "plan.toml").write_text(f"{option.key} = {value}\n{PLAN}")
        said = values_of_plan(verb, ["plan.toml"])
        assert MeasureOptions.of(verb, [URL], said) == typed
    if OptionScope.MATRIX in option.scopes and verb is RUN:
        said = {option.field: KEYS[option.key].read(text[0] if text else "true")}
        assert MeasureOptions.of(verb, [URL], said) == typed


@pytest.mark.parametrize("kind", [CompareOptions, DiffOptions])
def test_an_option_that_several_verbs_have_is_of_the_same_type_in_all(kind):
    types = {
        (each.name, each.metadata["option"].reader): each.type
        for first in (LoadOptions, ResultOptions)
        for each in dataclasses.fields(first)
    }
    shared = [(e, (e.name, e.metadata["option"].reader)) for e in dataclasses.fields(kind)]
    found = {e.name: (e.type, types[key]) for e, key in shared if key in types}
    assert len(found) > 5
    assert {name for name, (a, b) in found.items() if a != b} == set()


def test_what_is_made_of_values_takes_those_that_it_has():
    load = build_options(LoadOptions, {"connections": 7, "slos": ()})
    assert load == LoadOptions(connections=7)


def test_an_option_is_given_when_it_is_not_its_default():
    assert first_given(LoadOptions(), "seed", "pool") is None
    assert first_given(LoadOptions(seed=2, pool=3), "pool", "seed").long == "--pool"
    with pytest.raises(UsageError, match="-z/--duration and --requests are both given"):
        refuse(LoadOptions(duration_ns=1), "duration_ns", what="--requests")


def test_a_shell_completes_words_of_a_list_and_names_of_files():
    arrivals, cert = (
        next(each for each in run.params if f"--{name}" in each.opts)
        for name in ("arrivals", "cert")
    )
    context = click.Context(run)
    assert [x.value for x in arrivals.shell_complete(context, "p")] == ["poisson"]
    assert [x.type for x in cert.shell_complete(context, "")] == ["file"]


@pytest.mark.parametrize(
    ("verb", "flag", "name"),
    [
        ("run", "--concurrency", "-c/--connections"),
        ("ladder", "--vus", "--levels"),
        ("compare", "-t", "-z/--duration"),
        ("run", "--synthetic-input-tokens-mean", "--prompt-tokens"),
        ("run", "--random-input-len", "--prompt-tokens"),
        ("run", "--max-concurrency", "-c/--connections"),
    ],
)
def test_a_flag_of_another_load_generator_is_answered_with_our_name(verb, flag, name):
    message, hint = verbs.no_such_flag(verb, flag, ["--insecure"])
    assert render(message, "en") == f"No such option '{flag}': torr calls it {name}"
    assert hint is None


def test_a_plan_file_is_no_flag():
    message, hint = verbs.no_such_flag("run", "-f", [])
    assert render(message, "en") == "No such option '-f': a file stands in place of the URL"
    assert hint == "torr run plan.toml"


def test_every_name_that_replaces_another_exists():
    flags = {flag for verb in verbs.verbs() for o in verb.all for flag in o.flags}
    assert {name for names in verbs.OTHER_NAMES.values() for name in names} <= flags
    assert not flags & set(verbs.OTHER_NAMES)
