"""Lines of a terminal in Chinese: progress, plans, lists, notes and errors have no English left."""

import ast
import errno
import io
import os
import re

import pytest
from rich.console import Console

from doubles import Truth, measured_interval, measured_level
from spoken import TORR, calls_in
from torr import engine
from torr.cli.display import errors
from torr.cli.progress import CLEAR, Progress
from torr.cli.screen import Screen
from torr.errors import FileError, TorrError
from torr.experiments.context import Step
from torr.model.pace import Closed
from torr.model.plan import Duration, Group, Plan
from torr.model.request import Request
from torr.model.source import Source
from torr.results.level import ErrorSample
from torr.results.result import encoded
from torr.store.runs.store import open_store
from torr.units import SECOND_NS
from typed import level, result

# Units, names of the field, flags, commands, paths and quoted values are the same everywhere.
NAMES = re.compile(
    r"target faulty|`[^`]*`|'[^']*'|torr( \w+)*( --?[\w-]+)*|--?[\w-]+|https?:\S*|\S*/\S*|\w+\.\w+"
    r"|\w*_\w+|ok/s|p\d+|SLO|URL|USL|TLS|CPU|Ctrl-C|PID|JSON|TORR_\w+|min|ms|s\b"
)
MATRIX = """\
baseline = "one"
url = "http://127.0.0.1:{port}/"
warmup_requests = 5
"""
CANDIDATE = '[[candidates]]\nname = "%s"\ncommand = ["no-such-server", "{port}"]\n'
HERE = "http://127.0.0.1:1/"


def english(text):
    """Return the Latin words in a row of a text, without names and messages of the system."""
    without = NAMES.sub("·", text.replace(os.strerror(errno.ENOENT), "·"))
    return re.findall(r"[A-Za-z]+(?: [A-Za-z]+)+", without)


@pytest.fixture(autouse=True)
def chinese(monkeypatch, tmp_path):
    monkeypatch.setenv("TORR_LANG", "zh")
    monkeypatch.setenv("TORR_STORE", f"sqlite:///{tmp_path}/runs.db")
    monkeypatch.chdir(tmp_path)


def test_english_that_is_left_is_found():
    assert english("提示：give one URL") == ["give one"]
    assert english("提示：torr run --once，ok/s > 5 ms") == []


@pytest.mark.parametrize(
    "arguments",
    [
        *(["ladr"], ["run"], ["run", "--nons"], ["run", "-z"], ["run", "-z", "5", HERE]),
        *(["run", "ftp://x"], ["run", "-v", HERE], ["run", "--live-stay", "1s", HERE]),
        *(["run", "-c", "0", HERE], ["run", "--chat", "openai", HERE]),
        *(["run", "--proxy", "x", HERE], ["run", "--once", "-z", "1s", HERE]),
        *(["run", "--slo", "p95 < 5", HERE], ["run", "--stages", "5", HERE]),
        *(["run", HERE, "-b", "x", "--json-body", "{}"], ["run", HERE, "--expect-json", "x"]),
        *(["ladder", "--levels", "5,2", HERE], ["ladder", "--rate", "5", HERE]),
        *(["diff"], ["diff", "no.dat", "none.dat"], ["compare", "no.toml"], ["compare", HERE]),
        *(["runs", "show", "7"], ["runs", "rm", "7"], ["runs", "ledger", "none"], ["runs", "lst"]),
        *(["target", "faulty", "--fault", "x"], ["run", "--requests-file", "no.http"]),
    ],
    ids=" ".join,
)
def test_errors_are_said_in_chinese(torr, arguments):
    with open_store(create=True):
        pass
    ended = torr(*arguments)
    assert ended.code == 2
    assert english(ended.err) == []


def test_a_plan_of_a_comparison_is_said_in_chinese(torr, tmp_path):
    names = ("one", *(f"n{number}" for number in range(30)))
    (tmp_path / "matrix.toml").write_text(MATRIX + "".join(CANDIDATE % name for name in names))
    ended = torr("compare", "--plan", "--until", "settled", "matrix.toml")
    assert ended.code == 0, ended.err
    written = english(re.sub(r"\b(one|n\d+)\b", "·", ended.out))
    assert written == []


def test_the_names_of_the_columns_of_runs_are_chinese(torr, make_stored):
    make_stored()
    heading, row = torr("runs", "list").out.splitlines()
    assert english(heading) == []
    assert "阶梯" in row


@pytest.fixture
def make_stored():
    """Store a ladder."""

    def make():
        with open_store(create=True) as store:
            store.add(encoded(result(kind="ladder", levels=[level()])), None)

    return make


def step(index=0, total=3, **more):
    group = Group(pace=Closed(200), source=Source.of(Request(HERE)))
    plan = Plan(groups=(group,), stop=Duration(10 * SECOND_NS), warmup_ns=2 * SECOND_NS)
    return Step(index, plan, 1, total, **more)


@pytest.mark.parametrize(
    ("total", "candidate"), [(1, None), (3, None), (None, None), (3, "·"), (1, "·")]
)
def test_progress_is_said_in_chinese(total, candidate):
    line, rows = io.StringIO(), io.StringIO()
    progress = Progress(line, rows, language="zh")
    at = step(total=total, candidate=candidate)
    progress.level_started(at)
    progress.interval_came(at, measured_interval(Truth(errors={"timeout": 3}), 0))
    found = measured_level(50, Truth(), candidate=candidate, round=1, factors={})
    progress.level_ended(at, found)
    assert english(line.getvalue().replace(CLEAR, "")) == []
    assert english(rows.getvalue()) == []


def test_the_columns_of_progress_are_as_wide_as_their_numbers():
    rows = io.StringIO()
    Progress(None, rows, language="zh").level_ended(step(), measured_level(50, Truth()))
    assert rows.getvalue().splitlines()[0].startswith("用户数       ok/s       平均")


def test_the_detail_of_a_sample_is_said_in_chinese(make_level):
    detail = engine.reasons()["timeout.first_byte"] + " (127.0.0.1:1)"
    sample = ErrorSample(error_class="timeout", reason="timeout.first_byte", detail=detail)
    found = make_level(5, 1.0, 1.0, errors=1)
    found.reasons, found.samples = {"timeout.first_byte": 1}, [sample]
    out = io.StringIO()
    screen = Screen(Console(file=out, width=200, highlight=False, soft_wrap=True), "zh")
    errors.show("·", found, screen)
    assert "(127.0.0.1:1)" in out.getvalue()
    assert english(out.getvalue().replace("timeout.first_byte", "·")) == []


# These are of Python and of pytest, whose messages are English.
ENGLISH = {"api", "plugin", "micro", "messages", "budget.py"}
KINDS = {kind.__name__ for kind in (TorrError, *TorrError.__subclasses__(), FileError)}


def test_no_error_has_a_sentence_outside_of_the_catalogue():
    outside = [
        f"{path.relative_to(TORR)}:{call.lineno} {ast.unparse(argument)}"
        for path in sorted(TORR.rglob("*.py"))
        if ENGLISH.isdisjoint(path.relative_to(TORR).parts)
        for call in calls_in(path, *KINDS, "require")
        for argument in call.args
        if is_sentence(argument)
    ]
    assert outside == []


def is_sentence(node):
    """Return whether a text is written where it is used, and is more than a command."""
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    text = "".join(str(part.value) if isinstance(part, ast.Constant) else "·" for part in parts)
    return bool(re.search(r"[a-z]{2,} [a-z]+", text)) and not re.match(r"torr |pip |--?\w", text)
