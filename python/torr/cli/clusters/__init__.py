"""`torr cluster`: start, check and end a Ray cluster on machines of one's own."""
