"""The response to a plain request whose body is read as it comes.

Most streams are read by the lines of a chunked body: one generator yields them here, where requests
has three over urllib3's.

"""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING, Any, ClassVar

from requests import exceptions
from requests.models import ITER_CHUNK_SIZE
from urllib3.exceptions import ProtocolError, ReadTimeoutError

from torr.locust.adapter import ReactorPool
from torr.locust.answer import Fills, LocustResponse
from torr.locust.body import BodyFile
from torr.locust.body import ReactorResponse as RawResponse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torr.locust.plain import Sent


class Streamed(LocustResponse):
    """The response that Locust returns for a stream whose head was plain."""

    fills: ClassVar[Fills] = {}
    _content = False
    _content_consumed = False

    def iter_lines(
        self, chunk_size: Any = ITER_CHUNK_SIZE, decode_unicode: Any = False, delimiter: Any = None
    ) -> Any:
        """Yield the lines as they come, as requests does."""
        is_usual = not delimiter and type(chunk_size) is int
        if not is_usual or self._content_consumed or not self.raw.chunked:
            return super().iter_lines(chunk_size, decode_unicode, delimiter)
        return self._lines(chunk_size, self.encoding if decode_unicode else None)

    def _lines(self, size: int, encoding: str | None) -> Iterator[Any]:
        """Yield the lines of pieces of at most that size, with requests' errors."""
        decoder = codecs.getincrementaldecoder(encoding)("replace") if encoding else None
        partial: Any = None
        try:
            for piece in self.raw.stream(size, decode_content=True):
                text: Any = decoder.decode(piece) if decoder else piece
                if partial is not None:
                    text = partial + text
                lines = text.splitlines()
                partial = lines.pop() if lines and lines[-1][-1:] == text[-1:] else None
                yield from lines
        except ProtocolError as error:
            raise exceptions.ChunkedEncodingError(error) from error
        except ReadTimeoutError as error:
            raise exceptions.ConnectionError(error) from error
        self._content_consumed = True
        rest = decoder.decode(b"", final=True) if decoder else ""
        if rest:
            partial = (partial or "") + rest
        if partial is not None:
            yield from partial.splitlines()


def _raw(_response: LocustResponse, sent: Sent) -> RawResponse:
    pool = ReactorPool(sent.adapter, sent.origin.route)
    return RawResponse(BodyFile(sent.call, sent.adapter.pools.reactor), sent.method, pool)


Streamed.fills = {
    **LocustResponse.fills,
    "raw": _raw,
}
