"""A response as geventhttpclient returns it, read from a call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from geventhttpclient.header import Headers

from torr.locust.fast_failures import raise_failure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from torr.locust.reactor import Call, Reactor

BLOCK_BYTES = 4096


class FastBody:
    """Implements the part of HTTPSocketPoolResponse that responses use."""

    block_size = BLOCK_BYTES

    def __init__(
        self,
        call: Call,
        reactor: Reactor,
        method: str,
        sent: str,
        on_release: Callable[[], None] | None,
    ) -> None:
        self.call = call
        self.method = method
        self._reactor = reactor
        self._sent_request = sent
        self._on_release = on_release
        self._rest = b""
        self._has_raised = False
        self._index: Headers | None = None

    @property
    def _headers_index(self) -> Headers:
        if self._index is None:
            self._index = Headers()
            for name, value in self.call.head()[3]:
                self._index.add(name, value)
        return self._index

    @property
    def headers(self) -> Iterator[tuple[str, str]]:
        """Return names and values in the order of the head."""
        fields: Iterator[tuple[str, str]] = self._headers_index.items()
        return fields

    items = headers

    @property
    def status_code(self) -> int:
        """Return the status."""
        return self.call.status

    def get_code(self) -> int:
        """Return the status."""
        return self.call.status

    @property
    def status_message(self) -> str:
        """Return the reason phrase."""
        return self.call.head()[2]

    @property
    def version(self) -> str:
        """Return the protocol version."""
        return f"HTTP/1.{self.call.head()[0] - 10}"

    @property
    def content_length(self) -> int | None:
        """Return the length in the head."""
        length = self._headers_index.get("content-length")
        return int(length) if isinstance(length, str) else None

    length = content_length

    @property
    def message_complete(self) -> bool:
        """Return whether the whole response has been received."""
        return self.call.is_over

    def info(self) -> Headers:
        """Return the fields of the head."""
        return self._headers_index

    def get(self, key: str, default: Any = None) -> Any:
        """Return a field of the head."""
        value = self._headers_index.get(key)
        return default if value is None else value

    def __getitem__(self, key: str) -> Any:
        return self._headers_index[key]

    def __contains__(self, key: str) -> bool:
        return key in self._headers_index

    def read(self, length: int | None = None) -> bytearray | bytes:
        """Return that many bytes of the body, or all; fewer only at its end."""
        pieces, read = [self._rest], len(self._rest)
        self._rest = b""
        while length is None or read < length:
            piece = self._reactor.piece(self.call)
            if not piece:
                self._end(b"".join(pieces))
                break
            pieces.append(piece)
            read += len(piece)
        whole = b"".join(pieces)
        if length is not None and read > length:
            whole, self._rest = whole[:length], whole[length:]
        return whole

    def readline(self, sep: bytes = b"\r\n") -> bytes:
        """Return one line with its end; empty after the last one."""
        line = self._rest
        while sep not in line:
            piece = self._reactor.piece(self.call)
            if not piece:
                self._end(line)
                return b""
            line += piece
        head, end, self._rest = line.partition(sep)
        return head + end

    def __iter__(self) -> Iterator[bytes]:
        while piece := self.read(self.block_size):
            yield bytes(piece)

    def release(self) -> None:
        """Stop reading; a connection with unread bytes is closed."""
        if not self.call.is_over:
            self.call.cancel()
        on_release, self._on_release = self._on_release, None
        if on_release is not None:
            on_release()

    def __del__(self) -> None:
        self.release()

    def _end(self, rest: bytes) -> None:
        """Release the connection; if the body is incomplete, raise its error, but only once."""
        self.release()
        if self.call.failure is not None and not self._has_raised:
            self._rest, self._has_raised = rest, True
            raise_failure(self.call)
