"""What people ask to be profiled."""

from __future__ import annotations

import pytest

from torr.errors import UsageError
from torr.model.profiling import ProfileRequest

PPROF = "http://127.0.0.1:6060/debug/pprof"


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("4242", ProfileRequest("cpu", 4242)),
        (" memory:4242 ", ProfileRequest("memory", 4242)),
        (PPROF, ProfileRequest(url=PPROF)),
    ],
)
def test_a_process_or_a_url(text, asked):
    assert ProfileRequest.parse(text) == asked


@pytest.mark.parametrize(
    "text", ["", "server", "memory", "memory:", "lines:4242", "-4", "4.2", "²"]
)
def test_what_is_neither_is_refused(text):
    with pytest.raises(UsageError, match="cannot be profiled"):
        ProfileRequest.parse(text)


@pytest.mark.parametrize("parse", [ProfileRequest.parse, ProfileRequest.of_servers])
@pytest.mark.parametrize("text", ["lines", "lines:4242", " lines "])
def test_lines_are_of_functions_and_that_is_said(parse, text):
    with pytest.raises(UsageError, match="cannot be profiled") as caught:
        parse(text)
    assert "pytest --torr-profile lines" in caught.value.hint


def test_servers_differ_by_their_port():
    asked = ProfileRequest.of_servers("http://127.0.0.1:{port}/debug/pprof")
    assert asked.at_port(81).url == "http://127.0.0.1:81/debug/pprof"
    assert ProfileRequest.of_servers("cpu").at_port(81) == ProfileRequest("cpu")
    assert ProfileRequest.of_servers("memory") == ProfileRequest("memory")


@pytest.mark.parametrize(("text", "message"), [(PPROF, "differ by"), ("4242", "cannot be")])
def test_of_servers_no_process_can_be_named(text, message):
    with pytest.raises(UsageError, match=message):
        ProfileRequest.of_servers(text)
