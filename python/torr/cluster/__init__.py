"""Loads from several nodes, which Ray starts: one load, one result.

Ray starts an agent on each node; everything else is between torr and the agents. `launcher` is the
only module that imports Ray, in a process of its own; `agent` runs on the nodes, with no package
but torr's own; `cluster` is what the rest of torr uses.
"""
