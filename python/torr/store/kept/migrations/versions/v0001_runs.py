"""Runs, their results and their tags."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def _of_run() -> sa.Column[int]:
    """The run that a row is of, and goes with."""
    run = sa.ForeignKey("runs.id", ondelete="CASCADE")
    return sa.Column("run_id", sa.Integer, run, primary_key=True)


def upgrade() -> None:
    """Make the three tables."""
    op.create_table(
        "runs",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("uid", sa.String(32), nullable=False, unique=True),
        sa.Column("name", sa.Text, nullable=False, index=True),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("started_ms", sa.BigInteger, nullable=False, index=True),
        sa.Column("ended_ms", sa.BigInteger),
        sa.Column("git_commit", sa.String(64)),
        sa.Column("host", sa.Text),
        sa.Column("directory", sa.Text),
        sa.Column("note", sa.Text),
        sa.Column("concurrency", sa.Integer),
        sa.Column("rounds", sa.Integer),
        sa.Column("ok_per_s", sa.Float),
        sa.Column("p95_ms", sa.Float),
        sa.Column("success_rate", sa.Float),
        sa.Column("health", sa.String(32)),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "results",
        _of_run(),
        sa.Column("json_zlib", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "tags",
        _of_run(),
        sa.Column("tag", sa.String(100), primary_key=True, index=True),
    )
