"""A plan file says requests, groups and flags; what is typed goes first, errors have a line."""

from __future__ import annotations

import base64
import json
from urllib.parse import quote

import pytest

from recorder import recording

URL = "http://127.0.0.1:9"
WHOLE = """
url = "http://127.0.0.1:9"
duration = "3s"
seed = 7
slo = ["login: p95 < 1s"]
no_keepalive = true

[[requests]]
name = "login"
method = "POST"
url = "/login"
headers = { x-user = "{{row.user}}" }
json = { user = "{{row.user}}" }
capture = "token=json:$.token"
timeout = "2s"

[[requests]]
name = "items"
url = "/items/{{token}}"
expect_status = "200,404"

[[requests]]
name = "events"
url = "/events"
stream = "sse"
idle_timeout = "5s"

[[groups]]
name = "buyers"
requests = ["login", "items"]
steps = true
users = 3
think = "1s-3s"
data = "users.csv"

[[groups]]
requests = ["events", "items"]
weights = [9, 1]
users = 1
"""


@pytest.fixture
def plan(tmp_path):
    """Write a plan file, and the rows that it names."""

    def write(text):
        (tmp_path / "users.csv").write_text("user\nann\nbob\n")
        (tmp_path / "plan.toml").write_text(text)
        return "plan.toml"

    return write


@pytest.fixture
def planned(torr, fake, plan):
    """What the engine gets for a file and flags."""

    def call(text, *flags, verb="run"):
        ended = torr(verb, plan(text), *flags)
        assert ended.code in (0, 1), ended.err
        return fake.loads[0].plan.as_json()

    return call


def small(**keys):
    """A file of one request and so many other lines."""
    lines = "\n".join(f"{key} = {value}" for key, value in keys.items())
    return f'url = "{URL}"\n{lines}\n[[requests]]\nname = "a"\nurl = "/"\n'


def chat(**keys):
    """A file of a chat, with so many other lines from line 4 on."""
    lines = "".join(f"{key} = {value}\n" for key, value in keys.items())
    return f'url = "{URL}"\nchat = "openai"\nmodel = "m"\n{lines}'


def group(**keys):
    """The same file with one group of so many lines, from line 8 on."""
    lines = "".join(f"{key} = {value}\n" for key, value in keys.items())
    return f'{small()}[[groups]]\nrequests = ["a"]\n{lines}'


def test_requests_and_groups_are_those_of_the_file(planned):
    # A name of a value is only read in the group whose steps capture it.
    text = WHOLE.replace('requests = ["events", "items"]', 'requests = ["events"]')
    found = planned(text.replace("weights = [9, 1]\n", ""))
    buyers, others = found["groups"]
    assert (buyers["name"], others["name"]) == ("buyers", "group 1")
    assert (buyers["pace"]["users"], others["pace"]["users"]) == (3, 1)
    assert buyers["source"]["kind"] == "steps"
    login, items = buyers["source"]["requests"]
    assert (login["name"], login["method"], login["url"]) == ("login", "POST", f"{URL}/login")
    assert login["timeout_ns"] == 2_000_000_000
    assert items["accept_statuses"] == [[200, 200], [404, 404]]
    assert buyers["think"] is not None
    assert buyers["data"]["path"].endswith("/users.csv")
    assert others["source"]["request"]["stream"] == {
        "dialect": "sse",
        "idle_timeout_ns": 5_000_000_000,
    }
    assert found["stop"] == {"kind": "duration", "duration_ns": 3_000_000_000}
    assert (found["seed"], found["transport"]["keepalive"]) == (7, False)


def test_a_request_of_two_groups_is_one_row(planned):
    text = small() + '[[groups]]\nrequests = ["a"]\nusers = 1\n' * 2
    groups = planned(text)["groups"]
    assert [group["source"]["request"]["name"] for group in groups] == ["a", "a"]


STREAMS = """[[requests]]
name = "b"
url = "/b"
stream = "dify"
[[requests]]
name = "c"
url = "/c"
stream = "sse"
idle_timeout = "5s"
"""


