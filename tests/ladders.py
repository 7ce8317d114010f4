"""Levels of a ladder whose peak, knee and collapse are known."""

from __future__ import annotations

ROWS = ((50, 900, 5.0), (100, 1900, 5.2), (200, 2150, 9.0), (400, 2160, 180.0), (800, 2100, 400.0))


def levels(make_level, *rows, **more):
    return [make_level(users, float(rate), mean, **more) for users, rate, mean in rows]
