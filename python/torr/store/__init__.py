"""Store runs: run directories, and the database of all runs."""
