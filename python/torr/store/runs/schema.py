"""The tables of the store, and the migrations of older databases.

    torr_schema   the revision of a database; the table identifies it as torr's
    runs          the columns for lists and searches, a row per run
    results       the whole result.json of each, compressed
    tags          the tags of each

Times are milliseconds since 1970 in UTC, which both databases order alike.
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
        # Of earlier runs, those that were not healthy have a lower bound.
        """UPDATE runs SET at_least = (health IN ('contended', 'generator-limited'))
        WHERE ok_per_s IS NOT NULL""",
    ),
    # Earlier runs keep their number of connections alone.
    "0003": ("ALTER TABLE runs ADD COLUMN rate FLOAT",),
}
"""The migrations to each revision from the one before; never changed after a release."""

HEAD = max(STEPS)
"""The revision of the tables below."""

metadata = MetaData()

# Named as by alembic, which created the databases of earlier versions.
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
    Column("rate", Float),
    # Ids are not reused after `rm`.
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
