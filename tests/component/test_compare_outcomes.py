"""What a comparison says of candidates that break an SLO, litter, die or are given up."""

from __future__ import annotations

import json
import signal
import sys

import pytest

from candidates import GOOD, QUICK, SERVER, lasting, torr_target
from installed import wait_until
from written import files_with

OF_FILE = "rounds is a key of the file, not of a candidate"
SLOW = torr_target('"delay", "--delay", "30ms"')
OF_MODES = QUICK + 'env = { MODE = "{mode}" }\n[factors]\nmode = ["x", "y"]\n'


@pytest.fixture
def elsewhere(tmp_path_factory):
    """A folder that is none of a server's own."""
    return tmp_path_factory.mktemp("elsewhere")


@pytest.mark.full
def test_each_candidate_has_its_own_slo(torr, matrix):
    top = f'slo = ["p50 < 20ms"]\n{lasting("3s")}'
    ended = torr("compare", matrix({"one": GOOD, "slow": SLOW}, top), "--junit", "slo.xml")
    assert ended.code == 1
    assert "SLO broken: slow at 2 connections: p50 < 20ms" in ended.err
    words = {x["candidate"]: x["word"] for x in ended.result["verdicts"] if x.get("condition")}
    assert words == {"one": "held", "slow": "broken"}
    suite = (ended.folder / "slo.xml").read_text()
    assert 'classname="SLO slow"' in suite
    assert 'failures="1"' in suite


def test_who_was_never_measured_passes_no_slo_and_is_an_error_for_a_build_server(torr, matrix):
    candidates = {"one": GOOD, "two": '["no-such-server"]'}
    ended = torr("compare", matrix(candidates), "--junit", "none.xml")
    assert ended.code == 0, ended.err
    suite = (ended.folder / "none.xml").read_text()
    assert 'errors="1"' in suite
    assert "was not found" in suite
    asked = f'slo = ["p50 < 9s"]\n{QUICK}'
    ended = torr("compare", matrix(candidates, asked))
    assert ended.code == 1
    assert "SLO not shown: two was not measured: two: the command" in ended.err


@pytest.mark.full
def test_a_file_that_is_left_is_told_even_of_the_round_that_is_not_counted(torr, matrix, server):
    messy = server("messy", setup="open('default.log', 'a').write('x')")
    ended = torr("compare", matrix({"one": GOOD, "messy": messy}), "--rounds", "2")
    assert ended.code == 0, ended.err
    (failure,) = ended.result["failures"]
    assert (failure["candidate"], failure["kind"], failure["round"]) == ("messy", "left_behind", 0)
    assert "default.log" in failure["text"]["text"]
    assert len(ended.result["levels"]) == 4
    told = [
        rule["text"]
        for rule in ended.result["experiment"]["rules"]
        if rule["code"] == "rules.left_behind"
    ]
    assert told == [
        "The load stopped before the server; messy left processes, listeners or files behind."
    ]


@pytest.mark.full
def test_what_died_in_its_window_is_measured_and_told(torr, matrix, server):
    dead = server("dead", limit=12)
    top = lasting("1s")
    ended = torr("compare", matrix({"one": GOOD, "dead": dead}, top), "--rounds", "3")
    result = ended.result
    failures = [x for x in result["failures"] if x["candidate"] == "dead"]
    assert [(x["kind"], x["measured"]) for x in failures] == [("died", True)] * 3
    assert len([x for x in result["levels"] if x["candidate"] == "dead"]) == 3
    assert "given_up" not in result["experiment"]


def test_who_is_given_up_is_named_and_no_more_rounds_are_wanted(torr, matrix, server, elsewhere):
    starts = elsewhere / "starts"
    count = f"f = open({str(starts)!r}, 'a+'); f.write('x'); f.seek(0)"
    weak = server("weak", setup=f"{count}; len(f.read()) > 2 and sys.exit(5)")
    ended = torr("compare", matrix({"one": GOOD, "weak": weak}), "--rounds", "5")
    result = ended.result
    assert result["experiment"]["given_up"] == [{"candidate": "weak", "factors": {}, "failures": 2}]
    assert [x["round"] for x in result["failures"]] == [2, 3]
    verdict = next(x for x in result["verdicts"] if x["metric"] == "ok_per_s")
    assert verdict["reason"]["text"] == "weak was given up after 2 failures in a row"
    assert verdict["more_rounds"] is None


@pytest.mark.full
def test_strict_fails_where_a_candidate_never_started(torr, matrix):
    ended = torr("compare", "--strict", matrix({"one": GOOD, "two": '["no-such-server"]'}))
    assert ended.code == 3
    assert "--strict: 1 failure, first: two: the command 'no-such-server'" in ended.err


