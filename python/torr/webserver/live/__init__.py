"""Serve a run in progress over HTTP: the live page, its events, and numbers for Prometheus."""
