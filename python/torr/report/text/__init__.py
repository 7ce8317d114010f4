"""Sentences about a result: the verdict, how far to trust it, and the clauses they share."""
