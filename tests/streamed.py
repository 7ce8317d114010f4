"""Levels whose answers are streams, as the engine writes them; their numbers fit histograms."""

import base64
import math
import random
import struct
import zlib

import numpy as np

import typed
from torr.results.base import builtins
from torr.results.level import Level

_SHARES = {"p50": 0.5, "p75": 0.75, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p99_9": 0.999}


def histogram(values_ns):
    """Return values as HdrHistogram V2 with three digits, compressed, base64."""
    values = np.array(values_ns, dtype=np.int64)
    # frexp returns how many bits a value has, exactly for values below 2^53.
    bucket = np.maximum(0, np.frexp(values)[1].astype(np.int64) - 11)
    places, counts = np.unique((bucket << 10) + (values >> bucket), return_counts=True)
    data, at = b"", 0
    for place, count in zip(places.tolist(), counts.tolist(), strict=True):
        data += (_leb128(-(place - at)) if place > at else b"") + _leb128(count)
        at = place + 1
    head = struct.pack(">iiiiqqd", 0x1C849313, len(data), 0, 3, 1, 3_600_000_000_000, 1.0)
    packed = zlib.compress(head + data)
    return base64.b64encode(struct.pack(">ii", 0x1C849314, len(packed)) + packed).decode()


def stats(values_ns):
    """Return the numbers of a time in milliseconds; percentiles where there are enough values."""
    ordered = sorted(values_ns)
    n = len(ordered)
    if not n:
        return None
    numbers = {"n": n, "mean": sum(ordered) / n / 1e6, "min": ordered[0] / 1e6}
    for stat, share in _SHARES.items():
        enough = n >= 10 / (1 - share) - 1e-6
        numbers[stat] = ordered[math.ceil(share * n - 1e-9) - 1] / 1e6 if enough else None
    return {**numbers, "p99_99": None, "max": ordered[-1] / 1e6}


def streaming(level, ttft_ms, *, texts=10, gap_ms=20, seed=7):
    """Return a level whose ok responses are streams, in the intervals in which they are."""
    level = builtins(level)
    dice = random.Random(seed)
    every = [_times_of(piece, dice, ttft_ms, texts, gap_ms) for piece in level["intervals"]]
    measured = [
        times_ns
        for times_ns, piece in zip(every, level["intervals"], strict=True)
        if piece["phase"] == "measure"
    ]
    whole = {name: [ns for times_ns in measured for ns in times_ns[name]] for name in every[0]}
    level["stream"] = _stream(whole, texts, level["seconds"])
    level["histograms"] = {name: histogram(values) for name, values in whole.items() if values}
    return typed.made(Level, level)


def calling(level, ttfe_ms, **more):
    """Return a level whose streams are calls of gRPC, which answer each message.

    The engine gives the messages all times of texts, too.
    """
    level = builtins(streaming(level, ttfe_ms, **more))
    untold = dict.fromkeys(("tokens_in", "tokens_out", "tokens_per_s", "tpot_ms"))
    for part in (level, *level["intervals"]):
        stream, histograms = part["stream"], part["histograms"]
        gaps = stream["inter_chunk_ms"]
        part["stream"] = {**stream, **untold, "ttfe_ms": stream["ttft_ms"]}
        part["stream"]["events"] = {"message": gaps["n"]} if gaps else {}
        part["latency"]["message_ms"] = gaps
        if gaps:
            part["histograms"] = {
                **histograms,
                "ttfe": histograms["ttft"],
                "message": histograms["inter_chunk"],
            }
    level["http"] = "2c"
    return typed.made(Level, level)


def _times_of(piece, dice, ttft_ms, texts, gap_ms):
    """Draw the times of the streams of one interval, write them into it and return them."""
    ok = piece["counts"]["ok"]
    times_ns = {
        "ttft": [int(ttft_ms * 1e6 * dice.lognormvariate(0, 0.4)) for _ in range(ok)],
        "inter_chunk": [
            int(gap_ms * 1e6 * dice.uniform(0.9, 1.1)) for _ in range(ok * (texts - 1))
        ],
    }
    times_ns["tpot"] = times_ns["inter_chunk"][:ok]
    times_ns["response"] = [int(ns + (texts - 1) * gap_ms * 1e6) for ns in times_ns["ttft"]]
    piece["stream"] = _stream(times_ns, texts, piece["seconds"])
    piece["histograms"] = {name: histogram(values) for name, values in times_ns.items() if values}
    piece["latency"]["response_ms"] = stats(times_ns["response"])
    return times_ns


def _stream(times_ns, texts, seconds):
    n = len(times_ns["ttft"])
    times = {f"{name}_ms": stats(values) for name, values in times_ns.items() if name != "response"}
    return {
        **times,
        "tokens_in": n,
        "tokens_out": n * texts if n else None,
        "tokens_per_s": n * texts / seconds if n else None,
        "goodput_rate": 97.5 if n else None,
        "goodput_missing": None,
        "inter_chunk_reliable": True,
    }


def _leb128(number):
    coded, data = (number << 1) ^ (number >> 63), b""
    while coded > 0x7F:
        data += bytes([coded & 0x7F | 0x80])
        coded >>= 7
    return data + bytes([coded])
