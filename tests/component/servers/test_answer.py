"""What candidates answer, whether it is right, and how they differ."""

from __future__ import annotations

import socket
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from authority import Authority
from installed import wait_until
from programs import (
    CHUNKED,
    CLOSES,
    DRIPS,
    DROPS_ALL,
    HELLO,
    SECURE,
    UNAVAILABLE,
    UNIX,
    UNTIL_CLOSE,
    WRONG_BODY,
)
from torr.errors import UsageError
from torr.model.request import Request
from torr.servers.answer import ResponseDigest, fetch_digest
from torr.servers.differences import differences, differences_in_cells
from torr.servers.expectation import Expectation
from torr.servers.failure import TrialError
from torr.servers.ports import port_listeners
from torr.servers.readiness import await_ready


@pytest.fixture
def answer_of(start):
    """The response of one of the programs."""

    def answered(code, **request):
        server = start(code)
        await_ready(server)
        answer = fetch_digest(Request(url=server.command.url, **request))
        server.stop()
        return answer

    return answered


def an_answer(**parts):
    known = {
        "status": 200,
        "version": "HTTP/1.1",
        "headers": (("content-type", "text/plain"),),
        "framing": "content-length",
        "body_bytes": 5,
        "body_sha256": "a",
        "body_start": b"hello",
        "is_reused": True,
        "says_close": False,
    }
    return ResponseDigest(**{**known, **parts})


def test_an_answer_is_seen_whole(answer_of):
    answer = answer_of(HELLO)
    assert (answer.status, answer.version, answer.framing) == (200, "HTTP/1.1", "content-length")
    assert (answer.body_bytes, answer.body_start) == (11, b"Hello world")
    assert (answer.content_type, answer.is_reused, answer.says_close) == ("text/plain", True, False)


def test_a_close_without_a_word_is_noticed(answer_of):
    answer = answer_of(CLOSES)
    assert (answer.is_reused, answer.says_close) == (False, False)


def test_chunks_are_joined(answer_of):
    answer = answer_of(CHUNKED, method="POST", body=b"{}", headers=(("x-a", "b"),))
    assert (answer.framing, answer.body_start) == ("chunked", b"Hello world")


