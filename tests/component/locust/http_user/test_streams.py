"""Bodies that are read piece by piece, by the user, after the request was reported."""

import shutil

import pytest

from answers import BIG, LINES, WORDS

CHUNKED = {"/chunked", "/gzip-in-chunks"}
TEXTS = ["/utf-8", "/latin-1", "/no-charset", "/chunked", "/until-close", "/slow-body", "/gzip"]


@pytest.mark.parametrize("path", [*TEXTS, "/json", "/empty", "/gzip-in-chunks"])
@pytest.mark.parametrize("size", [1, 512, None])
def test_the_pieces_are_the_body(outcome, path, size):
    def scenario(client):
        pieces = list(client.get(path, stream=True).iter_content(chunk_size=size))
        lengths = [len(piece) for piece in pieces]
        assert size is None or all(length <= size for length in lengths)
        # torr gives chunks that arrive together as one piece, stock Locust each by itself.
        return b"".join(pieces), client.get(path).content, None if path in CHUNKED else lengths

    body, whole, _ = outcome(scenario).value
    assert body == whole


@pytest.mark.parametrize("size", [1, 4, 512])
def test_pieces_have_the_size_that_was_asked_for(outcome, size):
    def scenario(client):
        return list(client.get("/utf-8", stream=True).iter_content(size))

    assert len(outcome(scenario).value[0]) == min(size, len("grün 緑".encode()))


@pytest.mark.parametrize("path", TEXTS)
@pytest.mark.parametrize("size", [1, 7, None])
def test_pieces_of_text(outcome, path, size):
    def scenario(client):
        answer = client.get(path, stream=True)
        pieces = list(answer.iter_content(chunk_size=size, decode_unicode=True))
        whole = client.get(path)
        if answer.encoding:
            return "".join(pieces), whole.text
        return b"".join(pieces), whole.content

    text, whole = outcome(scenario).value
    assert text == whole


@pytest.mark.parametrize("size", [1.5, "many"])
def test_a_size_that_is_none(outcome, size):
    seen = outcome(lambda client: list(client.get("/utf-8", stream=True).iter_content(size)))
    assert seen.raised["class"] == "builtins.TypeError"


def test_no_pieces_of_no_bytes(outcome):
    seen = outcome(lambda client: list(client.get("/utf-8", stream=True).iter_content(0)))
    assert seen.value == []


@pytest.mark.parametrize("decode", [True, False])
@pytest.mark.parametrize("size", [1, 3, 512])
def test_lines(outcome, decode, size):
    def scenario(client):
        answer = client.get("/lines", stream=True)
        return list(answer.iter_lines(chunk_size=size, decode_unicode=decode))

    lines = outcome(scenario).value
    text = [line if decode else line.decode() for line in lines]
    assert [line for line in text if line] == [line for line in LINES.splitlines() if line]


@pytest.mark.parametrize("delimiter", ["\n", "\n\n", "wo", "missing"])
@pytest.mark.parametrize("decode", [True, False])
def test_lines_with_a_delimiter(outcome, delimiter, decode):
    def scenario(client):
        answer = client.get("/lines", stream=True)
        mark = delimiter if decode else delimiter.encode()
        return list(answer.iter_lines(decode_unicode=decode, delimiter=mark))

    assert len(outcome(scenario).value) == len(LINES.split(delimiter))


@pytest.mark.parametrize("decode", [True, False])
def test_events_as_they_come(outcome, decode):
    def scenario(client):
        with client.get("/events", stream=True, catch_response=True) as answer:
            return [line for line in answer.iter_lines(decode_unicode=decode) if line]

    seen = outcome(scenario)
    assert len(seen.value) == 12
    assert seen.value[-1] in ("data: [DONE]", b"data: [DONE]")
    assert seen.event["response_length"] == 0


def test_an_event_is_read_before_the_next_one_is_there(outcome):
    def scenario(client):
        lines = client.get("/events", stream=True).iter_lines()
        first = [next(lines), next(lines)]
        return first, len(list(lines))

    first, _rest = outcome(scenario).value
    assert first == [b"event: message", 'data: {"n": 0, "text": "wört"}'.encode()]


def test_the_report_comes_before_the_body_is_read(outcome):
    def scenario(client):
        seen = []
        client.request_event.add_listener(lambda **given: seen.append(given["response_length"]))
        answer = client.get("/big", stream=True)
        before = list(seen)
        return before, len(answer.content)

    assert outcome(scenario).value == [[len(BIG)], len(BIG)]


@pytest.mark.parametrize("path", ["/gzip", "/chunked", "/utf-8", "/empty"])
def test_the_length_of_a_stream_is_what_its_head_says(outcome, path):
    def scenario(client):
        return client.get(path, stream=True).headers.get("Content-Length", 0)

    seen = outcome(scenario)
    assert seen.event["response_length"] == int(seen.value)


