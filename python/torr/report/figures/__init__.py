"""Charts that are published as files, drawn by matplotlib."""
