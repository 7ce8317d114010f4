"""Bad input: one clear message that names the flag or file, exit 2, nothing written."""

from __future__ import annotations

import os

import pytest

URL = "http://127.0.0.1:9/"

BAD = {
    "no scheme": (["run", "localhost:8080"], "URL: 'localhost:8080' has no scheme"),
    "key alone": (["run", "--key", "/dev/null", URL], "--key needs --cert"),
    "unknown scheme": (["run", "ftp://localhost/"], "unknown scheme 'ftp'"),
    "port 0": (["run", "http://localhost:0/"], "port 0 is not between"),
    "port 70000": (["ladder", "http://localhost:70000/"], "port 70000 is not between"),
    "JUnit nowhere": (
        ["run", "--junit", "none/ci.xml", URL],
        "--junit: none/ci.xml: cannot be written: there is no folder none",
    ),
    "JUnit a folder": (["ladder", "--junit", "/tmp", URL], "--junit: /tmp: cannot be written"),
    "no URL": (["run"], "URL is missing"),
    "an address of one machine": (
        ["run", "--nodes", "all", "--cluster", "here:1", "--source-address", "127.0.0.2", URL],
        "--source-address and --nodes are both given",
    ),
    "nodes without a cluster": (
        ["run", "--nodes", "2", URL],
        "--nodes needs the address of a Ray cluster",
    ),
    "a cluster without nodes": (
        ["run", "--cluster", "here:1", URL],
        "--cluster needs --nodes\nhint: give --nodes all",
    ),
    "a cluster to examine without nodes": (
        ["doctor", "--cluster", "here:1"],
        "--cluster needs --nodes",
    ),
    "no connections": (["run", "-c", "0", URL], "-c/--connections: '0' is not at least 1"),
    "half a connection": (["run", "-c", "1.5", URL], "-c/--connections: '1.5' is not a whole"),
    "negative duration": (["run", "-z", "-5s", URL], "-z/--duration: the duration '-5s' is neg"),
    "duration without unit": (["run", "-z", "10", URL], "-z/--duration: the duration '10' has no"),
    "no duration": (["run", "-z", "0s", URL], "-z/--duration: '0s' is not longer than 0"),
    "-d for -z": (["run", "-d", "10s", URL], "write -z 10s for the duration"),
    "both stops": (["run", "-z", "1s", "--requests", "5", URL], "-z/--duration and --requests"),
    "rate 0": (["run", "--rate", "0", URL], "--rate: '0' is not a rate above 0"),
    "connections by the billion": (
        ["run", "-c", "999999999999", URL],
        "-c/--connections: '999999999999' is too many",
    ),
    "requests by the trillion": (
        ["run", "--requests", "9" * 20, URL],
        "--requests: '99999999999999999999' is too many",
    ),
    "in flight": (
        ["run", "--rate", "5", "--max-in-flight", "9" * 23, URL],
        "--max-in-flight: '99999999999999999999999' is t",
    ),
    "workers": (["run", "--workers", "4097", URL], "--workers: '4097' is too many"),
    "levels by the billion": (
        ["ladder", "--levels", "5,4294967296", URL],
        "--levels: level 4294967296 is too many",
    ),
    "long duration": (
        ["run", "-z", "99999999h", URL],
        "-z/--duration: the duration '99999999h' is too long",
    ),
    "long timeout": (
        ["run", "--timeout", "99999999h", URL],
        "--timeout: the duration '99999999h' is too l",
    ),
    "long thought": (
        ["run", "--think", "1s-99999999h", URL],
        "--think: the duration '99999999h' is too long",
    ),
    "rate beyond the clock": (
        ["run", "--rate", "11M", URL],
        "--rate: '11M' is too high",
    ),
    "many users by stages": (
        ["run", "--stages", "1s:999999999,1s:4294967296", URL],
        "--stages: 4,294,967,296 users are too many",
    ),
    "high rate by stages": (
        ["run", "--rate", "5", "--stages", "1s:4294967296", URL],
        "--stages: 4,294,967,296 requests/s are too many",
    ),
    "long stages": (
        ["run", "--stages", "87600h:5,1s:5", URL],
        "--stages: all of them together are too long",
    ),
    "status over 599": (
        ["run", "--expect-status", "999", URL],
        "--expect-status: '999' is not a s",
    ),
    "SLO without a unit": (["run", "--slo", "p95 < 500", URL], "hint: write 500ms"),
    "ladder by rate": (["ladder", "--rate", "5", URL], "ladder: --rate is a flag of torr run"),
    "ladder by stages": (["ladder", "--stages", "5", URL], "hint: torr ladder --rates"),
    "negative rate": (["run", "--rate", "-1", URL], "--rate: the rate '-1' is negative"),
    "arrivals alone": (["run", "--arrivals", "poisson", URL], "--arrivals needs --rate"),
    "limit alone": (["run", "--max-in-flight", "5", URL], "--max-in-flight needs --rate"),
    "arrivals that think": (["run", "--rate", "5", "--think", "1s", URL], "--think and --rate are"),
    "think": (["run", "--think", "fast", URL], "--think: 'fast' is not a duration"),
    "unknown arrivals": (["run", "--rate", "5", "--arrivals", "x", URL], "--arrivals: 'x' is not"),
    "levels not ascending": (
        ["ladder", "--levels", "5,1", URL],
        "--levels: levels 5,1 are not asc",
    ),
    "levels equal": (["ladder", "--levels", "5,5", URL], "--levels: levels 5,5 are not ascending"),
    "level 0": (["ladder", "--levels", "0,5", URL], "--levels: levels '0,5'"),
    "levels no numbers": (["ladder", "--levels", "a,b", URL], "--levels: 'a,b' is not a list"),
    "auto from 0": (["ladder", "--levels", "auto:0", URL], "--levels: '0' is not at least 1"),
    "no rounds": (["ladder", "--rounds", "0", URL], "--rounds: '0' is not at least 1"),
    "body file missing": (["run", "-b", "@none.json", URL], "-b/--body: none.json: No such file"),
    "body not JSON": (["run", "--json-body", "{", URL], "--json-body: not JSON"),
    "body too deep": (["run", "--json-body", "[" * 9999, URL], "it is nested more than 100"),
    "value too deep": (["run", "--expect-json", "a=" + "[" * 9999, URL], "nested more than 100"),
    "value too large": (["run", "--expect-json", "a=1e400", URL], "the number 1e400 is too large"),
    "inputs of half a character": (
        ["run", "--chat", "dify", "--prompt", "a", "--inputs", '{"a": "\\ud800"}', URL],
        "--inputs: a text has half of a character",
    ),
    "requests without an end": (
        ["run", "--requests-file", "/dev/zero", URL],
        "/dev/zero: it is neither a file nor a pipe",
    ),
    "two bodies": (["run", "-b", "x", "--json-body", "1", URL], "-b/--body and --json-body"),
    "header in two lines": (
        ["run", "-H", "x-a: 1\r\nx-b: 2", URL],
        "-H/--header: header 'x-a' con",
    ),
    "header without colon": (["run", "-H", "x-a", URL], "-H/--header: 'x-a' has no colon"),
    "header name": (["run", "-H", "x a: 1", URL], "-H/--header: header name 'x a' is not a word"),
    "method": (["run", "-m", "G T", URL], "-m/--method: method 'G T' is not a word"),
    "status": (["run", "--expect-status", "20", URL], "--expect-status: '20' is not a status"),
    "statuses": (["run", "--expect-status", "300-200", URL], "it ends before it begins"),
    "no password": (["run", "--basic-auth", "ann", URL], "--basic-auth: the password is missing"),
    "source address": (["run", "--source-address", "lo", URL], "--source-address: 'lo' is not an"),
    "no requests": (["run", "--requests-per-connection", "0", URL], "'0' is not at least 1"),
    "short life of none": (
        ["run", "--no-keepalive", "--requests-per-connection", "5", URL],
        "--no-keepalive and --requests-per-connection are both given",
    ),
    "no timeout": (["run", "--timeout", "0s", URL], "--timeout: '0s' is not longer than 0"),
    "no workers": (["run", "--workers", "0", URL], "--workers: '0' is not at least 1"),
    "no SLO": (["run", "--slo", "fast", URL], "--slo: 'fast' is not a condition"),
    "unknown metric": (["run", "--abort-on", "speed > 1", URL], "--abort-on: 'speed > 1'"),
    "unmeasured metric": (
        ["ladder", "--slo", "chat: cache p95 < 1s", URL],
        "--slo: 'chat: cache p95 < 1s': cache is not a metric that this version measures",
    ),
    "unknown preset": (
        ["ladder", "--slo", "mlperf:llama2-70b:offline", URL],
        "--slo: 'mlperf:llama2-70b:offline' is not a preset of SLOs",
    ),
    "preset that ends a load": (
        ["run", "--abort-on", "mlperf:llama2-70b:server", URL],
        "--abort-on: 'mlperf:llama2-70b:server' is not a condition",
    ),
    "named request that ends a load": (
        ["run", "--abort-on", "GET /: errors > 5%", URL],
        "--abort-on 'GET /: errors > 5%': intervals do not tell requests apart",
    ),
    "preset of no stream": (
        ["run", "--slo", "mlperf:mixtral:server", URL],
        "ttft p99 <= 2s (mlperf:mixtral:server): no response is a stream",
    ),
    "vllm and dify": (
        ["run", "--stream", "dify", "--alias", "vllm", URL],
        "--alias vllm does not fit a stream of dify: the tool measures streams of openai only",
    ),
    "inference-perf and dify": (
        ["run", "--stream", "dify", "--alias", "inference-perf", URL],
        "the tool measures streams of openai, anthropic only",
    ),
    "alias from when it was due": (
        ["run", "--stream", "openai", "--alias", "vllm", "--from", "intended", URL],
        "--alias and --from intended are both given: those tools measure from the moment",
    ),
    "once and turns": (
        ["run", "--once", "--chat", "dify", "--prompt", "hi", "--turns", "2", URL],
        "--turns and --once are both given",
    ),
    "alias of nothing": (["run", "--alias", "aiperf", URL], "--alias needs --stream"),
    "tokenizer of nothing": (["run", "--tokenizer", __file__, URL], "--tokenizer needs --stream"),
    "tokenizer nowhere": (
        ["run", "--stream", "openai", "--tokenizer", "no.json", URL],
        "--tokenizer: no.json: No such file or directory",
    ),
    "tokenizer that is none": (
        ["run", "--stream", "openai", "--tokenizer", __file__, URL],
        "test_bad_input.py: not a tokenizer: ",
    ),
    "metric of streams": (
        ["run", "--slo", "ttft p95 < 1s", URL],
        "ttft p95 < 1s: no response is a stream, and only streams have ttft",
    ),
    "metric of HTTP/2": (
        ["run", "--slo", "stream_wait p99 < 1ms", URL],
        "stream_wait p99 < 1ms: only HTTP/2 has stream_wait",
    ),
    "metric of bodies": (
        ["run", "--http", "2c", "--slo", "window_wait p99 < 1ms", URL],
        "window_wait p99 < 1ms: only requests with a body have window_wait",
    ),
    "metric of messages": (
        ["run", "--slo", "message p99 < 1ms", URL],
        "message p99 < 1ms: only gRPC calls whose messages alternate or are paced have message",
    ),
    "metric of TLS": (
        ["run", "--abort-on", "tls p99 > 1s", URL],
        "tls p99 > 1s: only https:// and wss:// URLs have tls",
    ),
    "goodput of nothing": (
        ["run", "--stream", "sse", "--slo", "goodput > 99%", "--slo", "success > 9%", URL],
        "goodput > 99% needs an SLO of latency, which defines a good response",
    ),
    "good streams of nothing": (
        ["ladder", "--stream", "sse", "--abort-on", "good/s < 5", URL],
        "good/s < 5 needs an SLO of latency, which defines a good response",
    ),
    "request without a name": (
        ["run", "--slo", "login: p50 < 5ms", URL],
        "'login: p50 < 5ms': no request is named 'login'",
    ),
    "unknown output": (["run", "-o", "xml", URL], "-o/--output: 'xml' is not"),
    "--json": (["run", "--json", URL], "there is no option '--json'\nhint: write -o json"),
    "unknown flag": (["run", "--nonsense", URL], "No such option '--nonsense'"),
    "unknown command": (["walk"], "No such command 'walk'"),
    "verbose alone": (["run", "-v", URL], "-v/--verbose needs --once"),
    "once and an SLO": (
        ["run", "--once", "--slo", "p95 < 1s", URL],
        "--slo cannot be used with --once",
    ),
    "once and a rate": (["run", "--once", "--rate", "5", URL], "--rate cannot be used with --once"),
    "once and -c": (
        ["run", "-c", "50", "--once", URL],
        "-c/--connections cannot be used with --once",
    ),
    "name with a slash": (["run", "-n", "a/b", URL], "-n/--name 'a/b' cannot name files"),
    "log in nowhere": (
        ["run", "--log", "none/x.csv", URL],
        "--log none/x.csv: none does not exist",
    ),
    "log a directory": (["run", "--log", ".", URL], "--log .: is a directory"),
    "diff of nothing": (["diff", "none.dat", "none.dat"], "none.dat cannot be read"),
    "fault unknown": (["target", "faulty", "--fault", "x"], "--fault 'x' is not a fault"),
    "fault missing": (["target", "faulty"], "--fault is missing"),
    "share over 1": (["target", "faulty", "--share", "2"], "--share: '2' is not a share"),
    "size": (["target", "bytes", "--size", "2000000GiB"], "--size: '2000000GiB' is too large"),
    "target port": (["target", "hello", "--port", "70000"], "--port: '70000' is not between"),
    "bimodal": (["target", "delay", "--bimodal", "1ms"], "--bimodal: '1ms' is not FAST,SLOW,SHARE"),
    "two delays": (["target", "delay", "--delay", "1ms", "--heavy", "1ms,1"], "exclude each other"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_named_and_nothing_is_written(name, torr, fake, tmp_path):
    arguments, says = BAD[name]
    ended = torr(*arguments)
    assert ended.code == 2
    assert says in ended.err
    assert ended.err.startswith("torr: ")
    assert len(ended.err.strip().splitlines()) <= 2
    assert ended.out == ""
    assert list(tmp_path.iterdir()) == []
    assert fake.loads == []


def test_an_output_directory_that_is_a_file_is_refused_before_any_load(torr, fake, tmp_path):
    (tmp_path / "results").write_text("mine")
    ended = torr("run", "-d", "results", URL)
    assert ended.code == 2
    assert "-d/--dir results: is a file" in ended.err
    assert (tmp_path / "results").read_text() == "mine"
    assert fake.loads == []


def test_a_log_that_cannot_be_written_is_refused(torr, fake, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda _path, _mode: False)
    ended = torr("run", "--log", "x.csv", URL)
    assert ended.code == 2
    assert "--log x.csv: cannot be written" in ended.err
    assert list(tmp_path.iterdir()) == []
    assert fake.loads == []


def test_a_broken_line_of_a_dat_file_is_named_with_its_number(torr, tmp_path):
    (tmp_path / "a.dat").write_text("200 1000 5.0 100\n500 many 5.0 100\n")
    ended = torr("diff", "a.dat", "a.dat")
    assert ended.code == 2
    assert "a.dat:2" in ended.err
    assert len(list(tmp_path.iterdir())) == 1


def test_ladders_without_a_common_level_have_no_diff(torr, tmp_path):
    (tmp_path / "a.dat").write_text("200 1000 5.0 100\n")
    (tmp_path / "b.dat").write_text("500 1000 5.0 100\n")
    ended = torr("diff", "a.dat", "b.dat")
    assert ended.code == 2
    assert "no level in common" in ended.err
    assert len(list(tmp_path.iterdir())) == 2


def test_a_host_that_the_engine_does_not_know_leaves_no_directory(torr, monkeypatch, tmp_path):
    from torr.errors import UsageError

    def refuse(_plan):
        raise UsageError("nohost.invalid cannot be resolved")

    monkeypatch.setattr("torr.engine.start", refuse)
    ended = torr("run", "http://nohost.invalid/")
    assert ended.code == 2
    assert "nohost.invalid cannot be resolved" in ended.err
    assert list((tmp_path / "_output" / "torr").iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["-c", "5G"], "hint: write 500, 10k or 1M"),
        (["-c", "5000M"], "hint: the maximum is 4,294,967,295"),
        (["--requests", "9" * 20], "hint: the maximum is 1,000,000,000,000,000,000"),
        (["--workers", "5k"], "hint: the maximum is 4,096"),
        (["-z", "87601h"], "hint: the maximum is 87600h, ten years"),
        (["--rate", "2000M"], "hint: the maximum is 10,000,000 per second"),
    ],
)
def test_a_number_out_of_range_is_told_the_largest_one(torr, arguments, says):
    ended = torr("run", *arguments, URL)
    assert ended.code == 2
    assert says in ended.err


@pytest.mark.parametrize(
    ("verb", "usage"), [([], "torr COMMAND"), (["target"], "torr target COMM")]
)
def test_no_command_gets_the_help_as_it_is(torr, verb, usage):
    ended = torr(*verb)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith(f"Usage: {usage}")
    assert ended.err == torr(*verb, "--help").out
    assert "hint" not in ended.err


def test_a_file_in_a_folder_that_is_read_only_is_refused(torr, fake, monkeypatch):
    monkeypatch.setattr(os, "access", lambda _path, _mode: False)
    ended = torr("run", "--junit", "ci.xml", URL)
    assert ended.code == 2
    assert "--junit: ci.xml: cannot be written: . is read-only" in ended.err
    assert not fake.loads
