"""Readers of recorded requests to language models: lengths, times, sessions and shared prefixes."""
