"""Serve WebSocket with uvicorn and wsproto, and keep the counts in a file.

websocket_app.py PORT COUNTS
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from pathlib import Path

import uvicorn

messages: Counter[str] = Counter()
closes: Counter[str] = Counter()


async def app(scope, receive, send):
    """Answer each message with the same message, or refuse or close as the path says."""
    if scope["type"] != "websocket":
        return
    _, action, *words = scope["path"].split("/")
    await receive()
    if action == "refuse":
        await send({"type": "websocket.close", "code": 1008})
        return
    await send({"type": "websocket.accept"})
    while (event := await receive())["type"] == "websocket.receive":
        messages["all"] += 1
        if action == "close":
            await send({"type": "websocket.close", "code": int(words[0])})
            return
        kind = "text" if event.get("text") is not None else "bytes"
        await send({"type": "websocket.send", kind: event[kind]})
    closes[str(event["code"])] += 1


async def keep(path):
    """Write the counts ten times a second."""
    while True:
        counts = {"messages": messages["all"], "closes": closes}
        path.with_suffix(".new").write_text(json.dumps(counts))
        path.with_suffix(".new").replace(path)
        await asyncio.sleep(0.1)


async def main():
    port, path = int(sys.argv[1]), Path(sys.argv[2])
    config = uvicorn.Config(app, port=port, ws="wsproto", lifespan="off", log_level="error")
    server = uvicorn.Server(config)
    task = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    keeping = asyncio.create_task(keep(path))
    await task
    keeping.cancel()


asyncio.run(main())
