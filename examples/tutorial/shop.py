"""A shop with items and orders in SQLite. With SHOP_INDEX=1 its items have an index by category."""

import os
import sqlite3

from fastapi import FastAPI, HTTPException
from pydantic import BaseModel

ITEMS, CATEGORIES = 20_000, 500

app = FastAPI()
database = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
database.execute("CREATE TABLE items (id INTEGER PRIMARY KEY, category INTEGER, price INTEGER)")
database.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, item INTEGER, count INTEGER)")
rows = ((number, number % CATEGORIES, number * 7919 % 10_000) for number in range(ITEMS))
database.executemany("INSERT INTO items VALUES (?, ?, ?)", rows)
if os.environ.get("SHOP_INDEX") == "1":
    database.execute("CREATE INDEX by_category ON items (category, price)")


class Order(BaseModel):
    """An order of one or more pieces of an item."""

    item: int
    count: int = 1


@app.get("/items")
async def cheapest_items(category: int) -> list[dict[str, int]]:
    query = "SELECT id, price FROM items WHERE category = ? ORDER BY price LIMIT 10"
    return [{"id": number, "price": price} for number, price in database.execute(query, [category])]


@app.post("/orders", status_code=201)
async def place_order(order: Order) -> dict[str, int]:
    if database.execute("SELECT 1 FROM items WHERE id = ?", [order.item]).fetchone() is None:
        raise HTTPException(404, "no such item")
    query = "INSERT INTO orders (item, count) VALUES (?, ?) RETURNING id"
    return {"id": database.execute(query, [order.item, order.count]).fetchone()[0]}
