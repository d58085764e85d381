"""Where a value is, and what waits for it."""
