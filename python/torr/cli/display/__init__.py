"""Display results in the terminal, a module for each kind of result."""
