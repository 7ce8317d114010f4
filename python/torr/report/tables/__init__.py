"""Tables of a result as cells of text, which the page and the files share."""
