"""Turns what a client returned into plain values, without what differs from run to run."""

from __future__ import annotations

import re
from datetime import timedelta

import requests
from locust.contrib.fasthttp import ErrorResponse, FastResponse
from locust.stats import StatsError

RUNS_DIFFER = [
    (re.compile(r"0x[0-9a-f]{6,}"), "0x…"),
    (re.compile(r'(cnonce|response)="[0-9a-f]+"'), r'\1="…"'),
]


def scrub(text):
    for pattern, stand_in in RUNS_DIFFER:
        text = pattern.sub(stand_in, text)
    return text


def class_of(given):
    """Return the name of the first class that is not torr's: torr subclasses those of Locust."""
    if isinstance(given, requests.Response):
        return "Response"  # which the oldest Locust does not always subclass
    known = (kind for kind in type(given).__mro__ if not kind.__module__.startswith("torr"))
    return next(known).__name__


def plain(value):
    """Return the value, with responses and exceptions as dicts of their attributes."""
    for kind, look in LOOKS.items():
        if isinstance(value, kind):
            return look(value)
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return value


def failure(error):
    if error is None:
        return None
    return {
        "class": f"{type(error).__module__}.{type(error).__qualname__}",
        "text": scrub(str(error)),
        "row": scrub(StatsError.parse_error(error)),
    }


LOOKS = {
    requests.Response: lambda given: answers(given, RESPONSE),
    FastResponse: lambda given: answers(given, FAST_RESPONSE),
    ErrorResponse: lambda given: answers(given, FAST_RESPONSE),
    BaseException: failure,
    timedelta: lambda given: {"is_duration": given >= timedelta(0)},
}


RESPONSE = {
    "status": lambda given: given.status_code,
    "reason": lambda given: given.reason,
    "url": lambda given: given.url,
    "headers": lambda given: list(given.headers.items()),
    "content": lambda given: given.content,
    "text": lambda given: given.text,
    "encoding": lambda given: given.encoding,
    "apparent": lambda given: given.apparent_encoding,
    "ok": lambda given: given.ok,
    "true": bool,
    "elapsed": lambda given: given.elapsed,
    "cookies": lambda given: [(one.name, one.value, one.domain, one.path) for one in given.cookies],
    "history": lambda given: [(one.status_code, one.url, one.content) for one in given.history],
    "links": lambda given: given.links,
    "redirects": lambda given: (given.is_redirect, given.is_permanent_redirect),
    "next": lambda given: given.next and given.next.url,
    "request": lambda given: request(given.request),
    "error": lambda given: getattr(given, "error", None),
    "shown": repr,
}


def answers(given, questions):
    """Return the value of each question, or the exception that it raised."""
    return {name: _answer(given, question) for name, question in questions.items()}


def _answer(given, question):
    try:
        return plain(question(given))
    except Exception as error:
        return failure(error)


def request(given):
    if given is None:
        return None
    body = given.body if isinstance(given.body, (bytes, str, type(None))) else "streamed"
    boundary = boundary_of(given.headers.get("content-type"))
    return {
        "method": given.method,
        "url": given.url,
        "headers": [
            (name, _one_boundary(value, boundary)) for name, value in given.headers.items()
        ],
        "body": _one_boundary(body, boundary),
    }


FAST_RESPONSE = {
    "status": lambda given: given.status_code,
    "url": lambda given: given.url,
    "headers": lambda given: given.headers and list(given.headers.items()),
    "content": lambda given: given.content,
    "text": lambda given: given.text,
    "encoding": lambda given: given.encoding,
    "ok": lambda given: given.ok,
    "error": lambda given: getattr(given, "error", None),
    "request": lambda given: fast_request(given.request),
}


def fast_request(given):
    if given is None:
        return None
    boundary = boundary_of(given.headers and given.headers.get("content-type"))
    headers = dict(given.headers.items()) if given.headers else None
    return {
        "method": given.method,
        "url": given.url,
        "headers": plain(headers) if boundary is None else sorted(headers),
        "body": _one_boundary(given.body, boundary),
    }


def over_the_wire(seen):
    """Return requests as a server read them, connections numbered in the order of first use."""
    numbers = {}
    for one in seen:
        numbers.setdefault(one.connection, len(numbers) + 1)
    return [_read(one, numbers[one.connection]) for one in seen]


def _read(one, connection):
    boundary = boundary_of(one.header("content-type"))
    return {
        "connection": connection,
        "line": f"{one.method} {one.target}",
        "headers": [(name, _one_boundary(scrub(text), boundary)) for name, text in one.headers],
        "body": _one_boundary(one.body, boundary),
        "chunks": one.chunks,
    }


def boundary_of(content_type):
    """Return the random text between the parts of a form, if there is one."""
    content_type = content_type.decode() if isinstance(content_type, bytes) else content_type
    match = re.search(r"boundary=(\w+)", content_type or "")
    return match and match[1]


def _one_boundary(value, boundary):
    if boundary is None or value is None:
        return scrub(value) if isinstance(value, str) else value
    if isinstance(value, bytes):
        return value.replace(boundary.encode(), b"BOUNDARY")
    return value.replace(boundary, "BOUNDARY")
