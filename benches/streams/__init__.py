"""Streams: how many events a core reads, and whether first texts are told right."""
