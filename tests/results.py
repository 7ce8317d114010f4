"""Results as the engine and the experiments write them, of a simulated server of known capacity."""

import math
import pickle
from functools import cache, wraps
from statistics import NormalDist

import msgspec

import typed
from streamed import calling, histogram, streaming
from torr.model.condition import Condition
from torr.stats.series import Series
from torr.verdicts import capacity
from torr.verdicts.diff import ratios

LEVELS = (10, 20, 50, 100, 200, 400, 800, 1600)


def made_once(make):
    """Return a copy at each call of what is made at the first one."""
    pickled = cache(lambda: pickle.dumps(make()))
    return wraps(make)(lambda: pickle.loads(pickled()))  # noqa: S301 - it was made here


def stats(mean, n=20_000, *, tail=2.2, **more):
    if n == 0:
        return None
    quantiles = {"p50": 0.9, "p75": 1.1, "p90": 1.5, "p95": tail, "p99": 1.6 * tail}
    far = {"p99_9": 2.4 * tail, "p99_99": None, "max": 4 * tail}
    values = {key: mean * factor for key, factor in quantiles.items()}
    values |= {key: None if f is None else mean * f for key, f in far.items()}
    base = {"n": n, "mean": mean, "stdev": mean / 3, "within_stdev_rate": 81.0, "min": mean / 4}
    return {**base, **values, **more}


def latency(mean, n):
    lag = 0.02
    return {
        "service_ms": stats(mean, n),
        "response_ms": stats(mean + lag, n),
        "ttfb_ms": stats(mean * 0.97, n),
        "queue_wait_ms": stats(0.01, n),
        "connect_ms": stats(0.3, n),
        "tls_ms": None,
        "scheduling_lag_ms": stats(lag, n),
    }


def histograms(mean_ms, n):
    """Times of `n` answers, two thousand at most: evenly drawn from a lognormal distribution."""
    return dict.fromkeys(("service", "response", "ttfb"), _times_of(mean_ms, n)) if n else {}


@cache
def _times_of(mean_ms, n):
    return histogram([int(0.9 * mean_ms * 1e6 * factor) for factor in _factors(min(n, 2000))])


@cache
def _factors(drawn):
    normal = NormalDist()
    return [math.exp(0.5 * normal.inv_cdf((at + 0.5) / drawn)) for at in range(drawn)]


