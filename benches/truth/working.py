"""An HTTP/1.1 server of one thread that works for each response: what it does more is known.

    python working.py PORT TURNS

It turns a loop so many times before each response. Requests have no body.
"""

from __future__ import annotations

import asyncio
import sys

_ANSWER = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 4\r\n\r\ndone"
_END = b"\r\n\r\n"


class Working(asyncio.Protocol):
    """A connection; `turns` is the work of each response."""

    turns = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begins with nothing kept."""
        self.transport = transport
        self.kept = b""

    def data_received(self, data: bytes) -> None:
        """Answers each whole request, all of a piece at once."""
        whole = self.kept + data
        asked = whole.count(_END)
        self.kept = whole[whole.rfind(_END) + len(_END) :] if asked else whole
        for _ in range(asked):
            for _turn in range(self.turns):
                pass
        if asked and isinstance(self.transport, asyncio.WriteTransport):
            self.transport.write(_ANSWER * asked)


async def main() -> None:
    """Serves until it is killed."""
    port, Working.turns = map(int, sys.argv[1:])
    server = await asyncio.get_running_loop().create_server(Working, "127.0.0.1", port)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
