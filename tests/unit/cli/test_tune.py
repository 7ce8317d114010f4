"""`torr tune`: what it prints, and what it refuses."""

import pytest

from torr.cli.main import main

FILE = """\
command = ["serve", "{port}", "{workers}"]
url = "http://127.0.0.1:{port}/"
[settings]
workers = [1, 2, 4, 8, 16]
[default]
workers = 1
"""


@pytest.fixture
def torr(capsys, tmp_path):
    path = tmp_path / "tune.toml"
    path.write_text(FILE)

    def run(*arguments):
        with pytest.raises(SystemExit) as end:
            main(["tune", *(str(path) if text == "FILE" else text for text in arguments)])
        return end.value.code, capsys.readouterr()

    return run


def test_the_plan_is_printed_and_nothing_is_started(torr):
    code, printed = torr("--plan", "--budget", "100", "FILE")
    assert code == 0
    assert printed.out.startswith("5 settings of 1 parameter; the default is workers 1\n")
    assert "60 trials" in printed.out


def test_the_plan_in_chinese_has_no_english(torr):
    code, printed = torr("--plan", "--lang", "zh", "FILE")
    assert code == 0
    assert not {"settings", "rounds", "trials", "default"} & set(printed.out.split())


def test_a_simulation_is_a_table_with_a_row_for_each_procedure(torr):
    code, printed = torr("--simulate", "--worlds", "1")
    assert code == 0
    assert [line.split("  ")[0] for line in printed.out.splitlines()] == [
        "procedure",
        "one trial each, pick the best",
        "three trials each, pick the best",
        "racing by t-tests",
        "torr tune: halving, then fresh rounds",
    ]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ([], "there is no tune file"),
        (["--simulate", "FILE"], "--simulate takes no file"),
        (["--plan", "--worlds", "3", "FILE"], "--worlds needs --simulate"),
        (["--plan", "--budget", "0", "FILE"], "a budget of nothing"),
        (["--plan", "--budget", "many", "FILE"], "many"),
        (["--plan", "--budget", "1M", "FILE"], "at most 100,000 trials"),
    ],
)
def test_what_cannot_be_planned_is_refused(torr, arguments, problem):
    code, printed = torr(*arguments)
    assert code == 2
    assert problem in printed.err
