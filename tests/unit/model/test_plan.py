"""Plans: exactly the engine's JSON, checked once, without secrets on disk."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from torr.errors import UsageError
from torr.model.check import BodyCheck, Capture, JsonCheck
from torr.model.pace import Closed, Open, Replay, Think
from torr.model.plan import Count, Duration, Group, Plan
from torr.model.request import Request
from torr.model.source import Source
from torr.model.transport import Proxy, Transport
from torr.units import SECOND_NS

URL = "http://127.0.0.1:8080/healthz?x=1"


def plan_with(request: Request | None = None, pace: Closed | Open | None = None) -> Plan:
    group = Group(pace=pace or Closed(200), source=Source.of(request or Request(URL)))
    return Plan(groups=(group,), stop=Duration(10 * SECOND_NS))


def test_a_plan_is_written_as_the_engine_reads_it():
    plan = plan_with(Request(URL, headers=(("accept", "*/*"),), body=b"\x00\xff"))
    assert json.loads(plan.to_text()) == {
        "version": 1,
        "groups": [
            {
                "name": "default",
                "pace": {"kind": "closed", "users": 200},
                "source": {
                    "kind": "one",
                    "request": {
                        "name": "GET /healthz",
                        "method": "GET",
                        "url": "http://127.0.0.1:8080/healthz?x=1",
                        "headers": [["accept", "*/*"]],
                        "body": "AP8=",
                        "timeout_ns": 30_000_000_000,
                        "accept_statuses": [[200, 399]],
                    },
                },
                "think": None,
            }
        ],
        "transport": Transport().as_json(),
        "stop": {"kind": "duration", "duration_ns": 10_000_000_000},
        "warmup_ns": 2_000_000_000,
        "drain_ns": 30_000_000_000,
        "retry_delay_ns": 100_000_000,
        "interval_ns": 1_000_000_000,
        "workers": 1,
        "processes": 1,
        "seed": 1,
        "spin": False,
        "log": None,
        "texts": None,
    }


@pytest.mark.parametrize("arrivals", ["constant", "poisson"])
def test_an_open_pace_says_rate_connections_and_limit(arrivals):
    plan = plan_with(pace=Open(1000, arrivals, connections=7, max_in_flight=9))
    assert plan.as_json()["groups"][0]["pace"] == {
        "kind": arrivals,
        "rate_per_s": 1000.0,
        "connections": 7,
        "max_in_flight": 9,
    }
    assert plan.rate_per_s == 1000
    assert plan.connections == 7


def test_short_windows_have_short_intervals_and_counted_runs_have_seconds():
    short = replace(plan_with(), stop=Duration(10 * SECOND_NS - 1))
    counted = replace(plan_with(), stop=Count(5))
    assert short.interval_ns == SECOND_NS // 10
    assert plan_with().interval_ns == SECOND_NS
    assert counted.interval_ns == SECOND_NS
    assert counted.as_json()["stop"] == {"kind": "requests", "requests": 5}
    assert counted.seconds is None


def test_default_headers_give_way_to_the_users():
    request = Request(URL, headers=(("User-Agent", "mine"),)).with_default_headers("9.9")
    assert request.headers == (("accept", "*/*"), ("User-Agent", "mine"))


def test_a_user_in_the_url_becomes_a_header():
    request = Request("http://ann:p%40ss@127.0.0.1/")
    assert request.url == "http://127.0.0.1/"
    assert request.headers == (("authorization", "Basic YW5uOnBAc3M="),)


def test_secrets_do_not_reach_the_disk():
    request = Request(
        "http://ann:hush@127.0.0.1/?api_key=hush&page=2",
        headers=(("Cookie", "s=hush"), ("X-Csrf-Token", "hush"), ("accept", "*/*")),
        body=b'{"password": "hush", "n": 1}',
    )
    written = plan_with(request).as_stored()["groups"][0]["source"]["request"]
    assert "hush" not in json.dumps(plan_with(request).as_stored())
    assert written["url"] == "http://127.0.0.1/?api_key=***&page=2"
    assert ["accept", "*/*"] in written["headers"]
    assert plan_with(request).redacted().requests[0].body == b'{"password": "***", "n": 1}'


def test_a_binary_body_survives_redaction():
    body = bytes(range(256))
    assert plan_with(Request(URL, body=body)).redacted().requests[0].body == body


@pytest.mark.parametrize(
    ("body", "stored"),
    [
        ("password=Ålesund2026&n=é".encode(), "password=***&n=é".encode()),
        (b"password=\xc5lesund\xa02026&n=\xe9", b"password=***&n=\xe9"),
    ],
)
def test_a_password_in_a_body_is_covered_to_its_end_in_utf_8_and_in_other_bytes(body, stored):
    assert plan_with(Request(URL, body=body)).redacted().requests[0].body == stored


def test_a_ladders_level_differs_in_its_users_only():
    level = plan_with().with_users(7)
    assert level.connections == 7
    assert level.with_users(200) == plan_with()


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Duration(0), "longer than 0"),
        (lambda: Count(0), "0 requests"),
        (lambda: Request(URL, timeout_ns=0), "timeout"),
        (lambda: Request(URL, method="G T"), "'G T' is not a word"),
        (lambda: Request(URL, method="CONNECT"), "tunnel"),
        (lambda: Request(URL, headers=(("x-a", "1\r\nx-b: 2"),)), "'x-a' contains a newline"),
        (lambda: Request(URL, headers=(("x a", "1"),)), "'x a' is not a word"),
        (lambda: replace(plan_with(), workers=0), "0 workers"),
        (lambda: replace(plan_with(), warmup_ns=-1), "warmup must not be negative"),
        (lambda: replace(plan_with(), groups=()), "needs a group"),
    ],
)
def test_what_cannot_be_fired_is_refused_when_it_is_made(make, says):
    with pytest.raises(UsageError, match=says):
        make()


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("1s", {"kind": "uniform", "from_ns": 10**9, "to_ns": 10**9}),
        ("500ms-3s", {"kind": "uniform", "from_ns": 5 * 10**8, "to_ns": 3 * 10**9}),
        ("exp:2s", {"kind": "exponential", "mean_ns": 2 * 10**9}),
        (
            "normal:2s, 500ms",
            {"kind": "normal", "mean_ns": 2 * 10**9, "deviation_ns": 5 * 10**8},
        ),
        ("lognormal:2s,0.6", {"kind": "lognormal", "median_ns": 2 * 10**9, "sigma": 0.6}),
    ],
)
def test_thoughts_are_read_and_written(text, written):
    assert Think.parse(text).as_json() == written


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("3s-1s", "the longest time is below"),
        ("long:2s", "'long:2s' is not a distribution of times"),
        ("exp:2s,1s", "'exp:2s,1s' is not a distribution of times"),
        ("normal:2s", "'normal:2s' is not a distribution of times"),
        ("lognormal:2s,much", "'lognormal:2s,much' is not a distribution of times"),
        ("lognormal:2s,5.5", "the sigma '5.5' is too large"),
        ("1s-", "'' is not a duration"),
        ("5", "the duration '5' has no unit"),
    ],
)
def test_thoughts_that_cannot_be_are_refused(text, says):
    with pytest.raises(UsageError, match=re.escape(says)):
        Think.parse(text)


def test_a_ladder_of_users_who_think_keeps_their_thoughts():
    think = Think.parse("1s")
    group = Group(pace=Closed(5), source=Source.of(Request(URL)), think=think)
    plan = Plan(groups=(group,), stop=Duration(SECOND_NS)).with_users(9)
    assert (plan.groups[0].pace, plan.groups[0].think) == (Closed(9), think)


def test_a_ladder_keeps_how_users_are_dealt_and_what_they_share():
    one = Group(pace=Closed(8, pool=4), source=Source.of(Request(URL)), share=8)
    other = replace(one, pace=Closed(2, pool=1), share=2)
    plan = Plan(groups=(one, other), stop=Duration(SECOND_NS)).with_users(50)
    assert [group.pace for group in plan.groups] == [Closed(40, pool=4), Closed(10, pool=1)]
    assert (plan.concurrency, plan.connections) == (50, 5)
    with pytest.raises(UsageError, match="1 user for 2 groups"):
        plan.with_users(1)


def test_a_replay_lasts_until_its_last_time_and_leaves_its_times_out_on_disk():
    plan = plan_with(pace=Replay([0, 3 * SECOND_NS]))
    plan = replace(plan, stop=Count(2), warmup_ns=0)
    assert (plan.seconds, plan.interval_ns) == (3, SECOND_NS // 10)
    kept = plan.as_stored()
    assert kept["groups"][0]["pace"]["offsets_ns"] == []
    assert kept["interval_ns"] == SECOND_NS // 10
    assert plan.as_json()["groups"][0]["pace"]["offsets_ns"] == [0, 3 * SECOND_NS]


def test_everything_rare_is_written_as_the_engine_reads_it():
    request = Request(
        "unix:/run/app.sock:/items/{{row.id}}",
        expect_body=(BodyCheck.parse("ok"),),
        expect_json=(JsonCheck.parse("a=1"),),
        captures=(Capture.parse("id=header:Location"),),
        compressed=True,
    )
    group = Group(Closed(1), Source.of(request), data="/data/users.csv")
    written = Plan(groups=(group,), stop=Count(1)).as_json()["groups"][0]
    assert written["data"] == {"path": "/data/users.csv"}
    sent = written["source"]["request"]
    assert sent["url"] == "http://localhost/items/{{row.id}}"
    assert {name: sent[name] for name in list(sent)[7:]} == {
        "unix_socket": "/run/app.sock",
        "template": True,
        "expect_body": [{"kind": "text", "text": "ok"}],
        "expect_json": [{"path": "$.a", "value": 1}],
        "captures": [{"name": "id", "from": "header", "what": "Location"}],
        "compressed": True,
    }


def test_a_template_is_known_by_its_braces_unless_it_is_sent_as_it_stands():
    assert Request("http://h/{{seq}}").template
    assert Request("http://h/", headers=(("x-id", "{{uuid}}"),)).template
    assert Request("http://h/", body=b"\xff{{row.a}}").template
    assert not Request("http://h/", body=b'{"a": {"b": {}}}').template
    plain = Request("http://h/{{seq}}", template=False)
    assert (plain.url, plain.expressions()) == ("http://h/%7B%7Bseq%7D%7D", [])


def test_a_templates_secret_leaves_a_request_that_can_be_written():
    request = Request("http://h/?token={{ row.t | url }}&n={{ seq }}").redacted()
    assert request.url == "http://h/?token=***&n={{ seq }}"


@pytest.mark.parametrize(
    ("pace", "says"),
    [(Open(5), "--rate and --steps or --capture"), (Replay([0]), "--replay and --steps or")],
)
def test_arrivals_have_no_session(pace, says):
    login = Request(URL, captures=(Capture.parse("id=json:$.id"),))
    with pytest.raises(UsageError, match=says):
        Group(pace=pace, source=Source.of(login))


def test_a_socket_is_not_reached_by_a_proxy():
    group = Group(Closed(1), Source.of(Request("unix:/run/app.sock")))
    with pytest.raises(UsageError, match="--proxy: a Unix socket"):
        Plan(groups=(group,), stop=Count(1), transport=Transport(proxy=Proxy("h", 1)))


def test_arrivals_are_never_collected():
    transport = Transport(http="2c", streams=4, coalesce_ns=300_000)
    assert replace(plan_with(), transport=transport).transport.coalesce_ns == 300_000
    with pytest.raises(UsageError, match="--coalesce: arrivals are never delayed"):
        replace(plan_with(pace=Open(100.0, 4)), transport=transport)
