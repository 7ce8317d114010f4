"""`torr serve` from outside: started, read, ended."""

from __future__ import annotations

import os
import signal

import pytest

from events import ask
from installed import wait_until
from tiers import full
from torr.store.runs.database_url import DatabaseUrl
from torr.store.runs.store import Store

LEVEL = ("-c", "2", "--requests", "20", "--warmup", "0s", "-n", "api")


@pytest.fixture(autouse=True)
def _empty_store(own_store):
    """Make a store that only this test uses."""
    with Store.open(DatabaseUrl(f"sqlite:///{own_store}"), create=True):
        pass


@pytest.mark.parametrize("number", [signal.SIGTERM, *full(signal.SIGINT)])
def test_it_serves_what_is_kept_until_it_is_told_to_end(torr, start, steady, number):
    assert torr("run", *LEVEL, steady.url).code == 0
    # With an environment, the installed program starts, which has imported nothing before.
    process = start("serve", "--port", "0", env=dict(os.environ))
    place, url = process.stdout.readline().split()
    assert place == "serve"
    assert process.stdout.readline().endswith("1 run; Ctrl-C ends it\n")
    assert "torr-data" in ask(url)[2]
    assert torr("run", *LEVEL, steady.url).code == 0
    assert '"id":2' in ask(url)[2]
    process.send_signal(number)
    assert process.wait(timeout=120) == 0
    assert process.stderr.read() == ""


def test_it_ends_by_itself_when_asked_to(torr):
    ended = torr("serve", "--port", "0", "--for", "100ms")
    assert (ended.code, ended.err) == (0, "")
    assert "0 runs" in ended.out


def test_others_need_the_token_which_leaves_the_address(start):
    process = start("serve", "--port", "0", "--host", "0.0.0.0")  # noqa: S104 - of a namespace
    url = process.stdout.readline().split()[1]
    path, token = url.rsplit("/", 1)[1], url.rpartition("=")[2]
    here = f"http://127.0.0.1:{url.split(':')[2].split('/')[0]}"
    wait_until(lambda: ask(here)[0] == 401)
    status, headers, _ = ask(here, f"/trend?name=api&{path.lstrip('?')}")
    assert (status, headers["location"]) == (303, "/trend?name=api")
    cookie = headers["set-cookie"].partition(";")[0]
    assert ask(here, "/", cookie=cookie)[0] == 200
    assert ask(here, "/", authorization=f"Bearer {token}")[0] == 200
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=120) == 0


def test_a_store_that_is_none_is_said(torr, tmp_path):
    (tmp_path / "runs.db").write_text("no database")
    ended = torr("serve", env={"TORR_STORE": f"sqlite:///{tmp_path}/runs.db", "PATH": "/usr/bin"})
    assert ended.code == 2
    assert "is not a store of torr" in ended.err


def test_a_port_that_is_taken_is_said_where_it_was_asked_for(torr, start):
    process = start("serve", "--port", "0", "--for", "60s")
    port = process.stdout.readline().rpartition(":")[2].strip("/\n")
    ended = torr("serve", "--port", port, "--for", "100ms")
    assert ended.code == 2
    assert f"--host 127.0.0.1 --port {port}: cannot be listened on" in ended.err
