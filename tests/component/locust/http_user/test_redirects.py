"""Redirects: the next request, its headers and cookies, and the limit of redirects."""

import io

import pytest

STATUSES = [301, 302, 303, 307, 308]


def lines(outcome):
    return [one["line"] for one in outcome.wire]


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "DELETE"])
def test_the_method_after_a_redirect(outcome, status, method):
    def scenario(client):
        return client.request(
            method, f"/to/{status}?where=/echo", data=b"body", allow_redirects=True
        )

    seen = outcome(scenario)
    kept = status in (307, 308)
    # 303 turns every method but HEAD into GET, and 301 and 302 do so with POST: as browsers do.
    turned = method != "HEAD" and (status in (302, 303) or (status == 301 and method == "POST"))
    assert seen.wire[1]["body"] == (b"body" if kept else b"")
    assert seen.wire[1]["line"] == f"{'GET' if turned else method} /echo"


@pytest.mark.parametrize("status", STATUSES)
def test_a_redirect_that_is_not_followed(outcome, status):
    seen = outcome(lambda client: client.get(f"/to/{status}?where=/echo", allow_redirects=False))
    assert seen.value["status"] == status
    assert seen.value["redirects"][0] is True
    assert seen.value["next"].endswith("/echo")


@pytest.mark.parametrize("status", [300, 304, 305, 306])
def test_what_is_no_redirect(outcome, status):
    seen = outcome(lambda client: client.get(f"/status/{status}" if status != 306 else "/to/300"))
    assert seen.value["history"] == []
    assert seen.event["exception"] is None


def test_the_event_tells_of_the_first_url(outcome, site):
    seen = outcome(lambda client: client.get("/to/302?where=/echo"))
    assert seen.event["name"] == "/to/302?where=/echo"
    assert seen.event["url"] == f"{site.url}/to/302?where=/echo"
    assert seen.value["url"] == f"{site.url}/echo"


def test_history_has_each_step(outcome):
    seen = outcome(lambda client: client.get("/left/3"))
    assert [status for status, _, _ in seen.value["history"]] == [302, 302, 302]
    assert [one["connection"] for one in seen.wire] == [1, 1, 1, 1]


PLACES = {
    "absolute": ("/to/302?where=/echo/here", "/echo/here"),
    "relative": ("/to/302?where=../echo/near", "/echo/near"),
    "above": ("/to/302?where=./../../../echo", "/echo"),
    "a query alone": ("/to/302?where=?a=1", "/to/302?a=1"),
    "umlauts": ("/to-umlaut", "/echo/%C3%BC"),
    "spaces": ("/to-space", "/echo/a%20b?c=d%20e"),
    "a fragment": ("/to-fragment", "/echo"),
}


@pytest.mark.parametrize("place", PLACES)
def test_where_a_redirect_leads(outcome, place):
    start, arrives = PLACES[place]
    seen = outcome(lambda client: client.get(start))
    assert lines(seen) == [f"GET {start}", f"GET {arrives}"]


def test_the_fragment_goes_along(outcome):
    seen = outcome(lambda client: client.get("/to/302?where=/echo#there"))
    assert seen.value["url"].endswith("/echo#there")


def test_a_redirect_to_nowhere_is_an_answer(outcome):
    seen = outcome(lambda client: client.get("/to-nowhere"))
    assert (seen.value["status"], seen.value["content"]) == (302, b"no place")


def test_to_another_host_and_port(outcome, site):
    seen = outcome(lambda client: client.get("/elsewhere/302", headers={"X-Kept": "1"}))
    assert seen.value["url"] == f"{site.other.url}/echo"
    assert [one["connection"] for one in seen.wire] == [1, 2]
    assert ("X-Kept", "1") in seen.wire[1]["headers"]


def test_to_a_host_without_a_scheme(outcome, site):
    place = f"//127.0.0.1:{site.other.port}/echo"
    seen = outcome(lambda client: client.get(f"/to/302?where={place}"))
    assert seen.value["url"] == f"{site.other.url}/echo"


def test_a_circle_ends(outcome):
    seen = outcome(lambda client: client.get("/to-itself"))
    assert len(seen.wire) == 31
    assert seen.event["exception"]["class"] == "requests.exceptions.TooManyRedirects"
    assert seen.value["status"] == 0


