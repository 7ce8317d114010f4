"""`torr run` with a fake engine: what it plans, prints, keeps, and how it ends."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
import textwrap

import pytest

from doubles import Truth, level_of, press_at
from torr.model.transport import Transport
from written import files_with

URL = "http://127.0.0.1:9/x"

pytestmark = pytest.mark.usefixtures("fake")


def plan_of(fake):
    return json.loads(fake.loads[0].plan.to_text())


def request_of(fake):
    return plan_of(fake)["groups"][0]["source"]["request"]


def test_the_verdict_comes_first_then_the_numbers(torr):
    ended = torr("run", URL)
    assert ended.code == 0
    assert ended.out.startswith("Answers 1,000 requests/s over 50 connections")
    for words in ("p99", "200 × 10,000", "success 100 %", "healthy", "report.html"):
        assert words in ended.out
    assert "\x1b" not in ended.out
    assert ended.err == ""


def test_quiet_prints_the_verdict_alone(torr):
    assert len(torr("run", "-q", URL).out.splitlines()) == 1


def test_json_output_is_result_json_and_nothing_else(torr, tmp_path):
    ended = torr("run", "-o", "json", URL)
    assert ended.code == 0
    assert ended.err == ""
    kept = tmp_path / "_output" / "torr" / "latest" / "result.json"
    assert json.loads(ended.out) == json.loads(kept.read_text())


def test_the_defaults_are_those_of_the_help(torr, fake):
    torr("run", URL)
    plan = plan_of(fake)
    assert plan["groups"][0]["pace"] == {"kind": "closed", "users": 50}
    assert plan["stop"] == {"kind": "duration", "duration_ns": 10_000_000_000}
    assert plan["warmup_ns"] == 2_000_000_000
    assert plan["drain_ns"] == 30_000_000_000
    assert plan["retry_delay_ns"] == 100_000_000
    assert plan["transport"] == Transport().as_json()
    assert plan["log"] is None
    assert plan["processes"] == "auto"
    names = [name for name, _ in request_of(fake)["headers"]]
    assert names == ["user-agent", "accept"]


def test_flags_reach_the_plan(torr, fake):
    flags = ["-c", "7", "--requests", "9", "--warmup", "0s", "--timeout", "3s", "--seed", "5"]
    torr(
        "run",
        *flags,
        "--workers",
        "3",
        "--processes",
        "2",
        "--no-keepalive",
        "--retry-delay",
        "1ms",
        URL,
    )
    plan = plan_of(fake)
    assert plan["groups"][0]["pace"]["users"] == 7
    assert plan["stop"] == {"kind": "requests", "requests": 9}
    assert (plan["warmup_ns"], plan["drain_ns"]) == (0, 3_000_000_000)
    assert (plan["seed"], plan["workers"], plan["retry_delay_ns"]) == (5, 3, 1_000_000)
    assert plan["processes"] == 2
    assert plan["transport"] == Transport(keepalive=False).as_json()


def test_counts_take_k_and_m_as_rates_do(torr, fake):
    torr("run", "-c", "10k", "--requests", "1.5M", URL)
    plan = plan_of(fake)
    assert plan["groups"][0]["pace"]["users"] == 10_000
    assert plan["stop"]["requests"] == 1_500_000


def test_a_rate_makes_an_open_pace_over_a_hundred_connections(torr, fake):
    torr("run", "--rate", "5k", "--arrivals", "poisson", "--max-in-flight", "9", URL)
    assert plan_of(fake)["groups"][0]["pace"] == {
        "kind": "poisson",
        "rate_per_s": 5000.0,
        "connections": 100,
        "max_in_flight": 9,
    }


def test_a_body_makes_a_post_and_a_json_body_says_so(torr, fake):
    torr("run", "--json-body", '{"n": 1}', URL)
    request = request_of(fake)
    assert request["method"] == "POST"
    assert ["content-type", "application/json"] in request["headers"]
    assert base64.b64decode(request["body"]) == b'{"n": 1}'


def test_a_body_is_read_from_a_file_as_it_is(torr, fake, tmp_path):
    (tmp_path / "body").write_bytes(b"\x00\xffbytes\n")
    torr("run", "-m", "PUT", "-b", "@body", URL)
    request = request_of(fake)
    assert request["method"] == "PUT"
    assert base64.b64decode(request["body"]) == b"\x00\xffbytes\n"


def test_a_local_target_gets_half_of_the_cores(torr, fake, monkeypatch):
    monkeypatch.setattr("torr.planning.plan.allowed_cores", lambda: 8)
    torr("run", URL)
    torr("run", "http://192.0.2.1/")
    assert [load.plan.workers for load in fake.loads] == [4, 8]


def test_secrets_are_not_kept(torr, fake, tmp_path):
    secrets = ["-H", "Authorization: Bearer hush", "-H", "Cookie: a=hush", "-b", "password=hush"]
    torr("run", *secrets, "http://ann:hush@127.0.0.1:9/?token=hush")
    assert "hush" in fake.loads[0].plan.to_text()
    assert files_with(tmp_path, "hush") == []


def test_a_broken_slo_ends_with_1(torr):
    ended = torr("run", "--slo", "p95 < 1ms", "--slo", "success >= 99%", URL)
    assert ended.code == 1
    assert "SLO broken: p95 < 1ms" in ended.err
    assert "broken" in ended.out
    assert "held" in ended.out


def test_slos_that_hold_end_with_0(torr):
    assert torr("run", "--slo", "p95 < 1s", "--slo", "success >= 99%", URL).code == 0


def test_an_slo_that_is_written_in_several_ways_is_judged_once(torr, tmp_path):
    slos = ("lag p95 < 100ms", "scheduling_lag p95<100ms", "scheduling_lag p95 < 0.1s")
    torr("run", *(part for slo in slos for part in ("--slo", slo)), URL)
    result = json.loads((tmp_path / "_output/torr/latest/result.json").read_text())
    assert result["experiment"]["slos"] == ["scheduling_lag p95 < 100ms"]
    (verdict,) = result["verdicts"]
    assert verdict["condition"] == "scheduling_lag p95 < 100ms"
    assert verdict["metric"] == "scheduling_lag p95"


def test_a_limited_generator_ends_with_4_when_strict(torr, fake):
    fake.curve = lambda _users: Truth(health="generator-limited")
    assert torr("run", URL).code == 0
    ended = torr("run", "--strict", "--slo", "p95 < 1ms", URL)
    assert ended.code == 4
    assert "the generator was the limit at 50 connections" in ended.err


def test_an_slo_does_not_pass_when_every_request_fails(torr, fake):
    fake.curve = lambda _users: Truth(0, errors={"status": 1000})
    ended = torr("run", "--slo", "p95 < 500ms", URL)
    assert ended.code == 1
    assert "SLO broken: p95 < 500ms (no request succeeded)" in ended.err
    assert ended.out.startswith("No request succeeded: 1,000 failed")


def test_an_slo_does_not_pass_where_the_generator_was_the_limit_at_every_level(torr, fake):
    fake.curve = lambda _users: Truth(health="generator-limited")
    ended = torr("run", "--slo", "p95 < 1s", URL)
    assert ended.code == 1
    assert "SLO p95 < 1s: not shown: the generator was the limit" in ended.err


def test_an_slo_on_too_few_attempts_passes_only_where_that_is_allowed(torr, fake):
    fake.curve = lambda _users: Truth(ok_per_s=1)
    call = ("run", "-q", "--slo", "success >= 99.9%", URL)
    why = (
        "SLO not shown: success >= 99.9% (no error in 10 attempts is not enough: "
        "3,000 are needed): neither held nor broken\n"
    )
    ended = torr(*call)
    assert ended.code == 1
    assert ended.err.startswith(f"torr: {why}hint: measure more")
    ended = torr(*call, "--allow-not-shown")
    assert (ended.code, ended.err) == (0, f"note: {why}")


def test_a_run_in_which_nothing_succeeded_has_measured_nothing(torr, fake):
    fake.curve = lambda _users: Truth(0, errors={"status": 1000})
    ended = torr("run", URL)
    assert ended.code == 3
    assert "no request succeeded: tried GET" in ended.err


def test_without_times_there_is_no_empty_table(torr, fake):
    fake.curve = lambda _users: Truth(0, errors={"status": 1000})
    out = torr("run", URL).out
    assert "\n\nthroughput" in out
    assert "\n\n\n" not in out


def test_an_slo_that_is_not_shown_does_not_pass_while_attempts_fail(torr, fake):
    fake.curve = lambda _users: Truth(ok_per_s=1, errors={"status": 1})
    ended = torr("run", "-q", "--slo", "success >= 80%", "--slo", "p99.99 < 1s", URL)
    assert ended.code == 1
    assert "SLO not shown: p99.99 < 1s (" in ended.err
    assert "and 1 of 11 attempts failed" in ended.err


def test_no_answer_ends_with_3_and_what_was_tried(torr, fake, tmp_path):
    fake.curve = lambda _users: Truth(
        0, errors={"connect": 7}, failure="no response byte within 31 s"
    )
    ended = torr("run", URL)
    assert ended.code == 3
    assert "no response byte within 31 s" in ended.err
    assert "tried GET http://127.0.0.1:9/x 7 times over 50 connections" in ended.err
    kept = json.loads((tmp_path / "_output/torr/latest/result.json").read_text())
    assert kept["status"] == "failed"
    (folder,) = (tmp_path / "_output/torr").glob("apiserver-*")
    assert ended.err.splitlines()[0].endswith(f"; see {folder.relative_to(tmp_path)}")


def unanswered(fake, monkeypatch, **parts):
    """A first level without a response, with these parts."""
    monkeypatch.setattr("doubles.level_of", lambda *a, **k: {**level_of(*a, **k), **parts})
    fake.curve = lambda _users: Truth(0, failure="no byte of a response came in the whole level")


def test_no_answer_counts_the_warm_up_and_says_that_it_hung(torr, fake, monkeypatch):
    hung = {"attempted": 5, "errors": {"timeout": 5}, "in_flight": 0}
    unanswered(fake, monkeypatch, warmup={"seconds": 2.0, "counts": hung, "latency": {}})
    err = torr("run", "-c", "5", URL).err
    assert "tried GET http://127.0.0.1:9/x 5 times over 5 connections" in err
    assert "5 of them in the warm-up; in the warm-up timeout × 5; 5 hung; see " in err
    assert "\nhint: The server is overloaded or hangs. Try a single request: `torr run" in err


def test_no_answer_over_connections_that_were_not_accepted_says_so(torr, fake, monkeypatch):
    never = {"planned": 5, "attempted": 5, "in_flight": 5}
    connections = {"requested": 5, "open_max": 0, "opened": 0}
    unanswered(fake, monkeypatch, counts=never, connections=connections)
    err = torr("run", "-c", "5", URL).err
    assert "5 times over 5 connections; no connection was opened; see " in err
    assert "\nhint: SYN packets are dropped, by a full accept queue (`somaxconn`, the" in err


def test_no_answer_gives_its_reason_in_words_and_what_to_try(torr, fake, monkeypatch):
    unanswered(fake, monkeypatch, reasons={"tls.authority_as_server": 19, "read.reset": 1})
    err = torr("run", URL).err
    assert "tls.authority_as_server × 19 (the server presents the certificate of an author" in err
    assert "\nhint: Usually the certificate is self-signed by `openssl req -x509`." in err


def test_no_answer_of_a_missing_socket_says_that_it_is_missing(torr, fake, monkeypatch):
    unanswered(fake, monkeypatch, reasons={"connect.refused": 50})
    err = torr("run", "unix:/nonesuch/app.sock:/healthz?a=1").err
    assert "tried GET unix:/nonesuch/app.sock:/healthz?a=1 0 times" in err
    assert "connect.refused × 50 (/nonesuch/app.sock does not exist)" in err
    assert "hint: start the server first" in err


def test_one_interrupt_keeps_and_reports(torr, fake, tmp_path):
    fake.on_interval = press_at(2)
    ended = torr("run", URL)
    assert ended.code == 130
    assert ended.out.startswith("Claims nothing: the level was cut short.\n")
    assert "has the results of 1 level" in ended.err
    assert (
        json.loads((tmp_path / "_output/torr/latest/result.json").read_text())["status"]
        == "interrupted"
    )


def test_an_interrupt_in_the_warm_up_says_no_more_than_that_nothing_was_measured(torr, fake):
    fake.curve = lambda _users: Truth(0)
    fake.on_interval = press_at(0)
    ended = torr("run", URL)
    assert ended.code == 130
    assert ended.out.startswith("Nothing was measured.\nInterrupted before the window.\n\nreport  ")
    assert "ealthy" not in ended.out
    assert "interrupted before the window: nothing was measured; the files are in " in ended.err


def test_two_interrupts_keep_and_draw_nothing(torr, fake, tmp_path):
    fake.on_interval = press_at(2, times=2)
    assert torr("run", URL).code == 130
    assert fake.loads[0].aborted
    latest = tmp_path / "_output/torr/latest"
    assert (latest / "result.json").exists()
    assert not (latest / "report.html").exists()


def test_an_abort_condition_that_fires_is_in_the_verdict_and_ends_with_1(torr, fake):
    fake.interval_count = 50
    ended = torr("run", "-q", "--slo", "p95 < 1s", "--abort-on", "p95 > 1ms", URL)
    assert ended.code == 1
    assert ended.out.endswith("; ended early by --abort-on 'p95 > 1ms'.\n")
    assert len(ended.out.splitlines()) == 1
    assert "torr: ended early by --abort-on 'p95 > 1ms'\n" in ended.err


def test_an_abort_condition_that_does_not_fire_changes_nothing(torr):
    ended = torr("run", "-q", "--abort-on", "p95 > 1s", URL)
    assert (ended.code, ended.err) == (0, "")
    assert "ended early" not in ended.out


FAKE_MODULE = textwrap.dedent(
    """
    import json, sys, types
    from doubles import FakeEngine
    engine = FakeEngine()
    seen = []

    class Run:
        def __init__(self, plan_json, child, rows):
            from torr.model.pace import Closed
            from torr.model.plan import Duration, Group, Plan
            from torr.units import SECOND_NS
            from torr.model.request import Request
            from torr.model.source import Source
            group = Group(pace=Closed(5), source=Source.of(Request("http://127.0.0.1/")))
            self.load = engine.start(Plan(groups=(group,), stop=Duration(SECOND_NS)))
            for name in ("next_interval", "done", "stop", "abort"):
                setattr(self, name, getattr(self.load, name))
        def level(self):
            seen.extend(sys.modules)
            return self.load.level()

    module = types.ModuleType("torr._engine")
    module.Run = Run
    sys.modules["torr._engine"] = module
    import torr
    torr._engine = module
    from torr.cli.main import main
    try:
        main(["run", "-q", "-o", "json", "--slo", "p95 < 1s", "http://127.0.0.1/"])
    except SystemExit as ended:
        assert ended.code in (None, 0), ended.code
    heavy = {"numpy", "scipy", "matplotlib", "rich", "sqlalchemy"}
    print(sorted(heavy & {name.partition(".")[0] for name in seen}), file=sys.stderr)
    print(len(seen) > 50, file=sys.stderr)
    """
)


def test_nothing_heavy_is_imported_before_the_load_is_over(tmp_path):
    paths = [path for path in sys.path if path]
    ended = subprocess.run(
        [sys.executable, "-c", FAKE_MODULE],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        env={"PYTHONPATH": ":".join(paths), "PATH": "/usr/bin:/bin", "TORR_STORE": "none"},
    )
    assert ended.stderr.splitlines() == ["[]", "True"]


def test_the_help_of_torr_reads_no_options():
    code = (
        "import sys\nfrom torr.cli.main import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "print(*[n for n in sys.modules if n.startswith(('torr.options', 'torr.planning'))])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": ":".join(filter(None, sys.path)), "PATH": "/usr/bin:/bin"},
    )
    assert "Usage: torr COMMAND" in done.stdout
    assert done.stdout.splitlines()[-1] == ""


@pytest.mark.parametrize("verb", [[], ["run"], ["ladder"], ["diff"], ["target", "delay"]])
def test_help_fits_a_screen_and_has_examples(torr, verb):
    ended = torr(*verb, "--help")
    lines = ended.out.splitlines()
    assert ended.code == 0
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80
    assert "Examples:" in lines
    assert ended.err == ""


@pytest.mark.parametrize("verb", ["run", "ladder"])
def test_all_help_has_the_flags_that_help_only_counts(torr, verb):
    short, whole = torr(verb, "--help").out, torr(verb, "--help-all").out
    assert "--cacert" in whole
    assert "--cacert" not in short
    missing = [line for line in whole.splitlines() if line.startswith("  -")]
    missing = len(missing) - len([x for x in short.splitlines() if x.startswith("  -")])
    assert f"torr {verb} --help-all: {missing} more" in short
    assert max(map(len, whole.splitlines())) <= 88


def test_the_flags_of_a_connection_reach_the_plan(torr, fake):
    flags = ("--requests-per-connection", "9", "--connections-per-second", "1k", "--insecure")
    addresses = ("--source-address", "127.0.0.2", "--source-address", "127.0.0.3")
    assert torr("run", *flags, *addresses, "--no-tls-resumption", URL).code == 0
    assert plan_of(fake)["transport"] == {
        "keepalive": True,
        "requests_per_connection": 9,
        "connections_per_second": 1000.0,
        "source_addresses": ["127.0.0.2", "127.0.0.3"],
        "tls": {
            "insecure": True,
            "ca": None,
            "certificate": None,
            "key": None,
            "resumption": False,
        },
    }


def test_expected_statuses_and_a_user_reach_the_request(torr, fake):
    ended = torr("run", "--expect-status", "2xx, 404,300-302", "--basic-auth", "ann:a:b", URL)
    assert ended.code == 0
    request = request_of(fake)
    assert request["accept_statuses"] == [[200, 299], [404, 404], [300, 302]]
    assert ["authorization", "Basic YW5uOmE6Yg=="] in request["headers"]


@pytest.mark.parametrize(
    ("slo", "is_noted"),
    [("p95 > 1ms", True), ("errors >= 1%", True), ("p95 < 1s", False), ("ok/s > 1", False)],
)
def test_an_slo_that_slow_or_failed_responses_hold_gets_a_note(torr, slo, is_noted):
    ended = torr("run", "-q", "--slo", slo, URL)
    note = f"note: SLO {slo} is held by high values: write < to require low ones\n"
    assert (note in ended.err) == is_noted
