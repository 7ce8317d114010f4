"""A response as urllib3 returns it, from which requests reads body, cookies and encoding."""

from __future__ import annotations

import http.client
import io
from contextlib import contextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from urllib3 import HTTPResponse
from urllib3._collections import HTTPHeaderDict
from urllib3.exceptions import InvalidChunkLength

from torr.locust.exchanges import attach_call

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torr.locust.reactor import Call, Reactor


class BodyFile(io.RawIOBase):
    """The body of a call as a file; of a stream, the part that has been received."""

    def __init__(self, call: Call, reactor: Reactor) -> None:
        super().__init__()
        self.call = call
        self._reactor = reactor
        self.is_chunked = False
        # The length in the head.
        self.length: int | None = None
        self._rest = b""
        self._taken = 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def piece(self) -> bytes:
        """Return the next piece, empty at the end of the body."""
        if self.closed:
            return b""
        piece, self._rest = self._rest, b""
        if not piece:
            piece = self._reactor.piece(self.call)
            self._taken += len(piece)
        if not piece:
            self._end()
        return piece

    def read(self, amount: int | None = -1) -> bytes:
        """Return that many bytes, or all; fewer only at the end of the body."""
        if self.closed or amount == 0:
            return b""
        limit = None if amount is None or amount < 0 else amount
        pieces, length = [], 0
        while limit is None or length < limit:
            piece = self.piece()
            if not piece:
                break
            pieces.append(piece)
            length += len(piece)
        whole = b"".join(pieces)
        if limit is None and self.call.failure == "read.closed_in_body" and self.length:
            raise http.client.IncompleteRead(whole, self.length - self._taken)
        if limit is not None and length > limit:
            whole, self._rest = whole[:limit], whole[limit:]
        return whole

    def read1(self, amount: int | None = -1) -> bytes:
        """Return at most that many of the bytes that have been received."""
        piece = self.piece()
        if amount is not None and 0 <= amount < len(piece):
            piece, self._rest = piece[:amount], piece[amount:]
        return piece

    def close(self) -> None:
        """Stop reading; a connection with unread bytes is closed."""
        if not self.closed:
            self.call.cancel()
        super().close()

    def _end(self) -> None:
        """Close the body; if it is incomplete, raise the error."""
        super().close()
        failure = self.call.failure
        if failure is None:
            return
        kind = failure.partition(".")[0]
        if kind == "timeout":
            raise TimeoutError("timed out")
        if failure == "protocol.bad_chunk":
            raise chunk_error(self._taken)
        if "reset" in failure:
            raise ConnectionResetError(104, "Connection reset by peer")
        # urllib3 itself compares the body with Content-Length.
        if self.is_chunked:
            raise chunk_error(self._taken)


def chunk_error(received: int) -> InvalidChunkLength:
    """Return urllib3's error for a chunked body that ends after `received` bytes."""
    response: Any = SimpleNamespace(tell=lambda: received, length=None, length_remaining=None)
    return InvalidChunkLength(response, b"")


def original_response(fields: list[tuple[str, str]]) -> SimpleNamespace:
    """Return the part of http.client's response from which cookies are read."""
    message = http.client.HTTPMessage()
    for name, value in fields:
        message[name] = value
    return SimpleNamespace(msg=message, isclosed=lambda: True, close=lambda: None)


class ReactorResponse(HTTPResponse):
    """A response of the reactor."""

    def __init__(self, source: BodyFile, method: str, pool: Any) -> None:
        version, status, reason, fields = source.call.head()
        self.call = source.call
        self._source = source
        super().__init__(
            body=source,
            headers=HTTPHeaderDict(fields),
            status=status,
            version=version,
            reason=reason,
            preload_content=False,
            decode_content=False,
            original_response=original_response(fields),
            pool=pool,
            request_method=method,
        )
        source.is_chunked, source.length = self.chunked, self.length_remaining

    @contextmanager
    def _error_catcher(self) -> Iterator[None]:
        try:
            with super()._error_catcher():
                yield
        except Exception as error:
            attach_call(error, self.call)
            raise

    def read(self, *args: Any, **kwargs: Any) -> bytes:
        """Return the body, or that much of it, as urllib3 does."""
        try:
            whole: bytes = super().read(*args, **kwargs)
        except Exception as error:
            attach_call(error, self.call)
            raise
        return whole

    def stream(
        self, amt: int | None = 2**16, decode_content: bool | None = None
    ) -> Iterator[bytes]:
        """Yield the body: in pieces as received if it is chunked, else in pieces of size `amt`."""
        if not self.chunked:
            yield from super().stream(amt, decode_content)
            return
        self._init_decoder()
        is_compressed = self._decoder is not None
        with self._error_catcher():
            while piece := self._source.piece():
                if is_compressed:
                    piece = self._decode(piece, decode_content, flush_decoder=False)
                if amt is not None and len(piece) > amt:
                    yield from pieces_of(piece, amt)
                elif piece:
                    yield piece
            if decode_content and (rest := self._flush_decoder()):
                yield rest


def pieces_of(whole: bytes, amount: int) -> Iterator[bytes]:
    """Yield the bytes in pieces of at most that size."""
    for start in range(0, len(whole), amount):
        yield whole[start : start + amount]
