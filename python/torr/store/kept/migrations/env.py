"""What alembic runs: the revisions, over the connection that it was handed.

Whoever hands it over has begun a transaction and ends it; no address is read from a file here.
"""

from __future__ import annotations

from alembic import context

from torr.store.kept.schema import VERSION_TABLE, metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=VERSION_TABLE,
)
with context.begin_transaction():
    context.run_migrations()
