"""A result put in order: what texts, tables, the view and the figures are made of."""