@pytest.mark.parametrize("is_typed", [True, False])
def test_flags_of_streams_are_those_of_the_files_streams(planned, is_typed):
    flags = ("--from", "intended", "--idle-timeout", "2s") if is_typed else ()
    keys = {} if is_typed else {"from": '"intended"', "idle_timeout": '"2s"'}
    (group,) = planned(small(**keys) + STREAMS, *flags)["groups"]
    plain, dify, sse = [request.get("stream") for request in group["source"]["requests"]]
    assert plain is None
    assert dify == {"dialect": "dify", "idle_timeout_ns": 2_000_000_000, "from_intended": True}
    # What a request says of itself goes first.
    assert sse == {"dialect": "sse", "idle_timeout_ns": 5_000_000_000, "from_intended": True}


@pytest.mark.parametrize("flags", [("--from", "intended"), ("--idle-timeout", "2s")])
def test_flags_of_streams_need_a_stream_in_the_file(torr, fake, plan, flags):
    ended = torr("run", plan(small()), *flags)
    assert ended.code == 2
    assert f"{flags[0]} needs --stream" in ended.err
    assert not fake.loads


def test_what_is_typed_goes_before_the_file(planned):
    found = planned(small(duration='"3s"', seed=7), "-z", "1s", "http://127.0.0.1:8")
    assert found["stop"]["duration_ns"] == 1_000_000_000
    assert found["seed"] == 7
    (group,) = found["groups"]
    assert group["source"]["request"]["url"] == "http://127.0.0.1:8/"


JSON = 'json = { q = "{{row.q}}", n = ["{{ seq }}", 7], own = "{{row.q | url}}" }\n'
DATA = '[[groups]]\nrequests = ["a"]\nusers = 1\ndata = "rows.csv"\n'


@pytest.mark.parametrize(
    ("flags", "body"),
    [
        ((), {"q": "{{row.q | json}}", "n": ["{{seq | json}}", 7], "own": "{{row.q | url}}"}),
        (("--verbatim",), {"q": "{{row.q}}", "n": ["{{ seq }}", 7], "own": "{{row.q | url}}"}),
    ],
)
def test_what_fills_texts_of_json_is_quoted(planned, tmp_path, flags, body):
    (tmp_path / "rows.csv").write_text("q\nx\n")
    (group,) = planned(small() + JSON + DATA, *flags)["groups"]
    sent = base64.b64decode(group["source"]["request"]["body"])
    assert json.loads(sent) == body


def test_a_row_with_quotes_and_line_feeds_is_sent_as_json(torr, tmp_path, plan):
    said = 'caf\u00e9 "noir"\\\n\t{{uuid}}'
    (tmp_path / "rows.jsonl").write_text(json.dumps({"q": said}) + "\n")
    text = (small() + JSON + DATA).replace("rows.csv", "rows.jsonl")
    with recording() as server:
        ended = torr("run", "--once", plan(text), server.url)
    assert ended.code == 0, ended.err
    (seen,) = server.seen
    assert json.loads(seen.body) == {"q": said, "n": ["0", 7], "own": quote(said, safe="")}


def test_without_groups_all_requests_are_everybodys(planned):
    (group,) = planned(small(connections=8))["groups"]
    assert (group["name"], group["pace"]["users"]) == ("default", 8)


def test_weights_share_out_users_and_levels(torr, fake, plan):
    groups = '[[groups]]\nrequests = ["a"]\nweight = {}\n'
    text = small(connections=10) + groups.format(4) + groups.format(1)
    torr("ladder", plan(text), "--levels", "5,50")
    users = [
        [group["pace"]["users"] for group in load.plan.as_json()["groups"]] for load in fake.loads
    ]
    assert users == [[4, 1], [40, 10]]


