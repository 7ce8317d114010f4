"""The response to a plain request whose body is read while it arrives.

Most streams are read by the lines of a chunked body: here one generator yields them, while requests
has three over that of urllib3.

"""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING, Any, ClassVar

from requests import exceptions
from requests.models import ITER_CHUNK_SIZE
from urllib3.exceptions import ProtocolError, ReadTimeoutError

from torr.locust.adapter import ReactorPool
from torr.locust.body import BodyFile
from torr.locust.body import ReactorResponse as RawResponse
from torr.locust.response import LazyAttributes, LocustResponse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torr.locust.plain import SentRequest


class StreamedResponse(LocustResponse):
    """The response that Locust returns for a stream whose head was plain."""

    lazy_attributes: ClassVar[LazyAttributes] = {}
    _content = False
    _content_consumed = False

    def iter_lines(
        self, chunk_size: Any = ITER_CHUNK_SIZE, decode_unicode: Any = False, delimiter: Any = None
    ) -> Any:
        """Yield the lines while they arrive, as requests does."""
        is_supported = not delimiter and type(chunk_size) is int
        if not is_supported or self._content_consumed or not self.raw.chunked:
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


def _raw(_response: LocustResponse, sent: SentRequest) -> RawResponse:
    pool = ReactorPool(sent.adapter, sent.origin.route)
    return RawResponse(BodyFile(sent.call, sent.adapter.pools.reactor), sent.method, pool)


StreamedResponse.lazy_attributes = {
    **LocustResponse.lazy_attributes,
    "raw": _raw,
}
