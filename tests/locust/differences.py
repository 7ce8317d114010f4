"""Where two outcomes differ, one line each, so that a failed test says it without more."""

from __future__ import annotations

from dataclasses import asdict


def differences(stock, torr):
    return list(_between("", asdict(stock), asdict(torr)))


def _between(place, stock, torr):
    if isinstance(stock, dict) and isinstance(torr, dict):
        for key in [*stock, *(key for key in torr if key not in stock)]:
            yield from _between(f"{place}.{key}", stock.get(key), torr.get(key))
    elif isinstance(stock, list) and isinstance(torr, list) and len(stock) == len(torr):
        for n, (one, other) in enumerate(zip(stock, torr, strict=True)):
            yield from _between(f"{place}[{n}]", one, other)
    elif stock != torr:
        yield f"{place}: {short(stock)} under stock, {short(torr)} under torr"


def short(value):
    text = repr(value)
    return text if len(text) <= 600 else f"{text[:400]} … {text[-200:]}"
