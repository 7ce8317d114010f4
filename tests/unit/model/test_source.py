"""Sources: one request, several in turn or by weight, steps."""

from __future__ import annotations

import pytest

from torr.errors import UsageError
from torr.model.check import Capture
from torr.model.request import Request
from torr.model.source import Source

A = Request("http://127.0.0.1/a")
B = Request("http://127.0.0.1/b?token=hush")
LOGIN = Request("http://127.0.0.1/login", captures=(Capture.parse("id=json:$.id"),))
READING = Request("http://127.0.0.1/{{id}}")
OWN = Request("http://127.0.0.1/?from={{id}}", captures=LOGIN.captures)


@pytest.mark.parametrize(
    ("source", "written"),
    [
        (Source.of(A), {"kind": "one", "request": A.as_json()}),
        (Source((A,), weights=(7,)), {"kind": "one", "request": A.as_json()}),
        (Source((A,), "steps"), {"kind": "one", "request": A.as_json()}),
        (Source((A, B)), {"kind": "turn", "requests": [A.as_json(), B.as_json()]}),
        (
            Source((A, B), weights=(8, 2)),
            {"kind": "weighted", "requests": [A.as_json(), B.as_json()], "weights": [8, 2]},
        ),
        (
            Source((A, B), weights=(2, 2)),
            {"kind": "turn", "requests": [A.as_json(), B.as_json()]},
        ),
        (Source((A, B), "steps"), {"kind": "steps", "requests": [A.as_json(), B.as_json()]}),
    ],
)
def test_a_source_is_written_as_the_engine_reads_it(source, written):
    assert source.as_json() == written


def test_steps_and_captures_are_a_session():
    assert not Source((A, B)).has_session
    assert not Source((A,), "steps").has_session
    assert Source((A, B), "steps").has_session
    assert Source.of(LOGIN).has_session


def test_a_name_must_come_from_a_row_or_a_capture():
    reading = Request("http://127.0.0.1/{{id}}?q={{row.q}}")
    assert Source.of(reading).uses_rows
    assert not Source.of(LOGIN).uses_rows
    Source((LOGIN, reading), "steps").check_names({"q"})
    with pytest.raises(UsageError, match=r"GET /{{id}}: {{id}} is unknown"):
        Source.of(reading).check_names({"q"})
    with pytest.raises(UsageError, match="needs rows"):
        Source((LOGIN, reading), "steps").check_names(None)


def test_a_captured_name_is_read_where_it_can_have_a_value():
    for source in (
        Source((LOGIN, A, READING), "steps"),
        Source((LOGIN, OWN, READING), "steps"),
        Source.of(OWN),
        Source((OWN,), "steps"),
        Source((A, OWN), weights=(1, 2)),
    ):
        source.check_names(None)


@pytest.mark.parametrize(
    ("source", "says"),
    [
        (Source((READING, LOGIN), "steps"), "no earlier step captures {{id}}"),
        (Source((OWN, READING), "steps"), "no earlier step captures {{id}}"),
        (Source((LOGIN, READING)), "is captured by another request"),
        (Source((LOGIN, READING), weights=(1, 2)), "add --steps"),
    ],
)
def test_a_captured_name_that_would_be_empty_is_refused(source, says):
    with pytest.raises(UsageError) as error:
        source.check_names(None)
    assert says in str(error.value)


def test_every_request_is_written_without_its_secrets():
    written = Source((A, B), weights=(8, 2)).redacted()
    assert [request.url.partition("?")[2] for request in written.requests] == ["", "token=***"]
    assert written.weights == (8, 2)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Source(()), "no request to send"),
        (lambda: Source((A, B), "steps", (1, 2)), "--steps and --weights are both given"),
        (lambda: Source((A, B), weights=(1,)), "1 weights for 2 requests"),
        (lambda: Source((A, B), weights=(1, 0)), "a weight of at least 1"),
    ],
)
def test_a_source_that_cannot_be_is_refused(make, says):
    with pytest.raises(UsageError) as error:
        make()
    assert says in str(error.value)
