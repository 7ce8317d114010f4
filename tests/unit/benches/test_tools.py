import stat

import pytest

from versus import places, tools
from versus.load import Load
from versus.row import Plan, in_turn
from versus.rows import ROWS, chosen
from versus.tools import ALL, FRAMED

PLAIN = Load("http://127.0.0.1:8080/small", 61, 37)
SECURE = Load("https://127.0.0.1:8443/small", 61, 37)


@pytest.mark.parametrize("name", [name for name in ALL if name not in {"vegeta", "ghz"}])
def test_every_tool_is_told_where_to_fire(name):
    words = " ".join(ALL[name].command(PLAIN))
    assert PLAIN.url in words or f"{PLAIN.place} {PLAIN.path}" in words
    assert "61" in words
    assert "37" in words


def test_calls_of_grpc_are_the_same_for_every_tool():
    load = Load("http://127.0.0.1:1", 4, 37, streams=10, grpc=True)
    for name in ("torr", "ghz", "h2load"):
        words = " ".join(ALL[name].command(load))
        assert "torr.Echo/Unary" in words
        assert "37" in words
    assert "-c 40" in " ".join(ALL["torr"].command(load))
    assert "--connections 4 --concurrency 40" in " ".join(ALL["ghz"].command(load))
    assert FRAMED.endswith(b"hello")


def test_messages_are_the_same_for_every_tool():
    load = Load("ws://127.0.0.1:1", 4, 37, streams=16)
    told = " ".join(ALL["torr"].command(load))
    assert "-c 64" in told
    assert "--streams 16 -b hello" in told
    assert "--http" not in told
    told = " ".join(ALL["k6"].command(load))
    assert "USERS=4" in told
    assert "STREAMS=16" in told
    assert told.endswith("websocket.js")


def test_vegeta_is_told_on_its_standard_input():
    assert ALL["vegeta"].stdin(PLAIN) == f"GET {PLAIN.url}\n"


@pytest.mark.parametrize(
    ("name", "word"),
    [("torr", "-k"), ("oha", "--insecure"), ("bombardier", "--insecure"), ("vegeta", "-insecure")],
)
def test_nobody_checks_the_certificate(name, word):
    assert word in ALL[name].command(SECURE)
    assert word not in ALL[name].command(PLAIN)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("torr", "--rate 1000"),
        ("oha", "-q 1000"),
        ("vegeta", "-rate=1000/1s"),
        ("k6", "-e RATE=1000"),
    ],
)
def test_a_constant_rate_is_asked_for_in_the_words_of_the_tool(name, words):
    assert words in " ".join(ALL[name].command(Load(PLAIN.url, 64, 3, rate=1000)))


def test_k6_reports_to_nobody():
    assert "--no-usage-report" in ALL["k6"].command(PLAIN)


def test_a_tool_that_cannot_be_had_is_named_with_its_reason(tmp_path, monkeypatch):
    (tmp_path / "left-out").write_text("oha 1.16.0: no such version\n")
    monkeypatch.setattr(places, "BUILT", tmp_path)
    monkeypatch.setattr(tools, "BUILT", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert ALL["oha"].absent() == "oha 1.16.0: no such version"
    assert "scripts/bench-tools.sh" in ALL["hey"].absent()
    present, absent = Plan(1, 1).present([ALL["oha"], ALL["torr"]])
    assert [tool.name for tool in present] == ["torr"]
    assert list(absent) == ["oha"]


def test_a_pinned_tool_comes_before_that_of_the_machine(tmp_path, monkeypatch):
    for folder in ("pinned/bin", "machine"):
        path = tmp_path / folder / "hey"
        path.parent.mkdir(parents=True)
        path.write_text("")
        path.chmod(stat.S_IRWXU)
    monkeypatch.setattr(places, "BUILT", tmp_path / "pinned")
    monkeypatch.setenv("PATH", str(tmp_path / "machine"))
    assert places.program("hey") == str(tmp_path / "pinned/bin/hey")


def test_a_kept_command_names_no_folder_of_this_machine():
    command = [f"{places.BUILT}/bin/k6", "run", str(places.SCRIPTS / "load.js")]
    assert places.in_use(command) == "k6 run benches/versus/scripts/load.js"
    assert str(places.scratch()) not in places.in_use(ALL["torr"].command(PLAIN))


def test_the_order_is_turned_round_in_every_second_round():
    pair = [ALL["torr"], ALL["wrk"]]
    assert [tool.name for tool in in_turn(pair, 0)] == ["torr", "wrk"]
    assert [tool.name for tool in in_turn(pair, 1)] == ["wrk", "torr"]


def test_rows_are_chosen_by_name_or_by_its_beginning():
    assert [row.name for row in chosen(["tls", "lag-1000"])] == [
        "tls-small-64",
        "tls-16k-64",
        "lag-1000",
    ]
    assert chosen([]) == ROWS
    with pytest.raises(SystemExit, match="no such row"):
        chosen(["huge"])
