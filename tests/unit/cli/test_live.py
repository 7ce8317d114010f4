"""`--live` around a run, with a fake engine behind it and a real server before it."""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
import sys
import textwrap
import threading

import pytest

from doubles import Truth
from events import Events, ask, token_of
from installed import free_port
from page import Page
from torr.errors import OutputError

URL = "http://127.0.0.1:9/"
TOKEN = "a-token-of-the-test"  # noqa: S105


@pytest.fixture
def port():
    return free_port()


@pytest.fixture
def live(torr, port, monkeypatch):
    """Call a verb with its live page at a known place."""

    def call(verb, *arguments):
        return torr(verb, "--live", "--live-port", f"{port}", *arguments, URL)

    monkeypatch.setattr("torr.webserver.access.secrets.token_urlsafe", lambda _length: TOKEN)
    call.url = f"http://127.0.0.1:{port}/?token={TOKEN}"
    return call


def result_of(tmp_path):
    return json.loads((tmp_path / "_output/torr/latest/result.json").read_text())


def during(fake, number, work):
    """Do something while interval `number` is measured; what it gave."""
    found = []

    def on_interval(current):
        if current == number and not found:
            found.append(work())

    fake.on_interval = on_interval
    return found


def test_the_url_is_on_stderr_and_stdout_has_json_alone(live, fake):
    fake.interval_count = 3
    ended = live("run", "-o", "json")
    assert ended.code == 0
    assert json.loads(ended.out)["status"] == "complete"
    assert ended.err.splitlines()[0] == f"live    {live.url}"


def test_a_run_is_seen_while_it_goes_on_and_not_after(live, fake):
    seen = during(fake, 3, lambda: (ask(live.url)[0], ask(live.url, "/metrics")[2]))
    assert live("run").code == 0
    ((status, numbers),) = seen
    assert status == 200
    assert 'torr_ok_total{phase="measure"} 2000' in numbers
    with pytest.raises(ConnectionRefusedError):
        ask(live.url)


@pytest.mark.parametrize(("flags", "lang"), [(("--lang", "zh"), "zh"), ((), None)])
def test_the_page_opens_in_the_language_asked_for(live, fake, flags, lang):
    seen = during(fake, 2, lambda: Page(ask(live.url)[2]).data["lang"])
    assert live("run", *flags).code == 0
    assert seen == [lang]


def test_stop_ends_it_as_ctrl_c_does_with_its_results_kept(live, fake, tmp_path):
    def stop():
        token = token_of(live.url)
        return ask(live.url, "/stop", "POST", authorization=f"Bearer {token}")[0]

    seen = during(fake, 2, stop)
    ended = live("ladder", "--levels", "1,2,4")
    assert seen == [202]
    assert ended.code == 130
    assert "has the results of 1 level" in ended.err
    assert fake.concurrencies == [1]
    found = result_of(tmp_path)
    assert (found["status"], found["levels"][0]["interrupted"]) == ("interrupted", True)


@pytest.mark.parametrize(
    ("truth", "flags", "how"),
    [
        (Truth(), (), (0, "complete")),
        (Truth(), ("--slo", "p95 < 1ns"), (1, "complete")),
        (Truth(0, failure="no response"), (), (3, "failed")),
    ],
)
def test_an_open_page_gets_the_end_however_it_ends(live, fake, truth, flags, how):
    fake.curve = lambda _users: truth
    ends = []

    def reader():
        events = Events(live.url)
        thread = threading.Thread(target=read_on, args=(events,))
        thread.start()
        return thread

    def read_on(events):
        with events:
            ends.append(events.until("end"))
            ends.append(events.rest())

    seen = during(fake, 1, reader)
    ended = live("run", *flags)
    (thread,) = seen
    thread.join(timeout=60)
    assert (ended.code, ends[0]["result"]["status"]) == how
    assert ends[0]["view"]["sentence"]
    assert ends[1] == []


@pytest.mark.usefixtures("fake")
def test_a_page_that_stays_for_a_time_ends_by_itself(live):
    ended = live("run", "--live-stay", "100ms")
    assert ended.code == 0
    assert "until Ctrl-C" in ended.err


def test_a_page_that_was_stopped_does_not_stay(live, fake):
    def stop():
        return ask(live.url, "/stop", "POST", x_torr_token=token_of(live.url))[0]

    during(fake, 2, stop)
    ended = live("run", "--live-stay", "1h")
    assert ended.code == 130
    assert "until Ctrl-C" not in ended.err


