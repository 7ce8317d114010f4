"""What the page is drawn from, as JSON."""
