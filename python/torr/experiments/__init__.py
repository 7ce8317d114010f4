"""Experiments: the steps that put a load on a target and save its measurements."""