@pytest.mark.parametrize(
    ("method", "is_reused", "times"), [("GET", True, 2), ("HEAD", True, 2), ("POST", None, 1)]
)
def test_only_a_request_that_changes_nothing_is_sent_twice(method, is_reused, times):
    seen = []

    class Counts(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            seen.append(self.command)
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def do_HEAD(self):
            self.do_GET()

        def do_POST(self):
            self.do_GET()

        def log_message(self, *_arguments):
            pass

    with HTTPServer(("127.0.0.1", 0), Counts) as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        request = Request(url=f"http://127.0.0.1:{server.server_port}/", method=method)
        answer = fetch_digest(request)
        thread.join()
    assert (answer.is_reused, seen) == (is_reused, [method] * times)


def test_a_connection_that_says_its_end_needs_no_second_request(answer_of):
    answer = answer_of(UNTIL_CLOSE, method="POST")
    assert (answer.is_reused, answer.says_close) == (False, True)


def test_a_server_with_a_certificate_that_nobody_knows_is_asked_too(start, tmp_path):
    authority = Authority(tmp_path / "authority")
    authority.sign("app")
    files = str(authority.folder / "app")
    server = start(SECURE, files, url="https://127.0.0.1:{port}/")
    await_ready(server)
    answer = fetch_digest(Request(url=server.command.url))
    assert (answer.body_start, answer.is_reused) == (b"Hello world", True)


def test_a_server_at_a_unix_socket_is_asked_there(start, tmp_path):
    server = start(UNIX, str(tmp_path / "app.sock"), url=f"unix:{tmp_path}/app.sock:/path")
    await_ready(server)
    answer = fetch_digest(Request(url=server.command.url))
    assert (answer.body_start, answer.is_reused) == (b"Hello world", True)


@pytest.mark.parametrize("code", [DRIPS, DROPS_ALL], ids=["drips", "drops"])
def test_what_is_no_whole_answer_is_an_error_in_bounded_time(start, code):
    server = start(code)
    request = Request(url=server.command.url)
    with pytest.raises(OSError, match=r"no whole response within|closed connection|reset"):
        _when_listening(server, lambda: fetch_digest(request, timeout_s=0.1))


def test_a_server_that_is_silent_is_left_with_the_time_that_it_had():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        request = Request(url=f"http://127.0.0.1:{silent.getsockname()[1]}/")
        with pytest.raises(TimeoutError, match=r"^no whole response within 0\.1 s$"):
            fetch_digest(request, timeout_s=0.1)


def test_a_template_has_no_one_answer():
    with pytest.raises(UsageError, match="a template has no single response"):
        fetch_digest(Request(url="http://127.0.0.1:9/{{uuid}}"))


@pytest.mark.parametrize(
    ("code", "expectation", "says"),
    [
        (UNAVAILABLE, Expectation(), "expected status 200, found 503"),
        (
            WRONG_BODY,
            Expectation(body=b"Hello world"),
            "expected body 'Hello world', found 'Hello wurld'",
        ),
        (
            HELLO,
            Expectation(content_type="text/html; charset=utf-8"),
            "expected content type text/html; charset=utf-8, found text/plain",
        ),
    ],
)
def test_a_wrong_answer_names_expected_and_found(start, code, expectation, says):
    server = start(code)
    answer = _when_listening(server, lambda: fetch_digest(Request(url=server.command.url)))
    with pytest.raises(TrialError) as caught:
        expectation.check(answer, "app", server.log_tail())
    assert (caught.value.kind, caught.value.message) == ("wrong_answer", f"app: {says}")


def test_a_right_answer_passes(answer_of):
    expectation = Expectation(200, b"Hello world", "text/plain; charset=utf-8")
    assert expectation.deviations(answer_of(HELLO)) == []


def test_answers_that_are_alike_do_not_differ():
    answers = {"a": an_answer(), "b": an_answer()}
    assert differences(answers) == []
    same = "All response with the same status and the same bytes."
    assert differences_in_cells({"": answers}) == [same]
    closed = {name: an_answer(is_reused=False, says_close=True) for name in "ab"}
    told = "No connection is reused: they are closed after each response."
    assert differences_in_cells({"": closed}) == [same, told]


def test_of_connections_that_were_not_tried_nothing_is_said():
    answers = {name: an_answer(is_reused=None) for name in "ab"}
    same = "All response with the same status and the same bytes."
    assert differences_in_cells({"": answers}) == [same]
    answers["a"] = an_answer(is_reused=False, says_close=True)
    differ = "Connections differ: closed after each response by a; not tried a second time by b."
    assert differences(answers) == [differ]


def test_cells_are_named_where_not_all_are_alike():
    other = an_answer(body_sha256="b", body_start=b"gone")
    cells = {
        "mode x": {"a": an_answer(), "b": other},
        "mode y": {"a": an_answer(), "b": an_answer()},
    }
    assert differences_in_cells(cells) == [
        "At mode x: Bodies differ: 'hello' by a; 'gone' by b.",
        "At mode y: All response with the same status and the same bytes.",
    ]
    assert differences_in_cells({"": {"a": an_answer()}}) == []


def test_the_same_bytes_in_another_way_are_told(answer_of):
    answers = {
        "a": answer_of(HELLO),
        "b": answer_of(CLOSES),
        "c": answer_of(CHUNKED),
    }
    assert differences(answers) == [
        "Connections differ: reused by a and c; closed after each response without saying so by b.",
        "Framings differ: content-length by a and b; chunked by c.",
        "Headers differ: only c sent server.",
    ]


def test_other_bytes_come_first():
    other = an_answer(
        status=404,
        version="HTTP/1.0",
        headers=(("content-type", "text/html"),),
        framing="until close",
        body_bytes=900,
        body_sha256="b",
        body_start=b"gone",
        is_reused=False,
        says_close=True,
    )
    answers = {"a": an_answer(), "b": other}
    assert differences(answers) == [
        "Status differ: 200 by a; 404 by b.",
        "Bodies differ: 'hello' by a; 'gone'… (900 bytes) by b.",
        "Content types differ: text/plain by a; text/html by b.",
        "Connections differ: reused by a; closed after each response by b.",
        "Framings differ: content-length by a; until close by b.",
        "Versions differ: HTTP/1.1 by a; HTTP/1.0 by b.",
    ]


def _when_listening(server, act):
    """Do it as soon as the server listens."""
    wait_until(lambda: port_listeners(server.command.port))
    return act()
