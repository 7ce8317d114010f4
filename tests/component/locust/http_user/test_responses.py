"""The attributes of a response."""

import pickle

import pytest

from answers import BIG, WORDS


@pytest.mark.parametrize(
    "status", [200, 201, 204, 206, 299, 304, 400, 401, 404, 418, 429, 500, 503]
)
def test_a_status_is_told_and_judged(outcome, status):
    seen = outcome(
        lambda client: client.get(f"/status/{status}" if status != 299 else "/status/226")
    )
    assert seen.value["ok"] == (status < 400)
    assert (seen.event["exception"] is None) == (status < 400)


def test_raise_for_status(outcome):
    def scenario(client):
        client.get("/status/200").raise_for_status()
        client.get("/status/404").raise_for_status()

    raised = outcome(scenario).raised
    assert raised["class"] == "requests.exceptions.HTTPError"
    assert raised["text"].startswith("404 Client Error: Not Found for url: http://")


@pytest.mark.parametrize(
    "path",
    [
        "/json",
        "/latin-1",
        "/utf-8",
        "/no-charset",
        "/no-type",
        "/odd-charset",
        "/empty",
        "/twice",
        "/links",
        "/odd-reason",
        "/no-reason",
        "/chunked",
        "/trailers",
        "/until-close",
        "/old-version",
        "/slow-head",
        "/slow-body",
        "/interim",
        "/lines",
    ],
)
def test_all_that_an_answer_tells(outcome, path):
    seen = outcome(lambda client: client.get(path))
    assert seen.value["status"] == 200
    assert seen.event["response_length"] == len(seen.value["content"])


def test_hints_before_an_answer_are_no_answer(play):
    """Before Python 3.13 at least, http.client takes them for one."""
    seen = play(lambda client: client.get("/early-hints"))
    assert seen.value["status"] == 200


@pytest.mark.parametrize("form", ["gzip", "deflate", "raw-deflate", "brotli", "gzip-in-chunks"])
def test_a_compressed_body_is_opened(outcome, form):
    seen = outcome(lambda client: client.get(f"/{form}"))
    assert seen.value["content"] == WORDS
    assert seen.event["response_length"] == len(WORDS)


def test_an_encoding_that_nobody_knows_is_left(outcome):
    seen = outcome(lambda client: client.get("/unknown-encoding"))
    assert seen.value["content"] == WORDS


@pytest.mark.parametrize("path", ["/gzip", "/json", "/empty", "/status/404", "/big"])
def test_the_head_of_an_answer_alone(outcome, path):
    def scenario(client):
        answer = client.head(path)
        client.get("/echo")
        return answer

    seen = outcome(scenario)
    assert seen.value["content"] == b""
    assert seen.events[0]["response_length"] == 0


def test_a_large_body(outcome):
    seen = outcome(lambda client: hash(client.get("/big").content))
    assert seen.value == hash(BIG)
    assert seen.event["response_length"] == len(BIG)


def test_headers_are_found_whatever_their_case(outcome):
    def scenario(client):
        headers = client.get("/twice").headers
        return headers["x-MANY"], headers.get("X-Spaced"), headers.get("none"), "x-empty" in headers

    assert outcome(scenario).value == ["one, two", "about", None, True]


def test_json(outcome):
    def scenario(client):
        answer = client.get("/json")
        return answer.json(), answer.json(parse_int=str)

    assert outcome(scenario).value == [{"a": [1, "ü"]}, {"a": ["1", "ü"]}]


@pytest.mark.parametrize("path", ["/utf-8", "/empty"])
def test_json_that_is_none(outcome, path):
    seen = outcome(lambda client: client.get(path).json())
    assert seen.raised["class"] == "requests.exceptions.JSONDecodeError"


def test_the_encoding_can_be_set(outcome):
    def scenario(client):
        answer = client.get("/no-charset")
        before = answer.text
        answer.encoding = "cp437"
        return before, answer.text, answer.encoding

    assert outcome(scenario).value[0] == "grün"


