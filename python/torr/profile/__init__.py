"""Why it is slow: profiles of a target under load, each read into stacks with their weights.

    pprof (Go) ─┐
    folded text ┴─ stacks ─ top table, flame graph, and the difference of two

Nothing is fired here, and nothing drawn.
"""
