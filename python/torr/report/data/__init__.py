"""A result put in order, from which texts, tables, the view and the figures are made."""
