"""Kept runs: what one command leaves on disk."""
