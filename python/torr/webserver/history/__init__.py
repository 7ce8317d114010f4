"""Kept runs as pages: find, open, overlay two, the trend and the ledger of a name.

    app ─ routes ─ pages ─ session: the runs of a name, and the baseline beside them

Everything is read from the store when it is asked for; nothing is changed.
"""
