"""A service over SQLite: GET /items/7 returns ten items, from the one with id 7 on.

    uvicorn items:app

DATABASE is the file, and POOL the number of connections to it. Each request takes a connection and
gives it back, as services with a database do.
"""

from __future__ import annotations

import os
import queue
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from fastapi import FastAPI

PAGE = 10

app = FastAPI(openapi_url=None)
pool: queue.SimpleQueue[sqlite3.Connection] = queue.SimpleQueue()


@app.get("/items/{first}")
def items(first: int) -> list[dict[str, object]]:
    """Return a page of items. FastAPI calls a plain function in a thread."""
    query = "SELECT id, name, price FROM items WHERE id >= ? ORDER BY id LIMIT ?"
    with connection() as opened:
        rows = opened.execute(query, (first, PAGE)).fetchall()
    return [{"id": row[0], "name": row[1], "price": row[2]} for row in rows]


@contextmanager
def connection() -> Iterator[sqlite3.Connection]:
    """Take a connection from the pool, and give it back."""
    opened = pool.get()
    try:
        yield opened
    finally:
        pool.put(opened)


for _ in range(int(os.environ.get("POOL", "4"))):
    address = f"file:{os.environ['DATABASE']}?mode=ro"
    pool.put(sqlite3.connect(address, uri=True, check_same_thread=False))
