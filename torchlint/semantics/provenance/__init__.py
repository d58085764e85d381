"""Where values come from, as far as the file shows all of it: what makes them, on every path that leads to a place."""
