"""The commands in the pages are commands of torr and make, and those of torr run."""

import os
import re
import shlex
import shutil

import click
import pytest

from documents import ROOT, TUTORIAL, commands
from installed import TORR
from torr.cli.main import torr
from torr.errors import ExitCode

QUICKER = {
    "demo": ["--quick"],
    "init": ["--force"],
    "run": ["-z", "500ms", "--warmup", "0s", "--drain", "5s"],
    "ladder": ["--levels", "2,4", "--rounds", "1", "-z", "500ms", "--warmup", "0s"],
    "compare": ["-z", "100ms", "--warmup", "0s"],
    "tune": ["-z", "100ms", "--warmup", "0s", "--budget", "22"],
    "diff": [],
    "runs": [],
    "serve": ["--for", "200ms", "--port", "0", "--host", "127.0.0.1"],
    "locust": ["-t", "1s"],
    "doctor": [],
    "target": ["--for", "200ms", "--port", "0"],
}


def quicker(arguments):
    """The same command, over within a second; the last of two equal flags counts."""
    more = QUICKER[arguments[0]]
    if arguments[0] == "compare":
        more = [*more, "--rounds", "1"]
    if "--rates" in arguments:
        return [*arguments, "--rates", "20,40", "-z", "500ms", "--warmup", "0s"]
    if "--stages" in arguments:
        return [*arguments, "--stages", "100ms:5,100ms:0", "--drain", "1s"]
    left_out = {"--once", "--requests", "--list"} & set(arguments)
    return arguments if left_out else [*arguments, *more]


def parsed(arguments):
    """What click makes of a command line, without running it; a UsageError if it is none."""
    context = torr.make_context("torr", list(arguments))
    command, rest = torr, list(arguments)
    while isinstance(command, click.Group):
        name, command, rest = command.resolve_command(context, rest)
    return command.make_context(name, rest)


def test_every_command_of_a_page_is_understood(place, aim, monkeypatch):
    monkeypatch.chdir(place)
    found = {command: complaint_of(aim(command)) for command in commands("torr")}
    assert found
    assert {command: complaint for command, complaint in found.items() if complaint} == {}


def test_every_command_of_the_tutorial_is_understood(place, monkeypatch):
    shutil.copytree(ROOT / "examples/tutorial", place, dirs_exist_ok=True)
    monkeypatch.chdir(place)
    found = {}
    for command in commands("torr", [TUTORIAL]):
        words = shlex.split(command.partition(" || ")[0].replace("$!", "1"))
        found[command] = complaint_of(words[1:])
    assert found
    assert {command: complaint for command, complaint in found.items() if complaint} == {}


def test_the_arguments_of_the_action_are_understood():
    page = (ROOT / "docs/ci.md").read_text(encoding="utf-8")
    found = re.findall(r"^ +arguments: (.+)$", page, re.MULTILINE)
    assert found
    assert [complaint_of(shlex.split(arguments)) for arguments in found] == [None] * len(found)


def complaint_of(arguments):
    """What click has against a command line, if anything."""
    try:
        return None if parsed(arguments).params else "no parameters"
    except click.ClickException as error:
        return error.format_message()


def each_command():
    """Those of the README that start no servers and no Locust; others are of the tier `full`.

    `torr cluster` needs other machines; `test_cluster_machines.py` has programs in their place.
    HTTP/2 over TLS needs a server that chooses it, as in `test_http2.py`. What is continued has to
    be interrupted first, as in `test_tune.py`. Summaries of studies have the commands that wrote
    them, which run in the folders of these studies.
    """
    for command, page in commands("torr").items():
        if page.name == "summary.md":
            continue
        if command.split()[1] == "cluster" or "--http 2 " in command or "--resume" in command:
            continue
        is_quick = page.name == "README.md" and command.split()[1] not in {"compare", "locust"}
        yield command if is_quick else pytest.param(command, marks=pytest.mark.full)


@pytest.mark.parametrize("command", list(each_command()))
def test_a_command_of_a_page_runs(command, place, aim, torr_in, monkeypatch):
    arguments = quicker(aim(command))
    # Servers under comparison are found by their names.
    monkeypatch.setenv("PATH", f"{TORR.parent}:{os.environ['PATH']}")
    ended = torr_in(place, *arguments)
    # How the load went is the machine's; that it went is the page's.
    fine = {ExitCode.FINE, ExitCode.MISSED}
    if "--strict" in arguments:
        fine.add(ExitCode.GENERATOR_LIMITED)
    if "no request succeeded" in ended.err:
        fine.add(ExitCode.NOTHING_MEASURED)  # the target here gives other answers
    assert ended.code in fine, ended.err


def test_a_command_that_does_not_exist_is_noticed(url):
    with pytest.raises(click.UsageError):
        parsed(["run", "--no-such-flag", url])


def test_a_make_command_of_a_page_has_a_target():
    targets = re.findall(r"^([a-z-]+):.* ## ", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert {command.split()[1] for command in commands("make")} <= set(targets)
