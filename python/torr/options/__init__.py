"""The options of commands and calls: each defined once, with its reader, its help and its type."""
