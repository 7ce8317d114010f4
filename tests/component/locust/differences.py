"""Compares two outcomes, with one line for each difference, as the message of a failed test."""

from __future__ import annotations

from dataclasses import asdict

WORDS = (".text", ".row")


def differences(stock, torr, label, *, in_words=True):
    """Return what differs; without `in_words`, messages of failures are not compared."""
    return [
        f"{place}: {short(one)} under stock, {short(other)} under {label}"
        for place, one, other in _between("", asdict(stock), asdict(torr))
        if in_words or not place.endswith(WORDS)
    ]


def _between(place, stock, torr):
    if isinstance(stock, dict) and isinstance(torr, dict):
        for key in [*stock, *(key for key in torr if key not in stock)]:
            yield from _between(f"{place}.{key}", stock.get(key), torr.get(key))
    elif isinstance(stock, list) and isinstance(torr, list) and len(stock) == len(torr):
        for n, (one, other) in enumerate(zip(stock, torr, strict=True)):
            yield from _between(f"{place}[{n}]", one, other)
    elif stock != torr:
        yield place, stock, torr


def short(value):
    text = repr(value)
    return text if len(text) <= 600 else f"{text[:400]} … {text[-200:]}"
