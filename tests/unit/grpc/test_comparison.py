"""A candidate of a comparison that is called: when it is ready, and its first response."""

from __future__ import annotations

import socket
import time
from types import SimpleNamespace

import pytest

from torr.experiments.trial import _answered
from torr.grpc.framing import framed
from torr.model.grpc import GrpcCall
from torr.model.pace import Closed
from torr.model.plan import Count, Group, Plan
from torr.model.request import Request
from torr.model.source import Source
from torr.results.exchange import Exchange, ResponseHead
from torr.servers.command import Command
from torr.servers.failure import TrialError
from torr.servers.readiness import _await_health
from torr.sources.matrix_file import read_matrix_file

MATRIX = """\
baseline = "one"
%s
[[candidates]]
name = "one"
command = ["no-such-server", "{port}"]
url = "http://127.0.0.1:{port}"
%s
"""


def server(command):
    """A server that runs, with an empty log."""
    return SimpleNamespace(
        command=command,
        started=time.monotonic(),
        check=lambda: None,
        wait=lambda _seconds: True,
        log_tail=tuple,
    )


@pytest.fixture
def answered(monkeypatch):
    """Return the first response to a load of two calls, of an engine that answers like this."""

    def first(code, body=b""):
        def once(plan):
            assert [request.name for request in plan.requests] == ["a"]
            fields = [] if code is None else [("grpc-status", code), ("grpc-message", "why")]
            head = ResponseHead(version="2", status=200, fields=[("Content-Type", "x")])
            return Exchange(error_class="ok", head=head, trailers=fields, body=body)

        monkeypatch.setattr("torr.engine.once", once)
        call = GrpcCall("a.B/C", "{}", show_request=str, show_response=str)
        calls = tuple(Request(url="http://h/a.B/C", name=name, grpc=call) for name in "ab")
        plan = Plan((Group(Closed(1), Source(calls)),), Count(1))
        return _answered(server(Command(("x",), "http://h/")), plan)

    return first


def test_the_first_call_of_a_candidate_has_a_digest(answered):
    digest = answered("0", framed([b"ok"]))
    assert (digest.status, digest.version, digest.framing) == (200, "2", "frames")
    assert (digest.content_type, digest.body_bytes, digest.is_reused) == ("x", 7, None)


@pytest.mark.parametrize(
    ("code", "says"), [("5", "the call ended with NOT_FOUND (5): why"), (None, "ok")]
)
def test_a_first_call_that_is_not_ok_is_a_wrong_answer(answered, code, says):
    with pytest.raises(TrialError) as error:
        answered(code)
    assert error.value.kind == "wrong_answer"
    assert says in str(error.value)


@pytest.mark.parametrize(
    ("top", "own", "health"),
    [
        ("", "", "/"),
        ('grpc = "a.B/C"', "", ""),
        ("", 'grpc = "a.B/C"', ""),
        ('grpc = "a.B/C"', 'health = "/ready"', "/ready"),
    ],
)
def test_a_candidate_that_is_called_has_no_health_path_of_its_own(tmp_path, top, own, health):
    path = tmp_path / "matrix.toml"
    path.write_text(MATRIX % (top, own))
    (candidate,) = read_matrix_file(path).candidates
    assert candidate.command.health == health
    assert candidate.command.filled({"port": 7, "processes": 1}).health == health


def test_a_server_without_a_health_path_is_ready_when_it_accepts_a_connection():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        _await_health(server(Command(("x",), url, health="")), lambda: False)
    with pytest.raises(TrialError) as error:
        _await_health(server(Command(("x",), url, health="", health_timeout_s=0.1)), lambda: False)
    assert error.value.kind == "not_ready"
