"""The responses of a FastHttpUser: responses, streams, cookies, redirects."""

import pytest

from answers import BIG, LINES, WORDS
from surface import REPORTS_ALL

PATHS = [
    *["/json", "/latin-1", "/utf-8", "/no-charset", "/no-type", "/empty", "/twice", "/links"],
    *["/odd-reason", "/no-reason", "/chunked", "/trailers", "/until-close", "/old-version"],
    *["/slow-head", "/slow-body", "/interim", "/early-hints", "/lines", "/closing"],
]


@pytest.mark.parametrize("path", PATHS)
def test_all_that_an_answer_tells(outcome, path):
    seen = outcome(lambda client: client.get(path))
    assert seen.value["status"] == 200
    assert seen.event["response_length"] == len(seen.value["content"])


@pytest.mark.parametrize("status", [200, 201, 204, 206, 300, 304, 400, 401, 404, 418, 500, 503])
def test_a_status_is_told_and_judged(outcome, status):
    seen = outcome(lambda client: client.get(f"/status/{status}"))
    assert seen.value["status"] == status
    assert (seen.event["exception"] is None) == (status < 300 or status == 304)


def test_raise_for_status(outcome):
    raised = outcome(lambda client: client.get("/status/404").raise_for_status()).raised
    assert "code=404" in raised["text"]


@pytest.mark.parametrize("form", ["gzip", "deflate", "raw-deflate", "brotli", "gzip-in-chunks"])
def test_a_compressed_body_is_opened(outcome, form):
    seen = outcome(lambda client: client.get(f"/{form}"))
    assert seen.value["content"] == WORDS
    assert seen.event["response_length"] == len(WORDS)


def test_an_encoding_that_nobody_knows(outcome):
    assert outcome(lambda client: client.get("/unknown-encoding")).raised is not None


def test_a_charset_that_nobody_knows(outcome):
    seen = outcome(lambda client: client.get("/odd-charset").text)
    assert seen.raised["class"] == "builtins.LookupError"


def test_a_large_body(outcome):
    seen = outcome(lambda client: hash(client.get("/big").content))
    assert seen.value == hash(BIG)


def test_headers_are_found_whatever_their_case(outcome):
    def scenario(client):
        headers = client.get("/twice").headers
        return headers["x-MANY"], headers.get("X-Spaced"), headers.get("none"), "x-empty" in headers

    assert outcome(scenario).value == [["one", "two"], "about", None, True]


def test_json(outcome):
    assert outcome(lambda client: client.get("/json").json()).value == {"a": [1, "ü"]}


def test_json_that_is_none(outcome):
    assert outcome(lambda client: client.get("/utf-8").json()).raised is not None


def test_the_encoding_can_be_set(outcome):
    def scenario(client):
        answer = client.get("/no-charset")
        answer.encoding = "cp437"
        return answer.text

    assert outcome(scenario).value == "grⁿn"


@pytest.mark.parametrize("path", ["/gzip", "/json", "/status/404", "/big"])
def test_the_head_of_an_answer_alone(outcome, path):
    def scenario(client):
        answer = client.head(path).status_code
        client.get("/echo")
        return answer

    seen = outcome(scenario)
    if path == "/gzip" and not REPORTS_ALL:
        assert seen.raised["class"] == "zlib.error"  # it unpacks a body that is not there
    else:
        assert seen.value == (404 if path == "/status/404" else 200)


def test_the_parts_below(outcome):
    def scenario(client):
        answer = client.get("/utf-8")
        return answer.content is answer.content, answer.status, answer.info()["Content-Type"]

    assert outcome(scenario).value == [True, "200", "text/plain; charset=utf-8"]


READS = {
    "read": lambda answer: answer.read(),
    "read some": lambda answer: (answer.read(4), answer.read(4), answer.read()),
    "iterated": b"".join,
    "a line": lambda answer: answer.readline(),
    "the stream": lambda answer: answer.stream.read(),
    "a line of the stream": lambda answer: answer.stream.readline(b"\n"),
    "content": lambda answer: answer.content,
    "released": lambda answer: answer.release(),
    "length": len,
}


@pytest.mark.parametrize("path", ["/lines", "/chunked", "/until-close", "/gzip"])
@pytest.mark.parametrize("way", READS)
def test_a_stream_is_read(outcome, path, way):
    def scenario(client):
        given = READS[way](client.get(path, stream=True))
        client.get("/echo")
        return given

    seen = outcome(scenario)
    has_none = way == "length" and path in ("/chunked", "/until-close")
    assert (seen.raised is not None) == has_none
    assert [one["line"] for one in seen.wire] == [f"GET {path}", "GET /echo"][: 2 - has_none]


def test_an_event_is_read_before_the_next_one_is_there(outcome):
    def scenario(client):
        stream = client.get("/events", stream=True).stream
        first = [stream.readline(b"\n") for _ in range(2)]
        rest = stream.read()
        return first, rest.count(b"data:")

    seen = outcome(scenario)
    assert seen.value == [[b"event: message\n", 'data: {"n": 0, "text": "wört"}\n'.encode()], 5]


@pytest.mark.parametrize("path", ["/big", "/events", "/until-close"])
def test_a_stream_that_was_left_unread_is_not_used_again(outcome, path):
    def scenario(client):
        client.get(path, stream=True).release()
        return client.get("/echo")

    seen = outcome(scenario)
    assert seen.value["status"] == 200
    assert [one["connection"] for one in seen.wire] == [1, 2]


