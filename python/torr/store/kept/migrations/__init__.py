"""How a store becomes as schema.py has it: one file a revision, never changed once it was used."""
