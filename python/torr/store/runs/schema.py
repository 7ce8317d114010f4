"""The tables of kept runs, and the steps that bring an older database to them.

    torr_schema   the revision of a database: the table that marks it as torr's
    runs          what is searched, listed and told apart, a row a run
    results       the whole result.json of each, compressed
    tags          the tags of each

Moments are milliseconds since 1970 in UTC, which both databases order alike.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
)

FIRST = "0001"
STEPS = {
    "0002": (
        "ALTER TABLE runs ADD COLUMN at_least BOOLEAN",
        # Of earlier runs all that were not wholly healthy say at least as much.
        """UPDATE runs SET at_least = (health IN ('contended', 'generator-limited'))
        WHERE ok_per_s IS NOT NULL""",
    ),
}
"""The statements that make each revision of the one before; never changed once they were used."""

HEAD = max(STEPS)
"""The revision that the tables below have."""

metadata = MetaData()

# As alembic names its parts, which made the databases of earlier versions.
versions = Table(
    "torr_schema",
    metadata,
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name="torr_schema_pkc"),
)

runs = Table(
    "runs",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("uid", String(32), nullable=False, unique=True),
    Column("name", Text, nullable=False, index=True),
    Column("kind", String(16), nullable=False),
    Column("status", String(16), nullable=False),
    Column("started_ms", BigInteger, nullable=False, index=True),
    Column("ended_ms", BigInteger),
    Column("git_commit", String(64)),
    Column("host", Text),
    Column("directory", Text),
    Column("note", Text),
    Column("concurrency", Integer),
    Column("rounds", Integer),
    Column("ok_per_s", Float),
    Column("p95_ms", Float),
    Column("success_rate", Float),
    Column("health", String(32)),
    Column("at_least", Boolean),
    # An id that was given once is never given again, not even after `rm`.
    sqlite_autoincrement=True,
)

results = Table(
    "results",
    metadata,
    Column("run_id", Integer, ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    Column("json_zlib", LargeBinary, nullable=False),
)

tags = Table(
    "tags",
    metadata,
    Column("run_id", Integer, ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    Column("tag", String(100), primary_key=True, index=True),
)