def test_elapsed_is_a_time(outcome):
    seen = outcome(lambda client: client.get("/slow-head").elapsed.total_seconds() > 0)
    assert seen.value is True


def test_the_request_that_was_sent(outcome, site):
    seen = outcome(lambda client: client.post("/echo?a=1", json={"b": 2}, headers={"X-One": "1"}))
    request = seen.value["request"]
    assert (request["method"], request["url"]) == ("POST", f"{site.url}/echo?a=1")
    assert request["body"] == b'{"b": 2}'
    assert ["X-One", "1"] in request["headers"]


def test_parts_of_the_request_that_was_sent(outcome):
    def scenario(client):
        sent = client.post("/echo?a=1", data="x").request
        return type(sent).__name__, sent.path_url, sent.hooks, sent.copy().body

    assert outcome(scenario).value[:2] == ["PreparedRequest", "/echo?a=1"]


BODIES = {
    "/utf-8": "grün 緑".encode(),
    "/gzip": WORDS,
    "/chunked": "one zwö three".encode(),
    "/empty": b"",
}


@pytest.mark.parametrize("path", BODIES)
def test_an_answer_can_be_walked_over(outcome, path):
    seen = outcome(lambda client: list(client.get(path)))
    assert b"".join(seen.value) == BODIES[path]
    assert all(0 < len(piece) <= 128 for piece in seen.value)


@pytest.mark.parametrize("path", ["/json", "/status/404", "/left/1", "/cookies/set?a=1"])
def test_an_answer_can_be_pickled(outcome, path):
    def scenario(client):
        answer = client.get(path)
        # What requests keeps of it; what Locust adds cannot be pickled.
        kept = pickle.dumps(answer.__getstate__())
        return sorted(answer.__getstate__()), len(kept) > 100

    assert "_content" in outcome(scenario).value[0]


def test_the_content_is_the_same_each_time(outcome):
    def scenario(client):
        answer = client.get("/utf-8")
        return answer.content is answer.content, answer.text == answer.text

    assert outcome(scenario).value == [True, True]


def test_an_answer_is_its_own_and_may_carry_more(outcome):
    def scenario(client):
        answer = client.get("/echo")
        answer.note = "mine"
        answer.status_code = 299
        return answer.note, answer.status_code, answer.ok, "note" in vars(answer)

    assert outcome(scenario).value == ["mine", 299, True, True]


def test_closing_an_answer_twice_does_no_harm(outcome):
    def scenario(client):
        answer = client.get("/utf-8")
        answer.close()
        answer.close()
        return answer.text

    assert outcome(scenario).value == "grün 緑"


def test_an_answer_as_a_context(outcome):
    def scenario(client):
        with client.get("/utf-8", catch_response=True) as answer:
            return answer.text

    assert outcome(scenario).value == "grün 緑"


def test_raw_after_the_body_was_read(outcome):
    def scenario(client):
        raw = client.get("/utf-8").raw
        return raw.status, raw.reason, raw.read(), raw.headers["content-type"], raw.version

    assert outcome(scenario).value == [200, "OK", b"", "text/plain; charset=utf-8", 11]


@pytest.mark.parametrize("path", ["/closing", "/closing-unsaid", "/old-version", "/until-close"])
def test_a_connection_that_the_server_closed_is_not_used_again(outcome, path):
    def scenario(client):
        client.get(path)
        return client.get("/echo")

    seen = outcome(scenario)
    assert [one["connection"] for one in seen.wire] == [1, 2]
    assert seen.value["status"] == 200


@pytest.mark.parametrize("path", ["/status/204", "/status/304", "/status/500", "/empty", "/gzip"])
def test_a_connection_that_stays_open_is_used_again(outcome, path):
    def scenario(client):
        client.get(path)
        client.get("/echo")

    assert [one["connection"] for one in outcome(scenario).wire] == [1, 1]
