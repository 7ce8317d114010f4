"""What people ask to be profiled."""

from __future__ import annotations

import pytest

from torr.errors import UsageError
from torr.model.profiling import Asked

PPROF = "http://127.0.0.1:6060/debug/pprof"


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("4242", Asked("cpu", 4242)),
        (" memory:4242 ", Asked("memory", 4242)),
        (PPROF, Asked(url=PPROF)),
    ],
)
def test_a_process_or_a_url(text, asked):
    assert Asked.parse(text) == asked


@pytest.mark.parametrize(
    "text", ["", "server", "memory", "memory:", "lines:4242", "-4", "4.2", "²"]
)
def test_what_is_neither_is_refused(text):
    with pytest.raises(UsageError, match="nothing that can be profiled"):
        Asked.parse(text)


@pytest.mark.parametrize("parse", [Asked.parse, Asked.of_servers])
@pytest.mark.parametrize("text", ["lines", "lines:4242", " lines "])
def test_lines_are_of_functions_and_that_is_said(parse, text):
    with pytest.raises(UsageError, match="nothing that can be profiled") as caught:
        parse(text)
    assert "pytest --torr-profile lines" in caught.value.hint


def test_servers_differ_by_their_port():
    asked = Asked.of_servers("http://127.0.0.1:{port}/debug/pprof")
    assert asked.at_port(81).url == "http://127.0.0.1:81/debug/pprof"
    assert Asked.of_servers("cpu").at_port(81) == Asked("cpu")
    assert Asked.of_servers("memory") == Asked("memory")


@pytest.mark.parametrize(("text", "message"), [(PPROF, "differ by"), ("4242", "nothing that can")])
def test_of_servers_no_process_can_be_named(text, message):
    with pytest.raises(UsageError, match=message):
        Asked.of_servers(text)