def test_numbers_of_users_are_shares_of_a_ladders_levels(torr, fake, plan):
    groups = '[[groups]]\nrequests = ["a"]\nusers = {}\n'
    torr("ladder", plan(small() + groups.format(30) + groups.format(10)), "--levels", "8")
    users = [group["pace"]["users"] for group in fake.loads[0].plan.as_json()["groups"]]
    assert users == [6, 2]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (small(duraton='"3s"'), 2, ("there is no 'duraton' here", "did you mean duration?")),
        (small(turns=4), 2, ("there is no 'turns' here", "data file")),
        (small(prompts='"p.jsonl"'), 2, ("there is no 'prompts' here", "data file")),
        (small(unique_prefix="true"), 2, ("there is no 'unique_prefix' here", "data file")),
        (small(duration='"3"'), 2, ("duration", "3s")),
        (small(duration="3"), 2, ("duration", "")),
        (small(no_keepalive='"yes"'), 2, ("it must be true or false", "")),
        (small(slo='["p95 <"]'), 2, ("slo", "")),
        (small(seed='["a"]'), 2, ("seed is one value", "")),
        ("url = \n", 1, ("not TOML", "")),
        ("url = 7\n", 1, ("url is not a text", "")),
        (small() + "wegiht = 3\n", 6, ("there is no 'wegiht' here", "did you mean weight?")),
        (small() + 'timeout = "3"\n', 3, ("no unit", "")),
        (small() + 'stream = "morse"\n', 3, ("'morse' is not a dialect", "openai")),
        (small(alias='"vllm"', **{"from": '"intended"'}), 2, ("--alias and --from", "leave one")),
        (small() + 'idle_timeout = "3s"\n', 3, ("idle_timeout needs stream", "sse")),
        (f'url = "{URL}"\n', 1, ("there is no request", "[[requests]]")),
        (small(trace='"t.jsonl"'), 2, ("there is no 'trace' here", "chat and model in place of")),
        (chat(modle='"m"'), 4, ("there is no 'modle' here", "did you mean model?")),
        (chat(trace='"t.jsonl"'), 4, ("trace", "t.jsonl")),
        (chat(url="7"), 4, ("not TOML", "")),
        (chat() + '[[groups]]\nrequests = ["a"]\n', 1, ("there is no request", "")),
        ('[[requests]]\nurl = "/"\n', 1, ("a request has no name", "")),
        ('[[requests]]\nname = "a"\n', 1, ("url is missing", "")),
        ('[[requests]]\nname = "a"\nurl = "/"\n', 1, ("is not a complete URL", "")),
        (
            small() + '[[requests]]\nname = "a"\nurl = "/b"\n',
            7,
            ("two requests are called 'a'", ""),
        ),
        (small() + "[groups]\n", 6, ("groups are not tables", "[[groups]]")),
        (small() + "[[groups]]\nusers = 1\n", 6, ("requests is missing", "")),
        (
            small() + '[[groups]]\nrequests = ["b"]\nusers = 1\n',
            7,
            ("no request is called 'b'", "a"),
        ),
        (group(), 6, ("a group has users, a weight", "rate")),
        (group(users=0), 8, ("users = 0", "from 1 to")),
        (group(users="true"), 8, ("users is not a whole number", "")),
        (group(users=1, think='"x"'), 9, ("'x'", "")),
        (group(users=1, steps="true", weights="[1]"), 10, ("steps and weights", "leave one out")),
        (group(users=1, weights='["x"]'), 9, ("weights is not a list", "[3, 1]")),
        (group(users=1, weights="[true]"), 9, ("weights is not a list", "[3, 1]")),
        (
            small() + "headers = [1]\n",
            3,
            ("headers is not of type table", 'headers = { x-user = "ann" }'),
        ),
        (small() + "headers = { a = 1 }\n", 3, ("header 'a' is not a text", "headers = {")),
        (small() + 'body = "x"\njson = {}\n', 3, ("body and json are all given", "")),
        (small() + "body = 1\n", 3, ("the member body is not a text", "")),
        (small(slo='["p95 < 1s", "aa: p95 < 1s"]'), 2, ("named 'aa'", "did you mean a?")),
        (small(abort_on='"zz:  p95 < 1s"'), 2, ("named 'zz'", "known names: a")),
        (small(abort_on='"a: p95 < 1s"'), 2, ("do not tell requests apart", "leave out the name")),
        (small(slo='["a: ttft p50 < 2s"]') + STREAMS, 2, ("no response of a is a stream", "")),
        (small(slo='"a: mlperf:mixtral:server"') + STREAMS, 2, ("no response of a", "")),
        (small(slo='["mlperf:mixtral"]'), 2, ("not a preset of SLOs", "mlperf:mixtral:server")),
        (small(slo='["goodput > 99%"]') + STREAMS, 2, ("needs an SLO of latency", "ttft")),
        (
            small(slo='["goodput > 99%", "a: p95 < 1s"]') + STREAMS,
            2,
            ("needs an SLO of latency", "ttft"),
        ),
        (
            group(users=1) + group(weight=1).removeprefix(small()),
            9,
            ("some groups have users, others a weight", "to all groups"),
        ),
        (
            group(users=1, name='"g"') + group(users=1, name='"g"').removeprefix(small()),
            13,
            ("two groups are called 'g'", ""),
        ),
        (
            small(connections=1) + group(weight=1).removeprefix(small()) * 2,
            6,
            ("1 user for 2 groups: each needs one", "-c at least 2"),
        ),
        (group(users=1, spawn_rate=0), 9, ("'0' is not a rate above 0 per second", "write 5")),
        (group(users=1, spawn_rate='"5/h"'), 9, ("unknown suffix", "200/s")),
        (group(users=1, spawn_rate="[5]"), 9, ("spawn_rate is neither a text nor a number", "")),
        (group(rate='"50"', users=1), 9, ("users and rate are both given", "leave one out")),
        (
            group(rate='"50"', think='"1s"'),
            9,
            ("think and rate are both given", "do not belong to users"),
        ),
        (
            group(rate='"50"', steps="true"),
            9,
            ("steps and rate are both given", "do not belong to users"),
        ),
        (group(rate='"50"', spawn_rate=5), 9, ("spawn_rate and rate are both given", "")),
        (group(rate="0"), 8, ("'0' is not a rate above 0 per second", "")),
        (group(rate='"90M"'), 8, ("'90M' is too high", "the maximum is")),
        (
            group(rate=5, arrivals='"often"'),
            9,
            ("'often' is not a kind of arrivals", "constant or poisson"),
        ),
        (group(rate=5, connections=0), 9, ("connections = 0", "")),
        (group(users=5, connections=2), 9, ("connections needs rate", 'rate = "50"')),
        (group(users=5, arrivals='"poisson"'), 9, ("arrivals needs rate", 'rate = "50"')),
        (group(stages='"1s:5"', weight=1), 9, ("weight and stages are both given", "")),
        (group(stages='"1s:5"', spawn_rate=1), 9, ("spawn_rate and stages are both given", "")),
        (group(stages='"5"'), 8, ("'5' is not a stage", "write 30s:100")),
        (group(stages='"1s:1.5"'), 6, ("1.5 users are not whole", "")),
        (
            small(duration='"5s"') + group(stages='"1s:5"').removeprefix(small()),
            6,
            ("--duration and --stages are both given", "the stages set the length of the load"),
        ),
        (
            group(stages='"1s:5"') + '[[groups]]\nrequests = ["a"]\nrate = 1\nstages = "2s:5"\n',
            9,
            ("do not last equally long", "add a stage"),
        ),
    ],
)
def test_what_is_wrong_has_its_line(torr, plan, text, line, words):
    ended = torr("run", plan(text))
    assert ended.code == 2, ended.out
    assert f"plan.toml:{line}: " in ended.err
    assert [word for word in words if word not in ended.err] == []


