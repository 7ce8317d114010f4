"""Tune files: what they say, and how what is wrong is named at its line."""

import json
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from torr.engine import read_toml
from torr.errors import FileError
from torr.sources.tune_file import read_tune_file

WHOLE = """\
name = "api"
command = ["serve", "--port", "{port}", "--workers", "{workers}", "--config", "{conf}"]
url = "http://127.0.0.1:{port}/"
env = { LOG = "off" }
slo = ["p95 < 500ms"]
connections = 32
budget = 240
noise = "2.5%"
primary = "p99"
before = [["./warm", "{gc}"]]
[settings]
workers = [1, 4]
gc = { values = ["on", "off"], env = "GC" }
pool = { values = [8, 16], when = { workers = 4 }, argument = ["--pool", "{pool}"] }
[default]
workers = 1
gc = "on"
[templates]
conf = "server.conf"
"""


@pytest.fixture
def read(tmp_path):
    (tmp_path / "server.conf").write_text("workers {workers}\n")

    def reading(text):
        path = tmp_path / "tune.toml"
        path.write_text(text)
        return read_tune_file(path)

    return reading


def test_a_whole_file(read, tmp_path):
    file = read(WHOLE)
    assert [parameter.name for parameter in file.parameters] == ["workers", "gc", "pool"]
    assert len(file.settings) == 2 + 4
    assert file.settings[file.default] == {"workers": 1, "gc": "on"}
    assert (file.budget.trials, file.noise) == (240, 2.5)
    assert file.preparation.before == (("./warm", "{gc}"),)
    (template,) = file.preparation.templates
    assert (template.name, template.text) == ("conf", "workers {workers}\n")
    assert template.path == tmp_path / "server.conf"
    assert (file.candidate.name, file.matrix.primary.label) == ("api", "p99")
    assert file.candidate.flags == {"slo": ["p95 < 500ms"], "connections": 32}


def test_a_setting_adds_its_arguments_and_variables(read):
    file = read(WHOLE)
    command = file.candidate_in({"workers": 4, "gc": "off", "pool": 8}).command
    assert command.argv[-2:] == ("--pool", "{pool}")
    assert dict(command.env) == {"LOG": "off", "GC": "{gc}"}
    assert "--pool" not in file.candidate_in({"workers": 1, "gc": "on"}).command.argv


IN_A_TEMPLATE = WHOLE.replace('argument = ["--pool", "{pool}"]', "otherwise = 1").replace(
    '"{workers}", "--config"', '"{workers}", "{pool}", "--config"'
)


def test_a_conditional_value_can_have_another_one_where_its_condition_fails(read):
    file = read(IN_A_TEMPLATE)
    assert file.preparation.otherwise == {"pool": 1}
    assert {"workers": 1, "gc": "on"} in file.settings
    assert len(file.settings) == len(read(WHOLE).settings)


@pytest.mark.parametrize("way", ['argument = ["--pool", "{pool}"]', 'env = "POOL"'])
def test_it_reaches_the_server_in_the_same_way(read, way):
    text = WHOLE.replace('argument = ["--pool", "{pool}"]', f"otherwise = 1, {way}")
    command = read(text).candidate_in({"workers": 1, "gc": "on"}).command
    assert (command.argv[-1] == "{pool}") == way.startswith("argument")
    assert (dict(command.env).get("POOL") == "{pool}") == way.startswith("env")


def test_a_time_is_a_budget_too(read):
    assert read(WHOLE.replace("budget = 240", 'budget = "2h"')).budget.time_ns == 7200 * 10**9
    assert read(WHOLE.replace("budget = 240\n", "")).budget is None


def test_a_file_without_a_name_is_about_a_server(read):
    assert read(WHOLE.replace('name = "api"\n', "")).candidate.name == "server"


