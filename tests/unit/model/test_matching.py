"""How answers of WebSocket find their messages, as it is written and as the engine takes it."""

from __future__ import annotations

import pytest

from torr.errors import UsageError
from torr.model.matching import Matching
from torr.model.transport import Transport


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("order", {"kind": "order"}),
        ("none", {"kind": "none"}),
        ("id:id", {"kind": "id", "key": "id"}),
        ("id:a:b", {"kind": "id", "key": "a:b"}),
    ],
)
def test_a_way_is_read_as_it_is_written(text, written):
    matching = Matching.parse(text)
    assert (matching.as_json(), str(matching)) == (written, text)


@pytest.mark.parametrize("text", ["", "id", "id:", "order:x", "none:", "first"])
def test_what_is_no_way_is_refused(text):
    with pytest.raises(UsageError, match="no way to match answers"):
        Matching.parse(text)


def test_the_transport_has_it_only_where_it_is_not_as_usual():
    assert "websocket" not in Transport().as_json()
    assert Transport(binary=True).as_json()["websocket"] == {
        "matching": {"kind": "order"},
        "binary": True,
    }
    members = Transport(matching=Matching("none"), streams=3).as_json()
    assert (members["websocket"]["matching"], members["streams"]) == ({"kind": "none"}, 3)
    assert "http" not in members
