"""The answer to a plain request whose body is read as it comes.

The lines of a chunked body are what most streams are read by: they take one generator here, where
requests has three over urllib3's.
"""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING, Any, ClassVar

from requests import exceptions
from requests.models import ITER_CHUNK_SIZE
from urllib3.exceptions import ProtocolError, ReadTimeoutError

from torr.locust.adapter import Way
from torr.locust.answer import Fills, LocustResponse
from torr.locust.body import BodyFile
from torr.locust.body import ReactorResponse as RawAnswer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torr.locust.plain import Sent


class Streamed(LocustResponse):
    """What Locust gives for a stream, made of a call whose head was plain."""

    fills: ClassVar[Fills] = {}

    def iter_lines(
        self, chunk_size: Any = ITER_CHUNK_SIZE, decode_unicode: Any = False, delimiter: Any = None
    ) -> Any:
        """The lines as they come; see requests'."""
        is_usual = not delimiter and type(chunk_size) is int
        if not is_usual or self._content_consumed or not self.raw.chunked:
            return super().iter_lines(chunk_size, decode_unicode, delimiter)
        return self._lines(chunk_size, self.encoding if decode_unicode else None)

    def _lines(self, size: int, encoding: str | None) -> Iterator[Any]:
        """The lines of pieces of at most that size, with requests' errors."""
        decoder = codecs.getincrementaldecoder(encoding)("replace") if encoding else None
        begun: Any = None
        try:
            for piece in self.raw.stream(size, decode_content=True):
                text: Any = decoder.decode(piece) if decoder else piece
                if begun is not None:
                    text = begun + text
                lines = text.splitlines()
                begun = lines.pop() if lines and lines[-1][-1:] == text[-1:] else None
                yield from lines
        except ProtocolError as error:
            raise exceptions.ChunkedEncodingError(error) from error
        except ReadTimeoutError as error:
            raise exceptions.ConnectionError(error) from error
        self._content_consumed = True
        rest = decoder.decode(b"", final=True) if decoder else ""
        if rest:
            begun = (begun or "") + rest
        if begun is not None:
            yield from begun.splitlines()


def _raw(_answer: LocustResponse, sent: Sent) -> RawAnswer:
    way = Way(sent.adapter, sent.origin.place)
    return RawAnswer(BodyFile(sent.call, sent.adapter.lanes.reactor), sent.method, way)


Streamed.fills = {
    **LocustResponse.fills,
    "_content": lambda _answer, _sent: False,
    "_content_consumed": lambda _answer, _sent: False,
    "raw": _raw,
}