def test_a_stream_that_was_read_gives_its_connection_back(outcome):
    def scenario(client):
        client.get("/chunked", stream=True).read()
        client.get("/echo")

    assert [one["connection"] for one in outcome(scenario).wire] == [1, 1]


def test_the_length_of_a_stream(outcome):
    seen = outcome(lambda client: client.get("/utf-8", stream=True).content)
    # The oldest Locust knows no length before the body is read.
    assert seen.event["response_length"] == (len(seen.value) if REPORTS_ALL else 0)


@pytest.mark.parametrize("path", ["/lines", "/events", "/status/404", "/broken/half-head"])
def test_lines(outcome, path):
    seen = outcome(lambda client: list(client.iter_lines(path)), in_words=False)
    # The oldest Locust has none.
    assert (seen.raised is None) == (path in ("/lines", "/events") and REPORTS_ALL)
    if path == "/lines" and REPORTS_ALL:
        assert seen.value == LINES.split("\n")


@pytest.mark.parametrize("decode", [True, False])
@pytest.mark.parametrize("size", [1, 7, 512])
def test_pieces(outcome, size, decode):
    def scenario(client):
        answer = client.get("/lines", stream=True)
        return list(answer.iter_content(size, decode_content=decode))

    seen = outcome(scenario)
    assert (seen.raised is None) == REPORTS_ALL
    if REPORTS_ALL and decode and size == 512:
        assert seen.value == [LINES]


def test_a_cookie_that_was_set_comes_back(outcome):
    def scenario(client):
        client.get("/cookies/set?a=1;Path=/&b=2;Path=/")
        client.get("/echo")
        return [cookie.name for cookie in client.cookiejar]

    seen = outcome(scenario)
    assert dict(seen.wire[1]["headers"])["Cookie"] == "a=1; b=2"
    assert seen.value == ["a", "b"]


@pytest.mark.parametrize(
    "line", ["a=1;Path=/no", "a=1;Domain=example.com;Path=/", "a=1;Secure;Path=/", "a=1;Max-Age=0"]
)
def test_the_scope_of_a_cookie(outcome, line):
    def scenario(client):
        client.get(f"/cookies/set?{line}")
        client.get("/echo")

    assert "Cookie" not in dict(outcome(scenario).wire[1]["headers"])


def test_cookies_can_be_cleared_and_are_each_users_own(outcome):
    def scenario(client):
        client.get("/cookies/set?a=1;Path=/")
        type(client.user)(client.user.environment).client.get("/echo")
        client.cookiejar.clear()
        client.get("/echo")

    wire = outcome(scenario).wire
    assert ["Cookie" in dict(one["headers"]) for one in wire] == [False] * 3


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT"])
def test_a_redirect_is_followed(outcome, status, method):
    def scenario(client):
        data = "body" if method in ("POST", "PUT") else None
        return client.request(method, f"/to/{status}?where=/echo", data=data)

    turned = method in ("POST", "PUT") and status in (301, 302, 303)
    sent = [f"{method} /to/{status}?where=/echo", f"{'GET' if turned else method} /echo"]
    if status == 308 and not REPORTS_ALL:
        sent.pop()  # the oldest Locust does not follow it
    assert [one["line"] for one in outcome(scenario).wire] == sent


def test_the_event_tells_of_the_first_url(outcome, site):
    seen = outcome(lambda client: client.get("/to/302?where=/echo"))
    assert seen.event["url"] == f"{site.url}/to/302?where=/echo"
    assert seen.event["name"] == "/to/302?where=/echo"


PLACES = {
    "/to/302?where=../echo/near": "/echo/near",
    "/elsewhere/302": "/echo",
    "/to-umlaut": "/echo/%C3%83%C2%BC" if REPORTS_ALL else "/echo/\xc3\xbc",
    "/to-space": "/echo/a%20b?c=d%20e" if REPORTS_ALL else None,
    "/to-fragment": "/echo",
}


@pytest.mark.parametrize("path", PLACES)
def test_where_a_redirect_leads(outcome, path):
    seen = outcome(lambda client: client.get(path), max_redirects=1)
    assert [one["line"] for one in seen.wire[1:]] == [f"GET {to}" for to in [PLACES[path]] if to]


def test_a_redirect_that_is_not_followed(outcome):
    seen = outcome(lambda client: client.get("/to/302?where=/echo", allow_redirects=False))
    # The oldest Locust raises AttributeError when it is asked for this.
    assert len(seen.wire) == REPORTS_ALL
    assert (seen.raised is None) == REPORTS_ALL


@pytest.mark.parametrize("turns", [2, 3])
def test_the_limit_of_redirects(outcome, turns):
    seen = outcome(lambda client: client.get(f"/left/{turns}"), max_redirects=2)
    assert (seen.event["exception"] is None) == (turns == 2)


def test_a_circle_ends(outcome):
    seen = outcome(lambda client: client.get("/to-itself"))
    assert len(seen.wire) == 31
    assert "Redirection limit reached" in seen.event["exception"]["text"]


def test_a_cookie_is_set_on_the_way_of_a_redirect(outcome):
    seen = outcome(lambda client: client.get("/cookies-on-the-way"))
    assert dict(seen.wire[1]["headers"])["Cookie"] == "found=onthe"


@pytest.mark.parametrize("path", ["/closing", "/closing-unsaid", "/old-version", "/until-close"])
def test_a_connection_that_the_server_closed_is_not_used_again(outcome, path):
    def scenario(client):
        client.get(path)
        return client.get("/echo")

    seen = outcome(scenario)
    assert seen.value["status"] == 200
    assert [one["connection"] for one in seen.wire] == [1, 2]