def intervals(rate, mean, errors, count=10):
    made = []
    for second in range(-2, count):
        wave = 1 + 0.04 * math.sin(second * 1.7)
        n = int(rate * wave)
        made.append(
            {
                "t_s": float(second),
                "seconds": 1.0,
                "phase": "warmup" if second < 0 else "measure",
                "counts": {
                    "planned": n,
                    "attempted": n,
                    "ok": max(0, n - errors // count),
                    "dropped": 0,
                    "in_flight": 3,
                    "errors": {"timeout": errors // count} if errors else {},
                },
                "ok_per_s": rate * wave,
                "attempted_per_s": rate * wave,
                "latency": latency(mean / wave, n),
                "histograms": {"service": "HISTFAAAsecret"},
            }
        )
    return made


def level(users, rate, mean, *, seconds=10.0, errors=0, verdict="healthy", reasons=(), **more):
    ok = int(rate * seconds)
    share = 100 * ok / (ok + errors) if ok + errors else None
    made = {
        "candidate": None,
        "factors": {},
        "round": 1,
        "concurrency": users,
        "rate": None,
        "seconds": seconds,
        "counts": {
            "planned": ok + errors,
            "attempted": ok + errors,
            "ok": ok,
            "dropped": 0,
            "in_flight": 0,
            "errors": {"timeout": errors} if errors else {},
        },
        "reasons": {"timeout.first_byte": errors} if errors else {},
        "statuses": {"200": ok},
        "samples": [],
        "connections": {"requested": users, "open_max": users, "opened": users},
        "ok_per_s": rate,
        "attempted_per_s": rate + errors / seconds,
        "success_rate": share,
        "bytes_in": ok * 140,
        "bytes_out": ok * 90,
        "latency": latency(mean, ok),
        "latency_all": {"service_ms": stats(mean, ok), "response_ms": None, "censored": errors},
        "requests": [],
        "intervals": intervals(rate, mean, errors),
        "histograms": histograms(mean, ok),
        "warmup": {"seconds": 2.0, "counts": {}, "latency": {}},
        "health": {
            "verdict": verdict,
            "reasons": list(reasons),
            "worker_cpu_rate": [61.2],
            "run_queue_rate": [0.4],
            "steal_rate": 0.1,
            "target_cpu_rate": None,
        },
        "generator": {"cpu_s": 6.1, "cpu_us_per_request": 8.1, "workers": 1, "processes": 1},
        "monitor": {},
        "failure": None,
        "interrupted": False,
    }
    return typed.level(**{**made, **more})


def station(users, *, limit=120, delay_ms=5.0, **more):
    """`limit` requests at once, `delay_ms` each, and 1 % more work for each doubling past it."""
    at_once = min(users, limit)
    slower = 1 + 0.02 * max(0.0, math.log2(users / limit))
    rate = 0.97 * at_once / delay_ms * 1000 / slower / (1 + 0.2 * (users / limit) ** 4) ** 0.25
    return level(users, rate, users / rate * 1000, **more)


def result(kind, levels, slos=(), **more):
    conditions = [Condition.parse(slo) for slo in slos]
    made = {
        "schema": 2,
        "torr": "0.1.0",
        "kind": kind,
        "name": "apiserver",
        "started": "2026-01-31T12:00:00.000Z",
        "ended": "2026-01-31T12:02:00.000Z",
        "status": "complete",
        "command": ["torr", kind, "http://127.0.0.1:8080/healthz", "-H", "x: it's"],
        "plan": {"version": 1},
        "note": None,
        "tags": [],
        "environment": {"machine": {"cores": 2, "cpu": "Example"}, "kernel": "Linux 6.1"},
        "levels": levels,
        "capacity": capacity.analyse(levels, conditions) if kind == "ladder" else None,
        "verdicts": capacity.verdicts(levels, conditions),
    }
    return typed.result(**{**made, **more})


@made_once
def ladder():
    return result("ladder", [station(n) for n in LEVELS], ["p95 < 60ms", "success >= 99.9%"])


@made_once
def limited_ladder():
    levels = [station(n, verdict="contended", reasons=["run-queue wait 14 %"]) for n in LEVELS[:6]]
    text = "thread CPU 97 %: give it more cores with --workers"
    why = {"code": "health.saturated", "values": {}, "text": text}
    levels += [station(n, verdict="generator-limited", reasons=[why]) for n in LEVELS[6:]]
    return result("ladder", levels)


@made_once
def collapsing_ladder():
    levels = []
    for n in (200, 500, 1000, 3000, 5000, 10_000, 15_000, 20_000, 25_000, 50_000):
        rate = 47_812 / (1 + n / 40_000)
        broken = n >= 10_000
        errors = int(rate * 10 * (n / 60_000)) if broken else 0
        levels.append(level(n, rate, n / rate * 1000, errors=errors))
    return result("ladder", levels, ["p95 < 500ms"])


@made_once
def run():
    sample = {
        "class": "status",
        "reason": "status.503",
        "detail": "the response was not accepted",
        "t_s": 1.25,
        "status": 503,
        "head": "HTTP/1.1 503 Service Unavailable\r\nserver: <b>x</b>\r\n",
        "body": "<script>alert('owned')</script> & sorry",
    }
    made = typed.patched(
        level(50, 2150.0, 23.2, errors=40, samples=[sample]),
        counts={"errors": {"timeout": 30, "status": 10}},
        reasons={"timeout.first_byte": 30, "status.503": 10},
        statuses={"200": 21_500, "503": 10},
    )
    return result("run", [made])


@made_once
def streamed():
    """A run of ten streams a second: no interval has enough of them for a percentile."""
    made = streaming(
        level(20, 10.0, 480.0, seconds=60.0, intervals=intervals(10.0, 480.0, 0, 60)), 300
    )
    return result("run", [made], ["ttft p95 < 800ms"])


@made_once
def streamed_ladder():
    """Streams that queue from 20 users on; only 20 and 50 users had enough of them for a p95."""
    levels = [streaming(station(n, limit=20, delay_ms=500), 6 * n + 200) for n in LEVELS[:6]]
    return result("ladder", levels, ["ttft p95 < 900ms"])


CALL = {
    "name": "chat",
    "url": "http://127.0.0.1:8080/torr.Echo/Bidirectional",
    "grpc": {"response_stream": True},
}
CALLS = {"version": 1, "groups": [{"source": {"kind": "one", "request": CALL}}]}


@made_once
def called():
    """A run of calls of gRPC, whose streams are messages."""
    pieces = intervals(10.0, 480.0, 0, 60)
    made = calling(level(20, 10.0, 480.0, seconds=60.0, intervals=pieces), 300)
    return result("run", [made], ["ttfe p95 < 800ms"], plan=CALLS)


@made_once
def called_ladder():
    """A ladder of calls of gRPC."""
    levels = [calling(station(n, limit=20, delay_ms=500), 6 * n + 200) for n in LEVELS[:6]]
    return result("ladder", levels, ["message p95 < 50ms"], plan=CALLS)


@made_once
def ladder_of_ten_minutes():
    """Ten levels of a minute, with histograms as long as those of a wide distribution."""
    levels = [station(n) for n in (1, 2, 5, 10, 20, 50, 100, 200, 400, 800)]
    for at, level in enumerate(levels):
        pieces = intervals(level.ok_per_s, 5.0, 10, 60)
        pieces = [{**piece, "histograms": {"service": "x" * 5000}} for piece in pieces]
        levels[at] = typed.changed(level, intervals=pieces)
    return result("ladder", levels)


@made_once
def sides():
    """Two ladders, of which the second holds half as much."""
    slower = [station(n, limit=60, delay_ms=7.5) for n in (*LEVELS, 3200)]
    slower[-1] = typed.changed(slower[-1], success_rate=91.24)
    return (
        Series.of("bare", ladder().levels),
        Series.of("apiserver", slower),
    )


@made_once
def diffed():
    return msgspec.structs.replace(
        ratios(*sides()),
        started="2026-01-31T12:00:00.000Z",
        command=["torr", "diff", "bare.dat", "apiserver.dat"],
    )


@made_once
def streamed_diff():
    """A diff of two ladders of streams, of which the second begins its answers later."""
    later = [streaming(station(n, limit=20, delay_ms=600), 9 * n + 400) for n in LEVELS[:6]]
    return ratios(Series.of("before", streamed_ladder().levels), Series.of("after", later))


@made_once
def profiled():
    """A run with a profile behind it, and one that came to nothing."""
    taken = {
        "tool": "pprof",
        "concurrency": 50,
        "seconds": 10,
        "ok_per_s": 2000.0,
        "cost_rate": 7.0,
        "unit": "ns",
        "failure": None,
        "hint": None,
        "folded": "main;serve;log.Print 450\nmain;serve 100\nmain;gc 50\n",
    }
    failed = {**taken, "tool": "perf", "folded": None, "unit": None, "failure": "perf: no"}
    return typed.changed(run(), profiles=[taken, failed])
