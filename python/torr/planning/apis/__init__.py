"""APIs of language models: a module for each, and the table that lists them."""
