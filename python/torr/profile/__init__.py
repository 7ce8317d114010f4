"""Profile a target or function under load: stacks with weights, from several profilers.

py-spy, perf (folded text) ─┐
a Go server's pprof ────────┼─ stacks ─ top table, flame graph, and the difference of two
memray ─────────────────────┘
line-profiler ─ lines, with their counts and times
"""
