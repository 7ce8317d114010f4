"""Writes the database of the service: python write_items.py FILE."""

from __future__ import annotations

import sqlite3
import sys

ITEMS = 20_000

with sqlite3.connect(sys.argv[1]) as database:
    database.execute("CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT, price INTEGER)")
    rows = ((number, f"item {number}", 100 + number % 900) for number in range(ITEMS))
    database.executemany("INSERT INTO items VALUES (?, ?, ?)", rows)
