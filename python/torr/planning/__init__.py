"""Builders of a plan from typed options: requests, pace, transport, groups, monitoring."""
