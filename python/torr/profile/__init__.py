"""Why it is slow: profiles of a target under load, each read into stacks with their weights.

    py-spy, perf (folded text) ─┐
    a Go server's pprof ────────┼─ stacks ─ top table, flame graph, and the difference of two
    memray ─────────────────────┘
    line-profiler ─ lines, with how often each ran

Nothing is fired here, and nothing drawn.
"""
