"""Experiments: readable lists of steps that put a load on a target and keep what was measured."""
