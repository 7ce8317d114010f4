"""Typed values that users' texts become once: plans and their parts, conditions, labels."""