def test_a_stream_can_be_read_as_a_whole_after_all(outcome):
    def scenario(client):
        answer = client.get("/utf-8", stream=True)
        return answer.text, answer.content, list(answer.iter_content(2))

    assert outcome(scenario).value[0] == "grün 緑"


def test_a_stream_cannot_be_read_twice(outcome):
    def scenario(client):
        answer = client.get("/utf-8", stream=True)
        list(answer.iter_content(3))
        return answer.content

    assert outcome(scenario).raised["class"] == "builtins.RuntimeError"


def test_what_is_left_of_a_stream_when_one_goes_on(outcome):
    def scenario(client):
        answer = client.get("/big", stream=True)
        first = next(answer.iter_content(1000))
        return first, len(b"".join(answer.iter_content(None)))

    assert outcome(scenario).value == [BIG[:1000], len(BIG) - 1000]


def test_json_of_a_stream(outcome):
    assert outcome(lambda client: client.get("/json", stream=True).json()).value == {"a": [1, "ü"]}


READS = {
    "all": lambda raw: raw.read(),
    "some": lambda raw: (raw.read(4), raw.read(4)),
    "as it came": lambda raw: len(raw.read(decode_content=False)) > 0,
    "opened": lambda raw: raw.read(decode_content=True),
    "a stream": lambda raw: b"".join(raw.stream(7)),
    "a stream opened": lambda raw: b"".join(raw.stream(7, decode_content=True)),
    "data": lambda raw: raw.data,
    "lines": list,
    "one line": lambda raw: raw.readline(),
    "readable": lambda raw: (raw.readable(), raw.closed),
    "told": lambda raw: (raw.read(3), raw.tell()),
    "into": lambda raw: raw.readinto(bytearray(5)),
    "nothing": lambda raw: raw.read(0),
    "one": lambda raw: raw.read1(),
}


@pytest.mark.parametrize("path", ["/utf-8", "/gzip", "/chunked"])
@pytest.mark.parametrize("way", READS)
def test_the_raw_body(outcome, path, way):
    seen = outcome(lambda client: READS[way](client.get(path, stream=True).raw))
    assert seen.raised is None


def test_what_raw_tells_besides(outcome):
    def scenario(client):
        raw = client.get("/gzip", stream=True).raw
        return raw.status, raw.reason, raw.version, raw.headers["Content-Encoding"]

    assert outcome(scenario).value == [200, "OK", 11, "gzip"]


def test_a_file_may_be_made_of_raw(outcome, tmp_path):
    path = tmp_path / "down"

    def scenario(client):
        answer = client.get("/big", stream=True)
        with path.open("wb") as down:
            shutil.copyfileobj(answer.raw, down)
        return path.stat().st_size

    assert outcome(scenario).value == len(BIG)


def test_a_stream_that_was_read_gives_its_connection_back(outcome):
    def scenario(client):
        list(client.get("/chunked", stream=True).iter_content(None))
        client.get("/echo")

    assert [one["connection"] for one in outcome(scenario).wire] == [1, 1]


@pytest.mark.parametrize("path", ["/big", "/events", "/until-close"])
def test_a_stream_that_was_closed_unread_is_not_used_again(outcome, path):
    def scenario(client):
        client.get(path, stream=True).close()
        return client.get("/echo")

    seen = outcome(scenario)
    assert [one["connection"] for one in seen.wire] == [1, 2]
    assert seen.value["status"] == 200


def test_a_stream_that_is_held_unread_has_its_connection_to_itself(outcome):
    def scenario(client):
        held = client.get("/events", stream=True)
        other = client.get("/echo").status_code
        return other, len(list(held.iter_lines()))

    seen = outcome(scenario)
    assert [one["connection"] for one in seen.wire] == [1, 2]
    assert seen.value[0] == 200


def test_a_stream_that_was_read_in_part_is_not_used_again(outcome):
    def scenario(client):
        answer = client.get("/big", stream=True)
        next(answer.iter_content(10))
        answer.close()
        return client.get("/echo")

    assert [one["connection"] for one in outcome(scenario).wire] == [1, 2]


def test_leaving_the_block_of_a_stream_keeps_it_open(outcome):
    def scenario(client):
        with client.get("/utf-8", stream=True, catch_response=True) as answer:
            pass
        return answer.text

    assert outcome(scenario).value == "grün 緑"


def test_a_stream_without_a_body(outcome):
    def scenario(client):
        empty = client.get("/status/204", stream=True)
        pieces = list(empty.iter_content(5))
        client.get("/echo")
        return pieces, empty.status_code

    seen = outcome(scenario)
    assert seen.value[0] == []
    assert [one["connection"] for one in seen.wire] == [1, 1]


def test_streams_of_the_session(outcome):
    def scenario(client):
        client.stream = True
        answer = client.get("/gzip")
        return answer.raw.read(2), answer.content

    # Locust reads what it does not know to be a stream.
    assert outcome(scenario).value == [b"", WORDS]
