"""The lines of a chunked body that arrives in any pieces are those of requests."""

import itertools

import pytest
import requests

from torr.locust.streamed import StreamedResponse

TEXT = "data: grün\r\n\r\ndata: 緑\n\n: é\x85\u2028\vend\f\r".encode()
BROKEN = b"\xe7\xb7 half a sign\n\xff\n\xe7\xb7"
ENCODINGS = [None, "utf-8", "latin-1", "utf-16-le", "shift_jis"]


class Raw:
    """A chunked body that comes in these pieces."""

    chunked = True

    def __init__(self, pieces):
        self.pieces = pieces

    def stream(self, size, **_decoded):
        for piece in self.pieces:
            for start in range(0, len(piece), size):
                yield piece[start : start + size]


def lines_of(kind, pieces, encoding, **asked):
    answer = kind.__new__(kind)
    answer.__dict__.update(_content=False, _content_consumed=False)
    answer.raw, answer.encoding = Raw(pieces), encoding
    lines = list(answer.iter_lines(decode_unicode=encoding is not None, **asked))
    return lines, answer._content_consumed


def assert_same(pieces, encoding, **asked):
    ours = lines_of(StreamedResponse, pieces, encoding, **asked)
    assert ours == lines_of(requests.Response, pieces, encoding, **asked)


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("body", [TEXT, BROKEN, b"", b"\n", b"one"])
def test_every_pair_of_cuts(body, encoding):
    for one, two in itertools.combinations_with_replacement(range(len(body) + 1), 2):
        pieces = [piece for piece in (body[:one], body[one:two], body[two:]) if piece]
        assert_same(pieces, encoding)


@pytest.mark.parametrize("size", [1, 2, 3, 7, True])
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_every_size_of_pieces(size, encoding):
    assert_same([TEXT, BROKEN], encoding, chunk_size=size)


@pytest.mark.parametrize("delimiter", ["\n\n", "a", "\r"])
def test_a_mark_in_the_place_of_ends_of_lines(delimiter):
    for cut in range(len(TEXT)):
        assert_same([TEXT[:cut], TEXT[cut:]], "utf-8", delimiter=delimiter)


def test_lines_of_an_encoding_that_nobody_knows():
    with pytest.raises(LookupError):
        lines_of(StreamedResponse, [TEXT], "no-such-thing")


@pytest.mark.parametrize("size", [1.5, "many", None])
def test_a_size_that_is_none(size):
    found = [lines_or_error(kind, size) for kind in (StreamedResponse, requests.Response)]
    assert found[0] == found[1]


def lines_or_error(kind, size):
    try:
        return lines_of(kind, [TEXT], "utf-8", chunk_size=size)
    except TypeError as error:
        return repr(error)


def test_a_plain_stream_is_answered_by_its_own_class(play):
    seen = play(lambda client: type(client.get("/events", stream=True)).__name__)
    assert seen.value == "StreamedResponse"
