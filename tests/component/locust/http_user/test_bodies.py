"""The bodies of requests."""

import io

import pytest

FORM = "application/x-www-form-urlencoded"
BODIES = {
    "a dict": ({"a": "1", "b": ["x", "y"], "c": None}, b"a=1&b=x&b=y", FORM),
    "pairs": ([("a", "1"), ("a", "2")], b"a=1&a=2", FORM),
    "a tuple of pairs": ((("a", "1"), ("b", "ü")), b"a=1&b=%C3%BC", FORM),
    "bytes": (b"\x00\xff", b"\x00\xff", None),
    "text": ("plain", b"plain", None),
    "umlauts": ("grün 緑", "grün 緑".encode(), None),
    "an empty dict": ({}, b"", None),
    "empty text": ("", b"", None),
    "empty bytes": (b"", b"", None),
    "none": (None, b"", None),
}


@pytest.mark.parametrize("given", BODIES)
def test_data_is_sent_as_what_it_is(outcome, given):
    data, body, kind = BODIES[given]
    seen = outcome(lambda client: client.post("/echo", data=data))
    assert seen.request["body"] == body
    assert dict(seen.request["headers"]).get("Content-Type") == kind


STREAMS = {
    "a file": lambda folder: (folder / "body").open("rb"),
    "a file of text": lambda folder: (folder / "body").open(),
    "bytes in memory": lambda _folder: io.BytesIO(b"the body"),
    "text in memory": lambda _folder: io.StringIO("the body"),
    "a list iterated": lambda _folder: iter([b"the ", b"body"]),
    "a generator": lambda _folder: (piece for piece in [b"the", b" ", b"body"]),
}


@pytest.mark.filterwarnings("ignore::requests.exceptions.FileModeWarning")
@pytest.mark.parametrize("given", STREAMS)
def test_what_can_be_read_is_streamed(outcome, given, tmp_path):
    (tmp_path / "body").write_text("the body")

    def scenario(client):
        stream = STREAMS[given](tmp_path)
        try:
            return client.post("/echo", data=stream)
        finally:
            if hasattr(stream, "close"):
                stream.close()

    seen = outcome(scenario)
    assert seen.request["body"] == b"the body"
    whole = "iterated" not in given and "generator" not in given
    assert (seen.request["chunks"] is None) == whole


def test_a_file_is_sent_from_where_it_stands(outcome):
    def scenario(client):
        stream = io.BytesIO(b"skipped, sent")
        stream.seek(9)
        return client.post("/echo", data=stream)

    assert outcome(scenario).request["body"] == b"sent"


def test_a_long_generator(outcome):
    seen = outcome(lambda client: client.post("/echo", data=(b"x" * 5_000 for _ in range(50))))
    assert len(seen.request["body"]) == 250_000


def test_a_generator_of_text(outcome):
    seen = outcome(lambda client: client.post("/echo", data=iter(["ü", "b"])))
    assert seen.request["body"] == "üb".encode()


def test_a_generator_that_fails(outcome):
    def failing():
        yield b"first"
        raise KeyError("no second")

    def scenario(client):
        with pytest.raises(KeyError, match="no second"):
            client.post("/echo", data=failing())
        return client.get("/echo")

    seen = outcome(scenario)
    assert seen.value["status"] == 200
    assert len(seen.events) == 1


def test_a_large_body(outcome):
    seen = outcome(lambda client: client.post("/status/200", data=b"x" * 3_000_000))
    assert len(seen.request["body"]) == 3_000_000


@pytest.mark.parametrize(
    "value", [{"a": [1, None, "ü"]}, [], {}, "text", 0, False, {"nested": {"b": 1.5}}]
)
def test_json_is_encoded_with_its_type(outcome, value):
    seen = outcome(lambda client: client.post("/echo", json=value))
    assert dict(seen.request["headers"]).get("Content-Type") == "application/json"


def test_json_of_none_is_no_body(outcome):
    seen = outcome(lambda client: client.post("/echo", json=None))
    assert seen.request["body"] == b""
    assert "Content-Type" not in dict(seen.request["headers"])


def test_data_wins_over_json(outcome):
    seen = outcome(lambda client: client.post("/echo", data={"a": 1}, json={"b": 2}))
    assert seen.request["body"] == b"a=1"


@pytest.mark.parametrize("value", [{1, 2}, float("nan"), object])
def test_json_that_cannot_be_is_reported_or_raised(outcome, value):
    seen = outcome(lambda client: client.post("/echo", json=value))
    assert seen.wire == []


def test_a_type_that_is_given_stays(outcome):
    kind = {"content-type": "application/vnd.api+json"}
    seen = outcome(lambda client: client.post("/echo", json={}, headers=kind))
    given = [value for name, value in seen.request["headers"] if name.lower() == "content-type"]
    assert given == ["application/vnd.api+json"]


def test_a_length_that_is_given(outcome):
    seen = outcome(lambda client: client.post("/echo", data=b"ab", headers={"Content-Length": "2"}))
    assert seen.request["body"] == b"ab"


FILES = {
    "bytes": {"one": b"content"},
    "text": {"one": "content"},
    "a name": {"one": ("name.txt", b"content")},
    "a type": {"one": ("name.txt", b"content", "text/x-odd")},
    "headers": {"one": ("name.txt", b"content", "text/plain", {"X-Part": "1"})},
    "pairs": [("one", ("a.txt", b"content")), ("one", ("b.txt", b"more"))],
    "umlauts": {"one": ("grün.txt", b"content")},
    "no name": {"one": (None, b"content")},
}


@pytest.mark.parametrize("given", FILES)
def test_files_are_the_parts_of_a_form(outcome, given):
    seen = outcome(lambda client: client.post("/status/200", files=FILES[given]))
    assert b"--BOUNDARY\r\n" in seen.request["body"]
    assert b"content\r\n" in seen.request["body"]


def test_files_beside_fields(outcome, tmp_path):
    path = tmp_path / "up.bin"
    path.write_bytes(b"\x00\x01")

    def scenario(client):
        with path.open("rb") as stream:
            return client.post(
                "/status/200", files={"up": stream}, data={"a": "1", "b": ["2", "3"]}
            )

    body = outcome(scenario).request["body"]
    assert b'filename="up.bin"' in body
    assert body.count(b'name="b"') == 2


def test_a_get_may_have_a_body(outcome):
    seen = outcome(lambda client: client.get("/echo", json={"query": "all"}))
    assert seen.request["body"] == b'{"query": "all"}'