def test_secrets_of_a_server_that_fails_are_in_no_file(torr, matrix, tmp_path):
    code = "import os, sys; print('token=hush1', os.environ['API_KEY']); sys.exit(7)"
    words = [sys.executable, "-c", code, "--password=hush2", "--api-key", "hush4"]
    top = QUICK + 'env = { API_KEY = "hush3" }\n'
    ended = torr("compare", matrix({"one": GOOD, "two": json.dumps(words)}, top))
    assert ended.result["failures"][0]["log_tail"] == ["token=*** ***"]
    run = (tmp_path / "_output/torr/latest").resolve()
    expected = {"result.json", "summary.md", "report.html", "one.log", "two.log"}
    assert expected <= {path.name for path in run.rglob("*")}
    for secret in ("hush1", "hush2", "hush3", "hush4"):
        assert files_with(run, secret) == []
    assert "hush" not in ended.out + ended.err


@pytest.mark.full
def test_answers_are_compared_in_each_cell(torr, matrix, tmp_path):
    setup = "BODY = b'y' if sys.argv[2] == 'x' else b'Hello world'"
    text = SERVER.replace("LIMIT", "10**9").replace("SETUP", setup)
    (tmp_path / "other.py").write_text(text)
    other = json.dumps([sys.executable, str(tmp_path / "other.py"), "{port}", "{mode}"])
    ended = torr("compare", matrix({"one": GOOD, "other": other}, OF_MODES))
    told = [each["text"] for each in ended.result["experiment"]["differences"]]
    assert any(x.startswith("At mode x: Bodies differ: 'Hello world' by one; 'y'") for x in told)
    assert "At mode y: All response with the same status and the same bytes." in told


@pytest.mark.full
def test_until_settled_judges_with_a_third_of_the_error(torr, matrix):
    top = lasting("100ms").replace("rounds = 1\n", "")
    ended = torr("compare", "--until", "settled", matrix({"one": GOOD, "slow": SLOW}, top))
    assert ended.code == 0, ended.err
    result = ended.result
    assert result["experiment"]["alpha"] == pytest.approx(0.05 / 3)
    assert {x["alpha"] for x in result["verdicts"]} == {result["experiment"]["alpha"]}


def test_ctrl_c_does_not_wait_for_a_server_that_does_not_come_up(start, matrix, tmp_path):
    code = f"import time; open({str(tmp_path / 'up')!r}, 'w'); time.sleep(600)"
    mute = json.dumps([sys.executable, "-c", code])
    top = f'{QUICK}health_timeout = "10m"\ngrace = "200ms"\n'
    process = start("compare", matrix({"one": mute, "two": GOOD}, top))
    wait_until((tmp_path / "up").exists)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("mode = [", "proceses = [", "the factor 'proceses' changes nothing"),
        ("mode = [", "port = [", "{port} is a name that torr sets for each trial"),
        ('{port}/"', '{port}/?n={{ uuid }}"', "its request is a template"),
        (
            "[factors]",
            '[[candidates]]\nname = "z"\nrounds = 3\ncommand = ["z"]\n[factors]',
            OF_FILE,
        ),
        (
            "[factors]",
            '[[candidates]]\nname = "z"\nslo = "p50 < 1ms"\ncommand = ["z"]\n[factors]',
            "slo is a key of the file, not of a candidate",
        ),
        (
            "mode = [",
            'slo = ["p50 < 1ms"]\nmode = [',
            "slo is a key of the whole file, not a factor",
        ),
    ],
)
def test_what_can_never_be_compared_is_refused_before_anything_starts(
    torr, matrix, old, new, words
):
    ended = torr("compare", matrix({"one": GOOD, "two": GOOD}, OF_MODES.replace(old, new)))
    assert ended.code == 2
    assert words in ended.err
    assert "matrix.toml:" in ended.err
    assert not (ended.folder / "_output").exists()


TURNING = """\
starts = open(STARTS, "a+")
starts.write("x")
starts.flush()
# One that is not counted comes before the first round.
is_second = os.path.getsize(STARTS) == 3
def body(): return b"no" if is_second and Answer.count > 40 else b"Hello world"
"""


@pytest.mark.full
def test_trials_by_requests_leave_out_the_round_that_a_rule_names(
    torr, matrix, tmp_path, elsewhere
):
    setup = TURNING.replace("STARTS", repr(str(elsewhere / "starts")))
    text = SERVER.replace("LIMIT", "10**9").replace("BODY", "body()").replace("SETUP", setup)
    (tmp_path / "turning.py").write_text(text)
    two = json.dumps([sys.executable, str(tmp_path / "turning.py"), "{port}"])
    top = QUICK.replace("rounds = 1", "rounds = 3").replace("requests = 30", "requests = 50")
    more = 'warmup_requests = 20\npause = "10ms"\ndiscard_if = "failures > 0"\n'
    ended = torr(
        "compare", matrix({"one": GOOD, "two": two}, f'{top}{more}expect_body = "Hello"\n')
    )
    assert ended.code == 0, ended.err
    result = ended.result
    assert {level["counts"]["attempted"] for level in result["levels"]} == {50}
    failed = [(x["candidate"], x["round"]) for x in result["levels"] if x["counts"]["errors"]]
    assert failed == [("two", 2)]
    rate = next(x for x in result["verdicts"] if x["metric"] == "ok_per_s")
    assert (rate["discarded"]["rounds"], rate["n"]) == ([2], 2)
