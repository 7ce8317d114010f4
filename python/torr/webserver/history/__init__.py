"""Pages of stored runs: list, report, overlay of two, trend and ledger of a name.

    app ─ routes ─ pages ─ session: the runs of a name, and their baseline

Each request reads from the store; nothing is changed.
"""
