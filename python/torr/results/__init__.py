"""The types of results, whose JSON is `result.json`.

    Result ─ Level ─ AttemptCounts, Latency ─ Statistics, Interval, Health, MonitorSeries, …
           ├ Capacity ─ Peak, Knee, SloCapacity, UslFit
           └ Verdict

Times in `*_ms` are milliseconds, shares in `*_rate` percent in 0–100, `*_per_s` per second.
The types are msgspec Structs: their import and each decoding take milliseconds, so the engine's
JSON has these types from its first line on. The JSON Schema in docs/reference is generated from
them.
"""
