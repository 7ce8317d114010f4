"""Keywords are the flags: the same names, the same values, the same words where they are wrong."""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import pytest

import torr
from torr.api.keywords import keywords
from torr.cli.main import main
from torr.errors import UsageError
from torr.model.transport import Transport
from torr.options.definition import OptionScope
from torr.options.verbs import LADDER, RUN

URL = "http://127.0.0.1:9/x"

# What a keyword may be, and the text after its flag that says the same.
SAME = {
    "seconds": ({"duration": 1.5}, ["--duration", "1.5s"]),
    "whole seconds": ({"duration": 90}, ["--duration", "90s"]),
    "no time": ({"warmup": 0}, ["--warmup", "0s"]),
    "text of a time": ({"timeout": "250ms"}, ["--timeout", "250ms"]),
    "thinking": ({"think": 2}, ["--think", "2s"]),
    "count": ({"connections": 7, "requests": 9}, ["--connections", "7", "--requests", "9"]),
    "rate": ({"rate": 5000.0}, ["--rate", "5k"]),
    "choice": ({"rate": 5, "arrivals": "poisson"}, ["--rate", "5", "--arrivals", "poisson"]),
    "headers by name": ({"headers": {"x-a": "1"}}, ["--header", "x-a: 1"]),
    "headers in pairs": (
        {"headers": [("x-a", "1"), "x-a: 2"]},
        ["--header", "x-a: 1", "--header", "x-a: 2"],
    ),
    "one header": ({"headers": "x-a: 1"}, ["--header", "x-a: 1"]),
    "body": ({"body": "hi"}, ["--body", "hi"]),
    "bytes": ({"body": b"hi"}, ["--body", "hi"]),
    "checks": (
        {"expect_body": ["a", "/b/"], "expect_json": "$.n=1", "capture": "id=json:$.id"},
        [
            *("--expect-body", "a", "--expect-body", "/b/", "--expect-json", "$.n=1"),
            *("--capture", "id=json:$.id"),
        ],
    ),
    "stages": ({"stages": "1s:5,1s:0"}, ["--stages", "1s:5,1s:0"]),
    "JSON": ({"json_body": {"n": [1]}}, ["--json-body", '{"n": [1]}']),
    "JSON as text": ({"json_body": "[1]"}, ["--json-body", "[1]"]),
    "credentials": ({"basic_auth": ("ann", "hush")}, ["--basic-auth", "ann:hush"]),
    "status": ({"expect_status": 404}, ["--expect-status", "404"]),
    "statuses": ({"expect_status": ["2xx", 404]}, ["--expect-status", "2xx,404"]),
    "switch": ({"keepalive": False}, ["--no-keepalive"]),
    "switch that is on": ({"keepalive": True, "insecure": False}, []),
    "file": ({"cacert": Path("/dev/null")}, ["--cacert", "/dev/null"]),
    "addresses": (
        {"source_address": ["127.0.0.2", "127.0.0.3"]},
        ["--source-address", "127.0.0.2", "--source-address", "127.0.0.3"],
    ),
    "preset of SLOs": (
        {"stream": "openai", "slo": ["mlperf:mixtral:server", "p95 < 1s"]},
        ["--stream", "openai", "--slo", "mlperf:mixtral:server", "--slo", "p95 < 1s"],
    ),
    "nothing": ({"rate": None, "slo": None}, []),
}

BAD = {
    "no connections": ({"connections": 0}, ["--connections", "0"]),
    "half a connection": ({"connections": 1.5}, ["--connections", "1.5"]),
    "a switch for a number": ({"connections": True}, ["--connections", "True"]),
    "negative time": ({"duration": -5}, ["--duration", "-5s"]),
    "endless time": ({"duration": float("inf")}, ["--duration", "infs"]),
    "no unit": ({"duration": "10"}, ["--duration", "10"]),
    "no SLO": ({"slo": ["p95 < 1s", "fast"]}, ["--slo", "fast"]),
    "two stops": ({"duration": "1s", "requests": 5}, ["--duration", "1s", "--requests", "5"]),
    "arrivals alone": ({"arrivals": "poisson"}, ["--arrivals", "poisson"]),
    "unknown choice": ({"rate": 5, "arrivals": "x"}, ["--rate", "5", "--arrivals", "x"]),
    "header": ({"headers": ["x-a"]}, ["--header", "x-a"]),
    "JSON": ({"json_body": "{"}, ["--json-body", "{"]),
    "name": ({"name": "a/b"}, ["--name", "a/b"]),
    "log": ({"log": "none/x.csv"}, ["--log", "none/x.csv"]),
    "misspelt": ({"conections": 5}, ["--conections", "5"]),
    "unknown": ({"no_such_flag": 5}, ["--no-such-flag", "5"]),
}