@pytest.mark.parametrize("turns", [30, 31])
def test_thirty_redirects_are_enough(outcome, turns):
    seen = outcome(lambda client: client.get(f"/left/{turns}"))
    assert seen.value["status"] == (200 if turns == 30 else 0)


def test_the_limit_can_be_set(outcome):
    def scenario(client):
        client.max_redirects = 2
        return [client.get(f"/left/{turns}").status_code for turns in (2, 3)]

    assert outcome(scenario).value == [200, 0]


@pytest.mark.parametrize("place", ["ftp://127.0.0.1/", "mailto:a@b", "file:///etc/passwd"])
def test_to_what_is_not_http(outcome, place):
    seen = outcome(lambda client: client.get(f"/to/302?where={place}"))
    assert seen.raised["class"] == "requests.exceptions.InvalidSchema"
    assert seen.events == []


@pytest.mark.parametrize(("place", "most"), [("http://", 31), ("http:///echo", 2)])
def test_to_no_host_is_to_this_one(outcome, place, most):
    seen = outcome(lambda client: client.get(f"/to/302?where={place}"))
    assert [one["connection"] for one in seen.wire] == [1] * most


def test_to_what_is_no_url(outcome):
    path = "/to/302?where=http://127.0.0.1:port/"
    seen = outcome(lambda client: client.get(path), in_words=False)
    assert seen.raised["class"] == "requests.exceptions.InvalidURL"


def test_to_a_closed_port(outcome, closed_port):
    seen = outcome(lambda client: client.get(f"/to/302?where=http://127.0.0.1:{closed_port}/"))
    assert "ConnectionRefusedError" in seen.event["exception"]["row"]
    assert seen.value["status"] == 0


def test_to_an_answer_that_fails(outcome):
    seen = outcome(lambda client: client.get("/to/302?where=/status/500"))
    assert seen.event["exception"]["class"] == "requests.exceptions.HTTPError"
    assert seen.event["name"] == "/to/302?where=/status/500"


@pytest.mark.parametrize("status", STATUSES)
def test_a_file_is_sent_again_from_where_it_stood(outcome, status):
    def scenario(client):
        stream = io.BytesIO(b"skip, send")
        stream.seek(6)
        return client.post(f"/to/{status}?where=/echo", data=stream)

    again = b"send" if status in (307, 308) else b""
    assert [one["body"] for one in outcome(scenario).wire] == [b"send", again]


def test_a_generator_is_empty_when_it_is_sent_again(outcome):
    seen = outcome(lambda client: client.post("/to/307?where=/echo", data=iter([b"once"])))
    assert [one["body"] for one in seen.wire] == [b"once", b""]


def test_what_cannot_be_wound_back_is_not_sent_again(outcome):
    class Once(io.BytesIO):
        def seek(self, *_):
            raise OSError("cannot")

    seen = outcome(lambda client: client.post("/to/307?where=/echo", data=Once(b"once")))
    assert seen.trouble["class"].endswith(("UnrewindableBodyError", "AttributeError"))
    assert len(seen.wire) == 1


def test_a_form_on_the_way_loses_its_type(outcome):
    seen = outcome(lambda client: client.post("/to/302?where=/echo", data={"a": "1"}))
    after = {name.lower() for name, _ in seen.wire[1]["headers"]}
    assert not {"content-type", "content-length"} & after


def test_a_stream_is_followed_and_left_unread(outcome):
    def scenario(client):
        answer = client.get("/to/302?where=/events", stream=True)
        return answer.url, len(answer.history), next(answer.iter_lines())

    assert outcome(scenario).value[1:] == [1, b"event: message"]


def test_resolve_redirects_by_hand(outcome):
    def scenario(client):
        answer = client.get("/left/2", allow_redirects=False)
        steps = client.resolve_redirects(answer, answer.request)
        return [(one.status_code, one.content) for one in steps]

    assert outcome(scenario).value == [[302, b""], [200, b"arrived"]]


def test_the_next_request_by_hand(outcome):
    def scenario(client):
        answer = client.get("/left/1", allow_redirects=False)
        return client.send(answer.next).content

    assert outcome(scenario).value == b"arrived"


def test_verbs_that_do_not_follow(outcome):
    seen = outcome(lambda client: client.post("/to/302?where=/echo", allow_redirects=False))
    assert len(seen.wire) == 1
