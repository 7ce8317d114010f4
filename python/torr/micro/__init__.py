"""Measure functions in this process: time them, run them in threads, find leaks, compare them.

    subject ─ loops (what runs between two clock readings) ─ round ─ trial of result.json
    overhead: the cost of timing, which is subtracted · machine: the speed of this machine

The round, not the operation, is the replicate of intervals and verdicts. Budgets are judged and
results are stored elsewhere.
"""
