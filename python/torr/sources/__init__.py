"""Readers of users' files: requests, prompts, rows, times, plans, matrices; all before any load."""