# What only Python can get wrong.
WRONG = {
    "no switch": (
        {"keepalive": "no"},
        "keepalive='no' is neither True nor False\nhint: write True or False",
    ),
    "no text": ({"name": object}, "not a value for it\nhint: see --name"),
    "no content": ({"body": {"n": 1}}, "body: dict is neither text nor bytes"),
    "not JSON": ({"json_body": {1}}, "json_body: not JSON: Object of type set"),
    "terminal": ({"strict": True}, "strict is an option of the command line only"),
}


# What speaks to a terminal or chooses an exit code.
LEFT_OUT = {"--once", "--verbose", "--output", "--quiet", "--lang", "--strict", "--junit"}
LEFT_OUT |= {"--live", "--live-port", "--live-host", "--live-stay"}


def plan(engine):
    return json.loads(engine.loads.pop().plan.to_text())


@pytest.mark.parametrize("name", SAME)
def test_a_call_plans_what_the_command_plans(name, fake, monkeypatch):
    given, arguments = SAME[name]
    torr.run(URL, **given)
    called = plan(fake)
    monkeypatch.setattr("sys.argv", ["torr"])
    with pytest.raises(SystemExit):
        main(["run", "-q", *arguments, URL])
    assert called == plan(fake)


def test_bytes_that_are_no_text_are_sent_as_they_are(fake):
    torr.run(URL, body=b"\xff\x00")
    request = plan(fake)["groups"][0]["source"]["request"]
    assert request["body"] == "/wA="
    assert request["method"] == "POST"


def test_levels_are_a_list_or_text(fake):
    torr.ladder(URL, levels=[1, 2])
    torr.ladder(URL, levels="1,4", rounds=2)
    assert fake.concurrencies == [1, 2, 1, 4, 1, 4]


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_with_the_words_of_the_command(name, fake, capsys, place):
    given, arguments = BAD[name]
    with pytest.raises(SystemExit):
        main(["run", *arguments, URL])
    said = capsys.readouterr().err
    with pytest.raises(UsageError) as refused:
        torr.run(URL, **given)
    assert f"torr: {refused.value}\n" == said
    assert fake.loads == []
    assert list(place.rglob("result.json")) == []


@pytest.mark.parametrize("name", WRONG)
def test_what_no_shell_could_say_is_refused_by_its_keyword(name, fake):
    given, says = WRONG[name]
    with pytest.raises(UsageError) as refused:
        torr.run(URL, **given)
    assert says in str(refused.value)
    assert fake.loads == []


def test_a_url_is_read_as_the_command_reads_it():
    with pytest.raises(UsageError, match=r"URL: 'localhost:80' has no scheme\nhint: write http"):
        torr.run("localhost:80")
    with pytest.raises(UsageError, match="'--help' has no scheme"):
        torr.run("--help")


def test_what_a_file_says_that_is_not_sent_is_a_warning(fake, place, capsys):
    requests = "".join(f'[[requests]]\nname = "{n}"\nurl = "{URL}"\n' for n in "ab")
    groups = '[[groups]]\nrequests = ["a"]\nusers = 1\n'
    (place / "plan.toml").write_text(requests + groups)
    with pytest.warns(RuntimeWarning, match="'b' is in no group, not sent") as warned:
        torr.run("plan.toml")
    assert [warning.filename for warning in warned] == [__file__]
    assert capsys.readouterr() == ("", "")
    assert len(fake.loads) == 1


@pytest.mark.parametrize("verb", [RUN, LADDER], ids=["run", "ladder"])
def test_every_flag_is_a_keyword_or_left_out_on_purpose(verb):
    call = {"run": torr.run, "ladder": torr.ladder}[verb.verb]
    known = keywords(verb)
    left_out = {option.long for option in verb.all if OptionScope.KEYWORD not in option.scopes}
    assert left_out <= LEFT_OUT
    assert {option.long for option in verb.all} == {k.long for k in known.values()} | left_out
    assert list(inspect.signature(call).parameters) == ["url", "progress", *known]


def test_one_request_takes_no_flags_of_a_load():
    with pytest.raises(UsageError, match="No such option '--rate'"):
        torr.once(URL, rate=5)


def test_a_keyword_of_several_values_is_named_in_the_plural():
    with pytest.raises(UsageError, match="run: proto is called protos, and takes several values"):
        torr.once(URL, proto=["shop.proto"])


def test_the_documentation_of_a_call_names_every_keyword():
    assert "connections: open N connections, one per user [50; rate: 100]" in torr.run.__doc__
    assert "keepalive: if False, open a new connection for each request" in torr.once.__doc__
    signature = inspect.signature(torr.run)
    assert signature.parameters["timeout"].default == "30s"
    assert signature.parameters["keepalive"].default is True
    assert signature.parameters["connections"].default is None
    assert signature.parameters["dir"].default == "_output/torr"


def test_the_default_transport_is_that_of_the_command(fake):
    torr.run(URL)
    assert plan(fake)["transport"] == Transport().as_json()
