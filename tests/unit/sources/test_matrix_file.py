"""Matrix files: what they say, and how what is wrong is named at its line."""

from __future__ import annotations

import signal

import pytest

from torr.errors import FileError, UsageError
from torr.sources.matrix_file import read_matrix_file

WHOLE = """\
baseline = "one"
rounds = 12
pause = "200ms"
primary = "p99"
discard_if = "failures > 100"
warmup_requests = 1000
duration = "5s"
url = "http://127.0.0.1:{port}/"
env = { LOG = "off", MODE = "x" }
[request]
method = "POST"
json = { n = 1 }
headers = { x-user = "ann" }
[factors]
processes = [1, 4]
connections = [100, 500]
[[candidates]]
name = "one"
command = ["serve", "--port", "{port}", "--workers", "{processes}"]
stop_signal = "INT"
grace = "3s"
expect = { status = 204, body = "", content_type = "text/plain" }
[[candidates]]
name = "two"
command = ["other", "{port}"]
url = "http://127.0.0.1:{port}/two"
env = { LOG = "on", N = 3 }
cwd = "apps"
health = "/healthz"
health_timeout = "90s"
timeout = "1s"
"""


@pytest.fixture
def read(tmp_path):
    def reading(text):
        path = tmp_path / "matrix.toml"
        path.write_text(text)
        return read_matrix_file(path)

    return reading


def test_a_whole_matrix(read, tmp_path):
    matrix = read(WHOLE)
    one, two = matrix.candidates
    assert (matrix.baseline, matrix.rounds, matrix.pause_ns) == ("one", 12, 200_000_000)
    assert (matrix.primary.key, matrix.warmup_requests) == ("response_ms.p99", 1000)
    assert str(matrix.discard_if) == "failures > 100"
    assert (one.command.stop_signal, one.command.grace_s) == (signal.SIGINT, 3.0)
    assert (one.expected.status, one.expected.body) == (204, b"")
    assert one.command.env == (("LOG", "off"), ("MODE", "x"))
    assert one.command.url == "http://127.0.0.1:{port}/"
    assert dict(two.command.env) == {"LOG": "on", "MODE": "x", "N": "3"}
    assert two.command.cwd == tmp_path / "apps"
    assert (two.command.health, two.command.health_timeout_s) == ("/healthz", 90.0)
    asked = {"method": "POST", "json_body": '{"n": 1}', "header": ["x-user: ann"]}
    assert one.flags == {"duration": "5s", **asked}
    assert two.flags == {"duration": "5s", "timeout": "1s", **asked}


def test_a_matrix_may_say_note_and_tags_and_stay_out_of_the_store(read):
    said = 'note = "six workers"\ntag = ["nightly", "main"]\nno_store = true\n'
    matrix = read(said + WHOLE)
    assert (matrix.note, matrix.tags) == ("six workers", ("nightly", "main"))
    assert not matrix.is_stored
    assert "note" not in matrix.candidates[0].flags
    assert read('tag = "one"\n' + WHOLE).tags == ("one",)
    assert read(WHOLE).is_stored
    for wrong in ("tag = 5\n", 'tag = ["two words"]\n', "no_store = 1\n"):
        with pytest.raises(FileError, match=r"matrix\.toml:1: "):
            read(wrong + WHOLE)


def test_cells_are_every_setting_and_the_last_factor_changes_fastest(read):
    assert read(WHOLE).cells() == [
        {"processes": 1, "connections": 100},
        {"processes": 1, "connections": 500},
        {"processes": 4, "connections": 100},
        {"processes": 4, "connections": 500},
    ]


def test_servers_are_restarted_for_each_trial_unless_said_otherwise(read):
    assert read(WHOLE).restart == "trial"
    assert read(f'restart = "cell"\n{WHOLE}').restart == "cell"


def test_what_is_watched_is_said_as_a_flag_says_it_or_as_a_table(read):
    assert read(WHOLE).monitor.at == ()
    assert read(f'monitor = "http://127.0.0.1:9090"\n{WHOLE}').monitor.at == (
        "http://127.0.0.1:9090",
    )
    table = WHOLE.replace("[request]", '[monitor]\nat = [7]\nnames = ["up"]\n[request]')
    assert (read(table).monitor.at, read(table).monitor.names) == (("7",), ("up",))


def test_without_factors_there_is_one_cell(read):
    text = WHOLE.replace("[factors]\nprocesses = [1, 4]\nconnections = [100, 500]\n", "")
    assert read(text.replace("{processes}", "1")).cells() == [{}]


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ('name = "two"', 'name = "one"', 24, "two candidates are called 'one'"),
        ('baseline = "one"', 'baseline = "three"', 1, "baseline 'three' is not a candidate"),
        ('baseline = "one"\n', "", 1, "there is no baseline"),
        ('name = "two"', 'name = "../two"', 24, "'../two' cannot name files"),
        ("rounds = 12", "rounds = 0", 2, "a whole number from 1"),
        ("rounds = 12", "rounds = true", 2, "rounds is not a whole number"),
        ('"200ms"', '"200"', 3, "has no unit"),
        ('primary = "p99"', 'primary = "speed"', 4, "'speed' is not a metric of a comparison"),
        (
            '"200ms"',
            '"200ms"\nrestart = "never"',
            4,
            "'never' is not a moment at which torr restarts servers",
        ),
        ('"200ms"', '"200ms"\nmonitor = [1.5]', 4, "at is neither a text nor a process id"),
        ('"failures > 100"', '"failures"', 5, "is not a condition"),
        ("processes = [1, 4]", "processes = 4", 15, "processes is not a list"),
        ("processes = [1, 4]", "processes = [4, 4]", 15, "processes has 4 twice"),
        ("processes = [1, 4]", "processes = [[1]]", 15, "is neither a text nor a number"),
        ('stop_signal = "INT"', 'stop_signal = "KILL"', 20, "no chance to stop"),
        ('stop_signal = "INT"', 'stop_signal = "BYE"', 20, "'BYE' is not a signal"),
        ("status = 204", "state = 204", 22, "there is no 'state' here"),
        ("status = 204", "status = 999", 22, "from 1 to 599"),
        ('command = ["other", "{port}"]', "command = []", 25, "command is not a list"),
        ('command = ["other", "{port}"]\n', "", 23, "command is missing"),
        ('health = "/healthz"', 'health = "healthz"', 25, "does not begin with /"),
        ("json = { n = 1 }", "jsn = { n = 1 }", 12, "did you mean json?"),
        ('headers = { x-user = "ann" }', 'headers = ["x-user"]', 13, "headers is not a table"),
        ("N = 3", "N = [3]", 27, "env: N is neither a text nor a number"),
        ('cwd = "apps"', "cwd = 3", 28, "cwd is not a text"),
    ],
)
def test_what_is_wrong_has_its_line(read, old, new, line, words):
    assert old in WHOLE
    with pytest.raises(FileError) as caught:
        read(WHOLE.replace(old, new, 1))
    assert words in str(caught.value)
    assert caught.value.line == line


@pytest.mark.parametrize("text", ["", 'baseline = "one"\n', "candidates = 3\n"])
def test_a_matrix_without_candidates(read, text):
    with pytest.raises(FileError, match="candidate"):
        read(text)


def test_no_toml(read):
    with pytest.raises(FileError, match="not TOML"):
        read("baseline = \n")


def test_no_file(tmp_path):
    with pytest.raises(UsageError, match="nowhere"):
        read_matrix_file(tmp_path / "nowhere.toml")
