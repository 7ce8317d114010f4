"""Functions under load in this process: timed, stressed by threads, watched for leaks, compared.

    subject ─ loops (all that stands between two looks at the clock) ─ round ─ trial of result.json
    overhead: what a look at the clock costs, taken off · machine: how fast this one is

A round is the replicate of every interval and verdict; an operation never is. Nothing is judged
against budgets or kept here.
"""