@pytest.mark.parametrize(
    "case",
    [
        ("workers = [1, 4]", "workers = 4", 12, "workers has no list of values", "[1, 4]"),
        ("workers = [1, 4]", "workers = [1, 1]", 12, "workers has 1 twice", None),
        ("workers = [1, 4]", "workers = [1, [2]]", 12, "neither a text nor a number", None),
        ("workers = [1, 4]", "port = [1, 4]", 12, "{port} is a name that torr sets", "rename"),
        ("workers = [1, 4]", "'a b' = [1, 4]", 12, "'a b' cannot stand in braces", "letters"),
        ('env = "GC"', 'enw = "GC"', 13, "there is no 'enw' here", "did you mean env?"),
        ('env = "GC"', 'env = "A=B"', 13, "A=B cannot name a variable", None),
        ("when = { workers = 4 }", "when = { worker = 4 }", 14, "no 'worker' before", "workers?"),
        ("when = { workers = 4 }", "when = { workers = 5 }", 14, "workers is never 5", "1, 4"),
        ("when = { workers = 4 }", "when = { workers = [] }", 14, "no list of values", None),
        ("when = { workers = 4 }", "otherwise = 1", 14, "has otherwise, and no condition", "when"),
        (
            "when = { workers = 4 }",
            "when = { workers = 4 }, otherwise = [1]",
            14,
            "neither a text nor a number",
            None,
        ),
        ('gc = "on"', 'gc = "no"', 17, "gc = no is not in [settings]", "on, off"),
        ('gc = "on"', "", 15, "the default has no gc", "gc = on"),
        ('gc = "on"', 'gc = "on"\npool = 8', 18, "condition does not hold", "leave it out"),
        ('gc = "on"', 'gc = "on"\nbatch = 8', 18, "there is no 'batch' here", None),
        ("budget = 240", "budget = 0", 7, "a budget of nothing", "240"),
        ("budget = 240", 'budget = "2 days"', 7, "", None),
        ('noise = "2.5%"', "noise = 0", 8, "noise is not a percentage above 0", "4%"),
        ('conf = "server.conf"', 'conf = "none.conf"', 19, "none.conf: No such file", None),
        ('conf = "server.conf"', 'conf = "a\\u0000"', 19, "not the name of a file", None),
        ('before = [["./warm", "{gc}"]]', 'before = ["./warm"]', 10, "list of commands", None),
        ('primary = "p99"', 'primary = "errors"', 9, "cannot make errors best", "SLO"),
        ("budget = 240", "rounds = 10", 7, "a tuning has no rounds", "torr compare"),
        ("budget = 240", "factors = {}", 7, "a tuning has no factors", None),
        ('"{workers}", "--config"', '"{pool}", "--config"', 14, "{pool} has no value", "argument"),
    ],
)
def test_a_mistake_is_named_at_its_line(read, case):
    before, after, line, problem, hint = case
    assert before in WHOLE
    with pytest.raises(FileError) as error:
        read(WHOLE.replace(before, after))
    assert error.value.line == line
    assert problem in str(error.value.message)
    assert hint is None or hint in str(error.value.hint)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (WHOLE.replace("[default]", "[other]"), "there is no default"),
        (WHOLE.partition("[settings]")[0], "there are no settings"),
        (
            'command = ["a", "{x}"]\nurl = "http://h/"\n[settings]\nx = [1]\n[default]\nx = 1\n',
            "only one setting",
        ),
    ],
)
def test_a_file_needs_settings_and_a_default(read, text, problem):
    with pytest.raises(FileError, match=problem):
        read(text)


def test_too_many_settings_are_refused(read):
    values = ", ".join(map(str, range(400)))
    text = WHOLE.replace("workers = [1, 4]", f"workers = [1, 4]\nx = [{values}]\ny = [{values}]")
    with pytest.raises(FileError, match="too many"):
        read(text)


SCALARS = st.none() | st.booleans() | st.integers(-3, 300) | st.floats(-1, 2) | st.text(max_size=5)
VALUES = st.recursive(
    SCALARS.filter(lambda value: value is not None),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abv"), inner),
    max_leaves=4,
)
PLACES = [
    *((key,) for key in ("settings", "default", "budget", "noise", "templates", "before")),
    *((key,) for key in ("primary", "tag", "command", "env", "url", "pause", "name")),
    *(("settings", key) for key in ("workers", "gc", "pool")),
    *(("settings", "pool", key) for key in ("values", "when", "otherwise", "argument", "env")),
    ("settings", "pool", "when", "workers"),
    ("default", "gc"),
    ("templates", "conf"),
]


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(PLACES), VALUES)
def test_any_value_is_read_or_refused_at_a_line(read, place, value):
    values = read_toml(WHOLE)[0]
    table = values
    for key in place[:-1]:
        table = table[key]
    table[place[-1]] = value
    with suppress(FileError):
        read(written(values))


def written(values):
    """Return a table as TOML, with inline tables."""
    return "".join(f"{key} = {inline(value)}\n" for key, value in values.items())


def inline(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {inline(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(inline, value)) + "]"
    return json.dumps(value, ensure_ascii=False) if not isinstance(value, float) else repr(value)