@pytest.mark.parametrize(
    ("flag", "value"), [("--live-port", "1"), ("--live-host", "::"), ("--live-stay", "1s")]
)
def test_details_without_a_page_are_refused(torr, fake, tmp_path, flag, value):
    ended = torr("run", flag, value, URL)
    assert ended.code == 2
    assert f"{flag} is given without --live\nhint: torr … --live {flag}" in ended.err
    assert not fake.loads
    assert not (tmp_path / "_output").exists()


def test_a_taken_port_is_told_before_anything_is_written(live, fake, port, tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", port))
        taken.listen()
        ended = live("run")
    assert ended.code == 2
    assert f"--live-port {port}: cannot be listened on: Address already in use" in ended.err
    assert not fake.loads
    assert not (tmp_path / "_output").exists()


def test_a_page_that_was_not_built_is_told_before_anything_is_sent(
    live, fake, tmp_path, monkeypatch
):
    def unbuilt(_data):
        raise OutputError("the page is not built", "run `make build`")

    monkeypatch.setattr("torr.webserver.live.live.document", unbuilt)
    ended = live("run")
    assert (ended.code, ended.err) == (2, "torr: the page is not built\nhint: run `make build`\n")
    assert not fake.loads
    assert list((tmp_path / "_output/torr").iterdir()) == []


@pytest.mark.parametrize("verb", ["run", "ladder"])
def test_a_run_whose_directory_is_removed_ends_with_a_message_and_prints_its_result(
    live, fake, tmp_path, verb
):
    during(fake, 2, lambda: shutil.rmtree(tmp_path / "_output"))
    ended = live(verb)
    assert ended.code == 2
    assert "Traceback" not in ended.err
    told = r"^torr: _output/torr/\S+: the directory was removed before the run ended\nhint: run it "
    assert re.search(told, ended.err, re.MULTILINE)
    assert "Answers 1,000 requests/s" in ended.out


def test_a_result_that_cannot_be_saved_is_printed_as_json(torr, fake, tmp_path):
    during(fake, 2, lambda: shutil.rmtree(tmp_path / "_output"))
    ended = torr("run", "-o", "json", URL)
    (level,) = json.loads(ended.out)["levels"]
    assert (ended.code, level["concurrency"], level["intervals"]) == (2, 50, [])


def test_tokens_and_secrets_are_in_no_file_and_no_answer(live, fake, tmp_path, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "step.md"))
    secrets = ["hush-1", "hush-2", "hush-3"]
    echo = {"class": "status", "detail": "", "head": "Cookie: a=hush-2", "body": "Bearer hush-1"}
    fake.curve = lambda _users: Truth(errors={"status": 3}, samples=(echo,))
    told = []

    def look():
        with Events(live.url) as events:
            told.extend(json.dumps(event) for event in (events.next(), events.next()))
        told.append(ask(live.url, "/metrics")[2])
        told.append(ask(live.url)[2])

    during(fake, 3, look)
    headers = ["Authorization: Bearer hush-1", "Cookie: a=hush-2", "X-Token: hush-3"]
    flags = [word for header in headers for word in ("-H", header)]
    ended = live("run", *flags, "--junit", "ci.xml")
    texts = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    # The URL with the token is printed for the person who started the run, once.
    said = ended.err.replace(f"live    {live.url}\n", "", 1)
    everything = b"\n".join([*texts, "\n".join([ended.out, said, *told]).encode()])
    assert len(texts) > 6
    assert [secret for secret in secrets if secret.encode() in everything] == []
    assert TOKEN.encode() not in everything


def test_without_the_flag_nothing_of_it_is_imported(tmp_path):
    code = """
        import sys
        from doubles import FakeEngine
        import torr.engine
        torr.engine.start = FakeEngine().start
        from torr.cli.main import main
        sys.argv = ["torr", "run", "-q", "--no-store", "http://127.0.0.1:9/"]
        try:
            main()
        except SystemExit as ended:
            assert not ended.code
        names = ("starlette", "uvicorn", "asyncio", "h11", "torr.webserver.live")
        print(*[n for n in sys.modules if n.startswith(names)], file=sys.stderr)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        env={"PYTHONPATH": ":".join(path for path in sys.path if path), "PATH": "/usr/bin:/bin"},
    )
    assert done.stderr.split() == []
