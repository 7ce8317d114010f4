"""Whether a run's ok/s is a lower bound, so that lists can say it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add the column; of earlier runs all that were not wholly healthy say at least as much."""
    op.add_column("runs", sa.Column("at_least", sa.Boolean))
    runs = sa.table("runs", sa.column("at_least"), sa.column("health"), sa.column("ok_per_s"))
    was_limited = runs.c.health.in_(("contended", "generator-limited"))
    op.execute(runs.update().where(runs.c.ok_per_s.is_not(None)).values(at_least=was_limited))
