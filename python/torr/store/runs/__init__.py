"""Kept runs: every run that was measured, whole, in SQLite or PostgreSQL.

    place ─ database (opened, checked, migrated) ─ store (register, find, read, tag, remove)
    registering: a run that has ended, which never fails because of its store

SQLAlchemy is imported here and nowhere else, and only once the load is over. Nothing
is judged here, and nothing is drawn.
"""