TRACE = {
    "trace": '"trace.jsonl"',
    "trace_format": '"mooncake"',
    "trace_from": '"1s"',
    "trace_to": '"4s"',
    "synthesis": '"output=x2"',
    "block_tokens": 16,
}


@pytest.fixture
def trace(tmp_path):
    rows = [
        {"timestamp": 1000 * n, "input_length": 20, "output_length": 5, "hash_ids": [1, n]}
        for n in range(6)
    ]
    (tmp_path / "trace.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))


@pytest.mark.usefixtures("trace")
def test_a_file_of_a_chat_has_a_trace_and_what_belongs_to_it(torr, fake, plan):
    ended = torr("run", plan(chat(**TRACE, speed=2, max_in_flight=5)))
    assert ended.code in (0, 1), ended.err
    found = fake.loads[0].plan
    assert found.requests[0].url == f"{URL}/v1/chat/completions"
    assert (found.groups[0].pace.is_timed, found.groups[0].pace.max_in_flight) == (True, 5)
    (rows,) = found.feed.open()
    assert [(row.due_ns, row.cells[1]) for row in rows] == [
        (0, "10"),
        (500_000_000, "10"),
        (1_000_000_000, "10"),
    ]


@pytest.mark.usefixtures("trace")
def test_what_is_typed_beside_a_file_of_a_chat_goes_first(torr, fake, plan):
    text = chat(**TRACE, requests=2)
    ended = torr("run", plan(text), "http://127.0.0.1:8", "-c", "3", "--model", "other")
    assert ended.code in (0, 1), ended.err
    found = fake.loads[0].plan
    (request,) = found.requests
    assert request.url.startswith("http://127.0.0.1:8/")
    assert b'"other"' in request.body
    assert not found.groups[0].pace.is_timed
    assert found.concurrency == 3
    assert sum(map(len, found.feed.open())) == 2


@pytest.mark.usefixtures("trace")
def test_a_file_of_a_chat_serves_a_ladder(torr, fake, plan):
    ended = torr("ladder", plan(chat(**TRACE)), "--levels", "1,2", "--rounds", "1")
    assert ended.code in (0, 1), ended.err
    assert [load.plan.concurrency for load in fake.loads] == [1, 2]


def test_all_options_of_a_chat_are_keys_of_its_file(torr, fake, plan, monkeypatch):
    monkeypatch.setenv("KEY", "secret")
    keys = {"prompt_tokens": '"30..40"', "prefix_tokens": 8, "token_env": '"KEY"'}
    more = {"rate": 50, "arrivals": '"poisson"', "requests": 10, "header": '["x-a: b"]'}
    ended = torr("run", plan(chat(**keys, **more)))
    assert ended.code in (0, 1), ended.err
    found = fake.loads[0].plan
    assert {("x-a", "b"), ("authorization", "Bearer secret")} <= set(found.requests[0].headers)
    assert {len(row[0].split()) for row in found.groups[0].data.rows} == set(range(38, 49))
    assert found.rate_per_s == 50


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (("-b", "x"), "--body and a plan file"),
        (("--rate", "5"), "--rate and a plan file"),
        (("--chat", "dify"), "--chat"),
        (("--prompt", "hi"), "--prompt and a plan file"),
        (("--prompts", "users.csv"), "--prompts and a plan file"),
        (("--model", "m"), "--model and a plan file"),
        (("--max-tokens", "5"), "--max-tokens and a plan file"),
        (("--user", "u"), "--user and a plan file"),
        (("--inputs", "{}"), "--inputs and a plan file"),
        (("--turns", "3"), "--turns and a plan file"),
        (("--prompt-order", "shuffle"), "--prompt-order and a plan file"),
        (("--unique-prefix",), "--unique-prefix and a plan file"),
        ((URL, URL), "several URLs"),
    ],
)
def test_what_the_file_says_is_not_typed(torr, fake, plan, flags, says):
    ended = torr("run", plan(small()), *flags)
    assert ended.code == 2
    assert says in ended.err
    assert not fake.loads


