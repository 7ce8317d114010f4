"""HTTP/2 against nginx, which ends a connection after some requests and allows few streams."""

from __future__ import annotations

import pytest

from authority import Authority, Nginx
from installed import free_port

QUICK = ("--warmup", "0s", "--timeout", "30s", "-o", "json")
REQUESTS = 600


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    made = Authority(tmp_path_factory.mktemp("authority"))
    made.sign("good")
    made.sign("old")
    return made


@pytest.fixture(scope="module")
def nginx(authority):
    authority.folder.parent.chmod(0o755)
    authority.folder.chmod(0o755)
    served = Nginx(authority.folder)
    limits = "keepalive_requests 50; http2_max_concurrent_streams 5;"
    served.serve("good", listen="ssl http2", more=limits)
    served.serve("old")
    served.serve("plain", listen="http2", certificate="good", more=limits)
    process = served.start()
    yield served
    process.terminate()
    process.wait(60)


@pytest.fixture
def fire(torr, authority, nginx):
    """Run a load over HTTP/2; return how it ended, and the lines of the server's log."""

    def run(*words):
        nginx.log.write_text("")
        ended = torr("run", *QUICK, "--cacert", authority.certificate, *words)
        return ended, nginx.requests()

    return run


@pytest.mark.parametrize(("version", "server"), [("2", "good"), ("2c", "plain")])
def test_every_request_is_answered_once_although_connections_end(fire, nginx, version, server):
    # Users have twice as many streams as the server allows, and each connection ends after 50.
    ended, seen = fire(
        *("--http", version, "--streams", 10, "-c", 20, "--requests", REQUESTS), nginx.url(server)
    )
    assert ended.code == 0, ended.err
    level = ended.level
    assert level["counts"]["ok"] == level["counts"]["attempted"] == len(seen) == REQUESTS
    assert level["connections"]["requested"] == 2
    assert level["connections"]["opened"] >= REQUESTS // 50
    assert level["latency"]["stream_wait_ms"]["n"] == REQUESTS
    assert level["latency"]["stream_wait_ms"]["max"] > 0
    assert {status for status, *_ in seen} == {"200"}


def test_an_open_loop_and_two_processes_count_as_the_server_does(fire, nginx):
    ended, seen = fire(
        *("--http", "2c", "--streams", 4, "-c", 4, "--rate", "2000/s", "-z", "300ms"),
        *("--processes", 2),
        nginx.url("plain"),
    )
    assert ended.code == 0, ended.err
    assert ended.level["counts"]["ok"] == len(seen) == 600


def test_a_server_that_does_not_choose_http2_is_refused(fire, nginx):
    ended, seen = fire("--http", "2", "-c", 2, "-z", "200ms", nginx.url("old"))
    assert ended.code == 3
    assert "tls.nothing_in_common" in ended.err
    assert seen == []


def test_one_request_is_shown_with_its_head(torr, authority, nginx):
    certificate = ("--cacert", authority.certificate)
    ended = torr("run", "--once", "-v", "--http", "2", *certificate, nginx.url("good"))
    assert ended.code == 0, ended.err
    lines = ended.out.splitlines()
    assert lines[0] == "> GET / HTTP/2"
    assert "< HTTP/2 200" in lines
    assert "< content-length: 5" in lines


@pytest.mark.parametrize(
    ("server", "version", "connections"), [("good", "2", 2), ("old", "1.1", 20)]
)
def test_the_server_chooses_the_version_before_the_load(fire, nginx, server, version, connections):
    ended, seen = fire(
        *("--http", "auto", "--streams", 10, "-c", 20, "--requests", 200, "--processes", 2),
        nginx.url(server),
    )
    assert ended.code == 0, ended.err
    level = ended.level
    assert level["http"] == version
    assert [warning["code"] for warning in level["warnings"]][-1:] == ["http.chosen"]
    assert level["connections"]["requested"] == connections
    assert level["counts"]["ok"] == len(seen) == 200


def test_servers_that_choose_differently_and_a_server_that_is_not_there_are_refused(fire, nginx):
    urls = (nginx.url("good"), nginx.url("old"))
    ended, seen = fire("--http", "auto", "-c", 2, "-z", "200ms", *urls)
    assert ended.code == 2
    assert "speaks HTTP/2, and" in ended.err
    ended, _ = fire("--http", "auto", "-c", 2, "-z", "200ms", f"https://127.0.0.1:{free_port()}/")
    assert ended.code == 3
    said = "did not say which version of HTTP it speaks: connect.refused: nothing listens there"
    assert said in ended.err
    assert "hint: " in ended.err
    assert seen == []


def test_a_certificate_is_refused_with_the_same_hint_whoever_chooses_the_version(torr, nginx):
    hints = []
    for version in ("2", "auto"):
        ended = torr("run", "--http", version, "--requests", 2, "-c", 1, nginx.url("good"))
        assert ended.code == 3
        assert "tls.unknown_issuer" in ended.err
        hints.append(ended.err.partition("hint: ")[2])
    assert hints[0] == hints[1] != ""


def test_requests_that_are_collected_are_sent_together(fire, nginx):
    load = ("--http", "2c", "--streams", 5, "-c", 10, "--requests", REQUESTS)
    ended, seen = fire(*load, "--coalesce", "5ms", nginx.url("plain"))
    assert ended.code == 0, ended.err
    level = ended.level
    assert level["counts"]["ok"] == len(seen) == REQUESTS
    assert level["http2"]["requests_per_write"] > 2
    limits = level["http2"]["server_limits"]
    assert (limits["streams"], limits["window_bytes"]) == (5, 65_536)
    assert 0 <= level["health"]["stalled_rate"] <= 100


def test_a_request_that_ends_while_it_waits_for_a_window_has_waited_until_then(torr, target):
    faulty = target("faulty", "--fault", "h2_zero_window", "--share", "100%")
    # Longer than the window that a server has until its settings are known.
    body = "x" * 70_000
    load = ("-c", 1, "--requests", 2, "-b", body, "--timeout", "200ms", "--warmup", "0s")
    level = torr("run", *load, "--http", "2c", "-o", "json", faulty.url).level
    assert level["reasons"] == {"timeout.write": 2}
    waits = level["latency_all"]["window_wait_ms"]
    # From when the server did not allow the next byte, which may be before the first is sent.
    assert waits["n"] == 2
    assert 0 < waits["min"] <= level["latency_all"]["response_ms"]["max"]


def test_chat_streams_on_one_connection_have_the_events_of_the_target(torr, target, authority):
    running = target("openai", "--tokens", "5", "--itl", "1ms")
    proxy = Nginx(authority.folder / "proxy")
    proxy.folder.mkdir()
    pass_on = f"proxy_pass {running.url}; proxy_http_version 1.1; proxy_buffering off;"
    proxy.serve(
        *("chat", authority.folder, f"location /v1/ {{ {pass_on} }}"),
        listen="http2",
        certificate="good",
    )
    process = proxy.start()
    chat = ("--chat", "openai", "--model", "m", "--prompt", "one two three")
    load = ("--http", "2c", "--streams", "8", "-c", "8", "--requests", "40", "-o", "json")
    ended = torr("run", *chat, *load, "--warmup", "0s", proxy.url("chat"))
    process.terminate()
    process.wait(60)
    level, counts = ended.level, running.stop()
    assert level["counts"]["ok"] == counts["answered"] == 40, ended.err
    assert level["connections"]["opened"] == 1
    stream = level["stream"]
    assert (stream["tokens_out"], stream["events"]["text"]) == (200, 200)
    assert stream["inter_chunk_ms"]["n"] == 160
