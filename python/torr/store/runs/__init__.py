"""Store all runs with their results in SQLite or PostgreSQL.

    database_url ─ database (open, check, migrate) ─ store (register, find, read, tag, remove)
    registration: registers a run that has ended; a failure of the store does not fail the run

SQLAlchemy is imported only here, and only after the load.
"""