@pytest.mark.parametrize("flag", ["-n", "--name"])
def test_the_value_of_a_flag_is_no_plan_file(torr, fake, flag):
    ended = torr("run", flag, "x.toml", "-z", "1s", URL)
    assert ended.code == 0, ended.err
    (group,) = fake.loads[0].plan.as_json()["groups"]
    assert group["source"]["request"]["url"] == f"{URL}/"


def test_flags_may_stand_before_a_plan_file(torr, fake, plan):
    ended = torr("run", "-n", "x.toml", "-q", plan(small(seed=7)))
    assert ended.code == 0, ended.err
    assert fake.loads[0].plan.seed == 7


def test_a_file_that_is_not_there_is_named(torr):
    ended = torr("run", "nowhere.toml")
    assert ended.code == 2
    assert "nowhere.toml" in ended.err


def test_a_request_that_no_group_sends_is_noted(torr, fake, plan):
    ended = torr("run", "-q", plan(group(users=1) + STREAMS))
    assert ended.code == 0, ended.err
    said = ended.err.splitlines()
    assert said[0] == "note: plan.toml:9: 'b' is in no group, not sent"
    assert len(said) == len(["b", "c"])
    assert len(fake.loads) == 1


def test_a_condition_that_is_typed_has_no_line(torr, fake, plan):
    ended = torr("run", plan(small()), "--slo", "aa: p95 < 1s")
    assert ended.err.startswith(
        "torr: 'aa: p95 < 1s': no request is named 'aa'\nhint: did you mean"
    )
    assert fake.loads == []


def test_a_level_has_a_user_for_each_group(torr, plan):
    two = [group(weight=1).removeprefix(small())] * 2
    ended = torr("ladder", plan(small() + "".join(two)), "--levels", "1")
    assert "1 user for 2 groups: each needs one" in ended.err
