"""Serve with the package websockets, which offers permessage-deflate, and count.

    server.py PORT [CERTIFICATE KEY]

It answers each message with the same message, and prints at its end how many it has answered, and
with which codes its clients have closed.
"""

from __future__ import annotations

import asyncio
import json
import signal
import ssl
import sys
from collections import Counter

from websockets.asyncio.server import serve
from websockets.exceptions import ConnectionClosed

messages: Counter[str] = Counter()
closes: Counter[int] = Counter()


async def answer(connection):
    try:
        async for message in connection:
            messages["all"] += 1
            await connection.send(message)
    except ConnectionClosed:
        pass
    await connection.wait_closed()
    closes[connection.close_code] += 1


async def main():
    port, *files = sys.argv[1:]
    context = None
    if files:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*files)
    end = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, end.set_result, None)
    async with serve(answer, "127.0.0.1", int(port), ssl=context, max_size=None):
        await end
        sys.stdout.write(json.dumps({"messages": messages["all"], "closes": closes}))


asyncio.run(main())
